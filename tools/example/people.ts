import { randomBytes } from 'node:crypto';
import { createClient, isKithError, type KithClient } from '@kith/client';
import { createOperatorClient, type OperatorClient } from '@kith/client/operator';
import { beginAnewNotice, type DataFolder, signInNotice } from '@kith/platform';

/** The stored record of the example's project. */
export interface ExampleProject {
  projectId: string;
  people: { email: string; password: string }[];
}

const people = [
  ['Ada', 'London', 'Writes the first program of every project.'],
  ['Grace', 'New York', 'Finds the bug, and tapes it into the book.'],
  ['Alan', 'Manchester', 'Asks machines good questions.'],
  ['Hedy', 'Vienna', 'Hops between frequencies before lunch.'],
  ['Edith', 'Sydney', 'Counts everything twice, to be sure.'],
  ['Tim', 'Geneva', 'Links things to other things.'],
] as const;
type Name = (typeof people)[number][0];

/**
 * Returns the project of an earlier start, or makes a new project with a few people. Some of these people are connected. If a
 * person of `namedPeople` can no longer sign in, `notices` says why.
 */
export async function ensurePeople(
  folder: DataFolder,
  { url, operatorToken }: { url: string; operatorToken: string },
): Promise<ExampleProject & { notices: string[] }> {
  const operator = createOperatorClient({ url, token: operatorToken });
  const earlier = folder.read('example.json');
  if (earlier) {
    const project: ExampleProject = JSON.parse(earlier);
    const notices = await noticesOf(project, { url, operator, folder });
    if (notices) return { ...project, notices };
  }
  const project = await make(url, operator);
  folder.write('example.json', `${JSON.stringify(project, null, 2)}\n`);
  return { ...project, notices: [] };
}

/** The people whose e-mail addresses and passwords a start prints. */
export function namedPeople({ people }: ExampleProject): ExampleProject['people'] {
  return people.slice(0, 2);
}

/** Says why some of the people of `namedPeople` cannot sign in. Returns `undefined` if the project is gone. */
async function noticesOf(
  project: ExampleProject,
  { url, operator, folder }: { url: string; operator: OperatorClient; folder: DataFolder },
): Promise<string[] | undefined> {
  const { projectId } = project;
  const kith = `KITH_DATA='${folder.path}' npx kith`;
  const notices: string[] = [];
  for (const { email, password } of namedPeople(project)) {
    try {
      const client = createClient({ url, projectId });
      await client.auth.signIn({ email, password });
      await client.auth.signOut();
    } catch (error) {
      if (isKithError(error, 'project/not-found')) return undefined;
      if (!isKithError(error) || error.status >= 500) throw error;
      const { items } = await operator.projects.listUsers({ projectId, query: email });
      const id = items[0]?.id ?? 'ID';
      notices.push(signInNotice({ projectId, id, email, code: error.code, sentence: error.message }, kith));
    }
  }
  return notices.length > 0 ? [...notices, beginAnewNotice(projectId, kith)] : [];
}

async function make(url: string, operator: OperatorClient): Promise<ExampleProject> {
  const { id: projectId } = await operator.projects.create({ name: 'People' });
  const made = new Map<Name, KithClient>();
  const accounts: ExampleProject['people'] = [];
  for (const [name, location, bio] of people) {
    const username = `${name.toLowerCase()}.demo`;
    const account = {
      email: `${name.toLowerCase()}@example.com`,
      password: randomBytes(9).toString('base64url'),
    };
    const kith = createClient({ url, projectId });
    await kith.auth.signUp({ ...account, name: `${name} Demo`, username, location, bio });
    made.set(name, kith);
    accounts.push(account);
  }
  await acquaint((name) => made.get(name) as KithClient);
  return { projectId, people: accounts };
}

/**
 * Connects some of the people, leaves one request to Ada open, and saves something for Ada. Ada and Grace are not connected yet.
 */
async function acquaint(clientOf: (name: Name) => KithClient): Promise<void> {
  const ask = (from: Name, to: Name, message: string) =>
    clientOf(from).connections.request({ userId: clientOf(to).session?.user.id ?? '', message });
  for (const [from, to] of [
    ['Ada', 'Alan'],
    ['Hedy', 'Ada'],
    ['Grace', 'Tim'],
  ] as const) {
    const { id: connectionId } = await ask(from, to, 'Shall we stay in touch?');
    await clientOf(to).connections.accept({ connectionId });
  }
  await ask('Edith', 'Ada', 'We met at the workshop in May. I would like to hear more of it.');
  const { collections } = clientOf('Ada');
  const { id: root } = await collections.getRoot();
  const mentors = await collections.createSubCollection({ collectionId: root, collectionName: 'Mentors' });
  await collections.createSubCollection({ collectionId: root, collectionName: 'Reading group' });
  const entityId = clientOf('Alan').session?.user.id ?? '';
  await collections.addEntity({ collectionId: mentors.id, entityId, metadata: { kind: 'person' } });
}
