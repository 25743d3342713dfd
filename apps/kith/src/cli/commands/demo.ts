import { answering, caller, isNowhere } from '../../demo/api.ts';
import { type Command, type Given, textOf, UsageError } from '../command.ts';
import { folderOf } from '../data-folder.ts';
import { accessConfig, accessOptions, accessPlatform, addressOf } from '../platform-access.ts';

/** Makes the demo project on a running platform. */
export const demoCommand: Command = {
  name: 'demo',
  summary: 'make a demo project on a running platform, and print a request to paste',
  text: `Makes a project with two connected users and a collection. If the project exists already, the command signs in the two
users again. If a user cannot sign in any more, the command says why. start.json in the data folder (KITH_DATA) describes
the project.`,
  reads: accessConfig,
  options: {
    ...accessOptions,
    'public-url': {
      value: 'URL',
      text: 'address of PORT, if ADMIN_PORT is set and --url is the address of that port',
    },
  },
  async run(given, around) {
    const { url, token, own } = accessPlatform(given, around);
    const publicUrl = publicUrlOf(given) ?? own?.url ?? url;
    if (publicUrl !== own?.url) await refuseAdminPort(publicUrl);
    const { ensureDemo } = await import('../../demo/demo.ts');
    const { welcome } = await import('../../demo/welcome.ts');
    const { dataFolder } = await import('../../forms/data-folder.ts');
    const { makeFolder } = await import('../../forms/folder-lock.ts');
    const folder = dataFolder(folderOf(around.env));
    makeFolder(folder.path);
    const place = own?.form ?? new URL(url).host.replaceAll(/[^\w.-]/g, '-');
    const demo = await ensureDemo(folder, {
      ...{ url: publicUrl, adminUrl: url, operatorToken: token },
      stateName: `demo-${place}.json`,
    });
    const { operatorToken: _, ...start } = demo.start;
    return { value: { ...start, notices: demo.notices }, text: `${welcome(demo, folder)}\n` };
  },
};

function publicUrlOf(given: Given): string | undefined {
  const text = textOf(given, 'public-url');
  if (!accessConfig.shape.KITH_URL.safeParse(text).success)
    throw new UsageError('--public-url: an address is needed, http://host:8080.');
  return text && addressOf(text);
}

/** Throws if an address is that of ADMIN_PORT. A project that is made there would get no users. */
async function refuseAdminPort(url: string): Promise<void> {
  await answering(url, 30_000);
  await caller(url, { patienceMs: 30_000 })('GET', '/.well-known/jwks.json').catch((error: unknown) => {
    if (isNowhere(error)) throw error;
  });
}
