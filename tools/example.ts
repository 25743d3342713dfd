// `npm run example`: starts the example application (examples/people). It runs on an embedded platform of its own with a few
// people. If KITH_URL and KITH_PROJECT name a running platform and one of its projects, it uses these instead.

import { createLogger, readConfig, wholeNumber } from '@kith/base';
import { createOperatorClient } from '@kith/client/operator';
import {
  goodbye,
  openDataFolder,
  operatorToken,
  platformConfig,
  serviceNames,
  startDefaults,
  startEmbedded,
} from '@kith/platform';
import { runProcess } from '@kith/service';
import { z } from 'zod';
import { readPort } from './example/options.ts';
import { ensurePeople, namedPeople } from './example/people.ts';
import { servePage } from './example/serve-page.ts';

const exampleConfig = z
  .object({
    KITH_URL: z.url({ error: 'the address of a platform is needed, http://host:8080' }).optional(),
    KITH_PROJECT: z.guid({ error: 'the id of a project is needed (UUID)' }).optional(),
    PORT: wholeNumber(0, 65_535).optional(),
  })
  .refine(({ KITH_URL, KITH_PROJECT }) => !KITH_URL === !KITH_PROJECT, {
    path: ['KITH_PROJECT'],
    error: 'KITH_URL and KITH_PROJECT go together: set both or neither',
  });

const words = readPort();

await runProcess('example', async (given) => {
  const env = { ...given, PORT: words ?? given.PORT };
  const { KITH_URL: url, KITH_PROJECT: projectId, PORT: port } = readConfig(exampleConfig, env);
  if (!url || !projectId) return onItsOwn(env, port);
  const page = await servePage({ url, projectId }, port);
  console.log(`
The example is up at ${page.url} and uses ${url}. Create an account there.

Links in mails of the project lead here after this command:
  npx kith projects update ${projectId} --mail-link-base '${page.url}/#/mail'

Ctrl-C ends it.
`);
  return { stop: page.stop };
});

async function onItsOwn(env: NodeJS.ProcessEnv, port: number | undefined) {
  const defaults = {
    ...startDefaults,
    LOG_LEVEL: 'warn',
    INTERNAL_PORT: '0',
    KITH_DATA: '.kith/example',
    // All people who try out the example on this machine have the same IP address, so they share its limits. So the limits are
    // ten times as high as usual.
    RATE_LIMIT_SCALE: '10',
  };
  const config = readConfig(platformConfig, { ...env, PORT: '0' }, defaults);
  const log = createLogger({ name: 'example', level: config.LOG_LEVEL });
  const folder = openDataFolder(config.KITH_DATA);
  const token = operatorToken(folder, config.OPERATOR_TOKEN);
  const platform = await startEmbedded({ config: { ...config, OPERATOR_TOKEN: token }, folder, log });
  try {
    const { url, internalUrls } = platform;
    const services = ['gateway', ...serviceNames].map((name) => [name, internalUrls[0] ?? '']);
    folder.announce({ form: 'embedded', url, services: Object.fromEntries(services) });
    const project = await ensurePeople(folder, { url, operatorToken: token });
    const { projectId, people, notices } = project;
    const page = await servePage({ url, projectId }, port);
    const operator = createOperatorClient({ url, token });
    await operator.projects.update({ projectId, mailLinkBase: `${page.url}/#/mail` });
    const signIns = namedPeople(project).map(({ email, password }) => `  ${email.padEnd(20)} ${password}`);
    console.log(`
The example is up at ${page.url}

Sign in, in two browsers:
${signIns.join('\n')}

(${people.length} people have accounts; all passwords are in ${folder.file('example.json')})
Mails, for example for forgotten passwords, are written to ${folder.file('mail')}
${notices.map((notice) => `\n${notice}\n`).join('')}`);
    console.log(goodbye(folder));
    const stop = async () => {
      await page.stop();
      await platform.stop();
    };
    return { log, stop };
  } catch (error) {
    await platform.stop();
    throw error;
  }
}
