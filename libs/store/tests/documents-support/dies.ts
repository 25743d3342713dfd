import { openDocuments } from '../../src/documents/open-documents.ts';
import { boxes, declared, putInto } from './shelf.ts';

// Puts things into a box, one after the other, until this process is killed. Prints how many things were acknowledged.
const documents = await openDocuments(JSON.parse(process.argv[2] ?? ''), declared);
for (let at = 0; ; ) {
  const read = (await documents.get(boxes, ['one'])).get('one');
  if (!read) throw new Error('The box is not there.');
  at = read.doc.things + 1;
  const [outcome] = await documents.change([putInto(read, at)]);
  if (outcome === 'made') process.stdout.write(`${at}\n`);
}
