/** A gateway sends this header with a request. It contains the id of the folder of files that the gateway can read itself. */
export const folderHeader = 'kith-folder';
/** The header of an answer without bytes. It says where the gateway finds the bytes in its folder. */
export const storedHeader = 'Kith-Stored';

/** Bytes in a folder that gateway and service both read. Without a range, these are all bytes under the key. */
export interface StoredBytes {
  key: string;
  range?: { start: number; end: number } | undefined;
}

type Announced = StoredBytes & { length: number };

/** `StoredBytes` and the number of bytes, as the text of a header. */
export function storedText({ key, range, length }: Announced): string {
  return [key, length, ...(range ? [range.start, range.end] : [])].join(' ');
}

/** Reads what {@link storedText} has made. */
export function readStored(text: string): Announced {
  const [key = '', ...numbers] = text.split(' ');
  const [length = 0, start, end] = numbers.map(Number);
  return { key, length, ...(start !== undefined && end !== undefined && { range: { start, end } }) };
}
