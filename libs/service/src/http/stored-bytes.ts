/** The header of a request by which a gateway says which folder of files it can read itself: the folder's id. */
export const folderHeader = 'kith-folder';
/** The header of an answer without bytes. It says where the gateway finds the bytes in its folder. */
export const storedHeader = 'Kith-Stored';

/** Bytes in a folder that gateway and service both read: a key, and the range of the bytes if it is not all of them. */
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
