import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  countConnections,
  countNotifications,
  getJwks,
  getRootCollection,
  type OperationSpec,
  signTestingJwt,
} from '@kith/contracts';
import { callerOf, callOperation, type OperationCall } from '@kith/testing';

const asUser = (): OperationCall => ({ projectId: randomUUID(), caller: callerOf(randomUUID(), 'user') });

/** The first request to each service. The service needs its store or its keys to answer. */
const questions: Readonly<Record<string, () => [OperationSpec, OperationCall]>> = {
  identity: () => [getJwks, {}],
  crypto: () => [signTestingJwt, { projectId, body: signingBody(projectId) }],
  connections: () => [countConnections, asUser()],
  collections: () => [getRootCollection, asUser()],
  notifications: () => [countNotifications, asUser()],
};
const projectId = randomUUID();
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The body of a request to sign a test token for a project. */
export function signingBody(project: string): object {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const payload = { id: randomUUID(), name: 'Person', role: 'user' };
  return { projectId: project, privateKey: Buffer.from(pem).toString('base64'), payload };
}

/**
 * Sends the first request to a service, on the bus. Throws if the answer is not the expected one. Sends nothing if `questions`
 * has no question for the service. In this case, the service counts as started when it has reported that it is ready.
 */
export async function askService(bus: Bus, name: string): Promise<void> {
  const [spec, call] = questions[name]?.() ?? [];
  if (!spec) return;
  const { status, text } = await callOperation(bus, spec, call);
  if (status !== spec.status) throw new Error(`${name} answers ${status}: ${text}`);
}

/** Sends a request to a gateway. The gateway has to ask identity before it can answer. */
export async function askGateway(url: string): Promise<void> {
  const answer = await fetch(`${url}${getJwks.path}`);
  if (!answer.ok) throw new Error(`The gateway answers ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}
