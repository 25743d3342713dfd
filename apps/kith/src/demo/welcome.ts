import type { DataFolder } from '../forms/data-folder.ts';
import type { Demo } from './demo.ts';

/** The last line that a start in a terminal prints. */
export function goodbye(folder: DataFolder): string {
  return `Ctrl-C ends it; the data stays in ${folder.path}`;
}

/** The internal address of a platform. `taken` is the intended port, if that port was in use. */
export interface InternalAddress {
  url: string;
  taken?: number | undefined;
}

/**
 * The text that a start with a demo prints. It shows the addresses of the platform and of its reference, and where the tokens
 * are. It also shows a request to paste into a shell, and suggests next steps. Together with {@link goodbye} it has at most ten
 * lines, unless the demo has notices. The link to the reference contains the id of the demo's project, so that the page of the
 * reference can fill in this id.
 *
 * @param internal The internal address, if the platform is one process.
 */
export function welcome({ start, notices }: Demo, folder: DataFolder, internal?: InternalAddress): string {
  const user = start.users.find(({ accessToken }) => accessToken !== '');
  const connections = `${start.url}/v7/${start.projectId}/connections?page=1&limit=20`;
  const parts = [
    `Kith is up at ${start.url}
  reference  ${start.url}/docs?project=${start.projectId}${internal ? `\n  internal   ${internalLine(internal)}` : ''}
  tokens     ${folder.file('start.json')} (the operator's, and for 30 minutes those of the demo's users; npx kith demo makes new ones)`,
    notices.join('\n'),
    user &&
      `List the connections of ${user.email}:
curl -s '${connections}' -H 'Authorization: Bearer ${user.accessToken}'`,
    'Next: docs/walkthrough.md (the first afternoon), npm run example (an application), npx kith --help',
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** The text that a start in production prints. There is no demo, and a terminal must not show a token. */
export function productionNotice(url: string, folder: DataFolder, internal?: InternalAddress): string {
  const internally = internal ? `Internally: ${internalLine(internal)}\n` : '';
  return `\nKith is up at ${url} (production: no demo project; the operator's token is in ${folder.file('operator-token')})\n${internally}`;
}

/** The text that a start on a backup prints. Such a start makes no demo, because the backup holds somebody's data. */
export function copyNotice(url: string, folder: DataFolder, begunAt: string): string {
  return `
Kith is up at ${url}
This is a copy: the backup of ${begunAt} in ${folder.path}. It answers as the platform did; changes affect only this copy.
The operator's token of this copy is in ${folder.file('operator-token')}.
Run kith adopt --from ${folder.path} to make it a separate installation.
`;
}

function internalLine({ url, taken }: InternalAddress): string {
  return `${url} (/healthz, /readyz, /metrics)${taken === undefined ? '' : `; port ${taken} is taken, set INTERNAL_PORT to choose another`}`;
}
