import { type Message, repeatHeader } from '@kith/bus';

const before = Buffer.from(',"data":');
const pagination = Buffer.from(',"pagination":');

/**
 * Repeats the items of a list as `data` if the reply asks for this (spec#short-forms-lists). The reply has the form
 * `{"<key>":[…],"pagination":{…}}`. Its bytes are copied, because parsing a long list would block the event loop.
 */
export function repeatItems(reply: Message): Message {
  const key = reply.headers[repeatHeader];
  if (key === undefined) return reply;
  const body = Buffer.from(reply.body.buffer, reply.body.byteOffset, reply.body.byteLength);
  const start = Buffer.byteLength(`{${JSON.stringify(key)}:`);
  // The pagination comes last and contains no strings. So the last `"pagination"` in the bytes is the key of the pagination, no
  // matter what the items contain.
  const end = body.lastIndexOf(pagination);
  const [list, items, rest] = [body.subarray(0, end), body.subarray(start, end), body.subarray(end)];
  return { headers: reply.headers, body: Buffer.concat([list, before, items, rest]) };
}
