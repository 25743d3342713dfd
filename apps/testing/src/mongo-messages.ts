import { BSON, type Document } from 'mongodb';

/** A message between a driver and MongoDB in the wire protocol (OP_MSG). */
export interface MongoMessage {
  requestId: number;
  /** The id of the request that this message answers; 0 if the message is a request. */
  responseTo: number;
  /** The command, or its answer. */
  body: Document;
}

const headLength = 16;
const opMsg = 2013;

/** Puts messages together from the chunks that go over a connection in one direction. */
export function mongoMessages(each: (message: MongoMessage) => void): (chunk: Buffer) => void {
  let left: Buffer = Buffer.alloc(0);
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    while (left.length >= headLength && left.length >= left.readInt32LE(0)) {
      const message = left.subarray(0, left.readInt32LE(0));
      left = left.subarray(message.length);
      if (message.readInt32LE(12) !== opMsg) continue;
      // Four bytes of flags come first, and then one byte that announces the body.
      const from = headLength + 5;
      const body = BSON.deserialize(message.subarray(from, from + message.readInt32LE(from)));
      each({ requestId: message.readInt32LE(4), responseTo: message.readInt32LE(8), body });
    }
  };
}
