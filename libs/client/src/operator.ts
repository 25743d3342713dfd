import type { CallSettings, Tokens } from './call.ts';
import { type MethodGroups, operations } from './generated/operators.ts';
import { methodsOf } from './methods.ts';
import { type ConnectionOptions, connectionSettings } from './settings.ts';

export interface OperatorClientOptions extends ConnectionOptions {
  /** The platform's `OPERATOR_TOKEN`. Use it on a server, and never in a page. */
  token: string;
}

/** The API for the people who run the platform: all projects and their users. */
export type OperatorClient = MethodGroups;

/** Makes a client for the operations under `/admin`. */
export function createOperatorClient(options: OperatorClientOptions): OperatorClient {
  const tokens: Tokens = {
    token: async () => options.token,
    tokenInsteadOf: async () => undefined,
    noteRefusal: async () => {},
  };
  const settings: CallSettings = { ...connectionSettings(options), tokens };
  return methodsOf(settings, operations) as unknown as OperatorClient;
}

export { isKithError, KithError, KithNetworkError } from './errors.ts';
export type { List, Page } from './list.ts';
