// The service behind those gateways that forward requests over NATS. It answers each request with a page of connections for the
// user who sent the request. It also answers the requests that Kith's gateway sends to identity. It does nothing else, so that
// the figures show the gateways' own cost.
import {
  getJwks,
  getProjectSettings,
  getRevocations,
  internalSubject,
  listConnections,
  rpcSubject,
} from '@kith/contracts';
import { decodeContext } from '@kith/service';
import { connect, headers, type Msg } from '@nats-io/transport-node';
import { pageFor } from '../page.ts';

const {
  NATS_URL = '',
  SUBJECT = '',
  KITH_PREFIX = '',
  PAGE = '{}',
  JWK = '{}',
  WITHOUT_CONNECTIONS,
} = process.env;
const nc = await connect({ servers: NATS_URL, noAsyncTraces: true });
const page = pageFor(JSON.parse(PAGE));

const ok = headers();
ok.set('Kith-Status', '200');
ok.set('Content-Type', 'application/json');
const answered = { headers: ok };

function answer(subject: string, of: (message: Msg) => Uint8Array): void {
  nc.subscribe(subject, {
    queue: 'bench',
    callback: (error, message) => {
      if (!error) message.respond(of(message), answered);
    },
  });
}

const json = (value: unknown) => () => Buffer.from(JSON.stringify(value));
const byContext = (message: Msg) => {
  const context = decodeContext({ 'Kith-Context': message.headers?.get('Kith-Context') ?? '{}' });
  return page(context.caller?.userId ?? '');
};

answer(SUBJECT, (message) => page(message.headers?.get('User') ?? ''));
answer(`${SUBJECT}.json`, (message) => page(message.json<{ userId: string }>().userId));
if (!WITHOUT_CONNECTIONS) answer(rpcSubject(KITH_PREFIX, listConnections), byContext);
answer(rpcSubject(KITH_PREFIX, getJwks), json({ keys: [JSON.parse(JWK)] }));
answer(internalSubject(KITH_PREFIX, getRevocations), json({ sessions: [], suspended: [], next: null }));
answer(internalSubject(KITH_PREFIX, getProjectSettings), json({ projects: [], next: null }));
await nc.flush();
process.send?.({ type: 'ready' });
