// `npm run demo`: makes the demo project at a platform that runs already (KITH_URL, OPERATOR_TOKEN), one started by
// docker-compose for instance, and prints the same three requests as a start.

import { readConfig, StartError } from '@kith/base';
import { ensureDemo, openDataFolder, welcome } from '@kith/platform';
import { z } from 'zod';

const config = z.object({
  KITH_URL: z.url({ error: 'the address of the gateway is needed, http://host:8080' }),
  OPERATOR_TOKEN: z.string({ error: "the operator's token is needed" }),
  KITH_DATA: z.string().default('.kith'),
});

try {
  const { KITH_URL, OPERATOR_TOKEN, KITH_DATA } = readConfig(config, process.env);
  const folder = openDataFolder(KITH_DATA);
  const { host, origin } = new URL(KITH_URL);
  const stateName = `demo-${host.replaceAll(/[^\w.-]/g, '-')}.json`;
  const start = await ensureDemo(folder, { url: origin, operatorToken: OPERATOR_TOKEN, stateName });
  console.log(welcome(start, folder));
  folder.release();
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
