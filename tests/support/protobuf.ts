/**
 * A field of a protobuf message. `number` is the field's number. If the field holds a number, `value` is this number. If the field
 * holds bytes or a fixed 64-bit number, `bytes` are its bytes.
 */
export interface Field {
  number: number;
  bytes: Uint8Array;
  value: bigint;
}

const none = new Uint8Array();

/** Reads the fields of a message, in their order (protobuf wire types 0, 1, 2 and 5). */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    const wireType = tag & 7;
    if (wireType === 0) yield { number, bytes: none, value: varint() };
    else if (wireType === 1) {
      yield { number, bytes: message.subarray(at, at + 8), value: view.getBigUint64(at, true) };
      at += 8;
    } else if (wireType === 2) {
      const length = Number(varint());
      yield { number, bytes: message.subarray(at, at + length), value: 0n };
      at += length;
    } else if (wireType === 5) {
      yield { number, bytes: none, value: BigInt(view.getUint32(at, true)) };
      at += 4;
    } else throw new Error(`Fields of the wire type ${wireType} cannot be read.`);
  }
}

/** The bytes of all fields that have this number. */
export function fields(message: Uint8Array, number: number): Uint8Array[] {
  return [...fieldsOf(message)].filter((field) => field.number === number).map(({ bytes }) => bytes);
}
