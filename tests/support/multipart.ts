import { randomUUID } from 'node:crypto';

export { smallPng } from '@kith/testing/small-png';

/** A part of a form. A part with a file name is a file. */
export interface Part {
  name: string;
  value: string | Uint8Array;
  filename?: string;
  type?: string;
}

/** The bytes of a form, and its content type. The content type names the form's boundary (RFC 7578). */
export function multipart(
  parts: readonly Part[],
  boundary: string = randomUUID(),
): { type: string; body: Buffer } {
  const chunks = parts.flatMap(({ name, value, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n`;
    const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    return [Buffer.from(`${head}${typed}\r\n`), Buffer.from(value), Buffer.from('\r\n')];
  });
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

/** The part of a form that holds the uploaded file. */
export function filePart(value: string | Uint8Array, filename = 'file.bin'): Part {
  return { name: 'file', value, filename };
}
