import type { Outgoing } from './build-request.ts';
import { type CallSettings, call, callBy } from './call.ts';
import { type Answer, type ExchangeOptions, open } from './exchange.ts';
import { List, type Page, pageOf } from './list.ts';
import type { Input, Operation, OperationTable, WriteOptions } from './operation.ts';
import { upload } from './upload.ts';
import type { UploadOptions } from './upload-options.ts';

/** Opens a download. The caller reads the bytes as they come. */
const openBytes = (request: Outgoing, options: ExchangeOptions) =>
  open({ ...request, headers: { accept: '*/*' } }, { ...options, isReadOn: true });

/** Makes the methods that a table of operations describes. The result has the form `{ group: { method(input, options) } }`. */
export function methodsOf(
  settings: CallSettings,
  table: OperationTable,
  onSession?: (answer: Answer) => Promise<unknown>,
): Record<string, Record<string, unknown>> {
  const methodOf = (operation: Operation) => {
    const run = (input: Input | undefined, options: WriteOptions | undefined) => {
      const { list, startsSession, givesBytes } = operation;
      if (operation.upload) return upload(settings, operation, input, options as UploadOptions);
      if (givesBytes) return callBy(openBytes, settings, operation, input, options);
      if (list !== undefined) {
        return new List(async ({ cursor, limit }): Promise<Page<unknown>> => {
          const at = { ...(limit && { limit }), ...input, ...(cursor !== undefined && { cursor }) };
          return pageOf(await call(settings, operation, at, options), list);
        });
      }
      const answer = call(settings, operation, input, options);
      return answer.then(startsSession && onSession ? onSession : ({ body }) => body);
    };
    return operation.takesInput ? run : (options?: WriteOptions) => run(undefined, options);
  };
  return Object.fromEntries(
    Object.entries(table).map(([group, operations]) => [
      group,
      Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, methodOf(operation)])),
    ]),
  );
}
