import type { DataFolder } from '../data-folder.ts';
import type { StartFile } from './demo.ts';

/** The last line of a start that ends with its terminal. */
export function goodbye(folder: DataFolder): string {
  return `Ctrl-C ends it; the data stays in ${folder.path}\n`;
}

/** Tells where the platform and its reference are, and the three requests to paste. */
export function welcome(start: StartFile, folder: DataFolder): string {
  const [user] = start.users;
  const scope = `${start.url}/v7/${start.projectId}`;
  const authorization = `-H 'Authorization: Bearer ${user?.accessToken}'`;
  const json = "-H 'Content-Type: application/json'";
  return `
Kith is up at ${start.url}

  reference ${start.url}/docs
  project   ${start.projectId}
  token     ${user?.accessToken}
            (of ${user?.email}, for 30 minutes; all of it is in ${folder.file('start.json')})

Sign a test token:
curl -s -X POST ${scope}/crypto/sign-testing-jwt ${json} -d @'${folder.file('sign-request.json')}'

Rename a collection:
curl -s -X PATCH ${scope}/collections/${start.collectionId} ${authorization} ${json} -d '{"name":"Books to read"}'

List connections:
curl -s '${scope}/connections?page=1&limit=20' ${authorization}
`;
}

/** What a start in production prints: no demo there, and no token on a terminal. */
export function productionNotice(url: string, folder: DataFolder): string {
  return `\nKith is up at ${url}, its reference at ${url}/docs (production: no demo project; the operator's token is in ${folder.file('operator-token')})\n`;
}
