import type { IncomingMessage } from 'node:http';
import { ApiError } from '@kith/base';
import { maxFormBytes, type Upload } from '@kith/contracts';
import { freeChunk } from '@kith/service';
import busboy from 'busboy';
import { Blocks } from './blocks.ts';

/** The file of a form that is still coming in. */
export interface FormFile {
  /** The name that the client gave the file. If the client gave a path, this is only its last part. */
  name: string;
  /**
   * The bytes of the file. If something is wrong with the form, reading the bytes throws the error. The reader may use a chunk
   * until it asks for the next chunk.
   */
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * The parts of a form besides the file. If such a part is sent as a file, its value here is null. If a field of the contract
 * has the name of this part, the part is refused later, because no field of the contract may be null.
 */
export type FormFields = Record<string, string | null>;

/**
 * Reads a form as it comes in. When the file begins, passes it to `take`, with the fields that came before the file. When the
 * form is complete, resolves with all fields and with the result of `take`. The parts may come in any order, unless
 * `upload.fileLast` is set. Throws `request/invalid-multipart`, or an error with one of the codes in `upload`, or the error of
 * `take`. After an error, the rest of the form is not read.
 */
export async function readForm<T>(
  request: IncomingMessage,
  upload: Upload,
  take: (file: FormFile, before: FormFields) => Promise<T>,
): Promise<{ fields: FormFields; taken: T }> {
  const fields: FormFields = Object.create(null);
  let taking = undefined as Promise<T> | undefined;
  let bytes: Blocks | undefined;
  const parser = parserOf(request);
  const parsed = new Promise<void>((resolve, reject) => {
    let received = 0;
    /** How many bytes of the file have arrived so far. */
    let size = 0;
    /** The piece that is being parsed, and how many of its bytes have been copied. */
    let piece: Buffer | undefined;
    let copied = 0;
    /**
     * Whether the parser is inside the file, and has already passed on all bytes that it was given. If so, the next piece need
     * not go through the parser.
     */
    let isWithin = false;
    /** How many pieces the parser has not handled yet. */
    let unparsed = 0;
    let isRefused = false;
    const flow = () => {
      if (isRefused || bytes?.isFull || parser.writableLength > 0) request.pause();
      else request.resume();
    };
    const refuse = (error: unknown) => {
      isRefused = true;
      request.off('data', parse);
      request.pause();
      bytes?.fail(error);
      reject(error);
    };
    const parse = (read: Buffer) => {
      received += read.length;
      if (received > upload.maxBytes + maxFormBytes) return refuse(new ApiError(upload.tooLarge));
      if (isWithin && !mayEnd(read)) keep(read);
      else {
        piece = read;
        copied = 0;
        unparsed++;
        parser.write(read, () => {
          unparsed--;
          endParser();
        });
        // There are two cases in which fewer bytes were copied than the piece contains. Either the parser has not passed on all
        // bytes of the piece yet, or some of these bytes do not belong to the file.
        isWithin = copied === read.length;
      }
      if (isWithin) freeChunk(read);
      flow();
    };
    // `parser.end()` would wait for the end of each file. But if a file begins with a boundary, the parser may never end this file.
    // `destroy` reports such a file, and a form that is not complete, as errors.
    const endParser = () => {
      if (request.readableEnded && unparsed === 0) parser.destroy();
    };
    const keep = (some: Buffer) => {
      size += some.length;
      if (size > upload.maxBytes) refuse(new ApiError(upload.tooLarge));
      else bytes?.push(some);
    };
    parser.on('file', (field, stream, { filename }) => {
      // If the form ends early, the parser reports an error on the stream of its current file, even if nobody reads this file.
      // An error without a listener would end the process.
      stream.on('error', (error) => refuse(invalidForm(undefined, error)));
      // The parser goes on to the end of its piece. If the form is refused, no later piece comes, so a file would never end.
      if (isRefused) return void stream.resume();
      // If the file name is empty, the parser reports no name. Browsers send an empty name if the user has chosen no file.
      const isFile = field === upload.part && filename !== undefined;
      if (taking && isFile) return refuse(invalidForm('The form has the file twice.'));
      if (taking && upload.fileLast) return refuse(lateField());
      if (!isFile) {
        fields[field] = null;
        return void stream.resume();
      }
      const target = new Blocks(flow);
      bytes = target;
      stream.on('data', (some: Buffer) => {
        keep(some);
        if (some.buffer === piece?.buffer) copied += some.length;
      });
      stream.on('end', () => target.end());
      taking = take({ name: nameOf(filename), bytes: target }, { ...fields });
      // If the file is refused, the client gets the answer right away, and not at the end of the form.
      taking.catch(refuse);
    });
    parser.on('field', (name, value, { nameTruncated, valueTruncated }) => {
      if (nameTruncated || valueTruncated || Object.hasOwn(fields, name)) return refuse(invalidForm());
      if (upload.fileLast && taking) return refuse(lateField());
      fields[name] = value;
    });
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.on(limit, () => refuse(invalidForm('The form has too many parts.')));
    }
    parser.on('error', (error) => refuse(invalidForm(undefined, error)));
    parser.on('close', resolve);
    parser.on('drain', flow);
    request.on('data', parse);
    request.on('end', endParser);
    request.on('error', refuse);
    request.on('close', () => {
      if (!request.complete) refuse(invalidForm());
    });
  });
  try {
    await parsed;
  } catch (error) {
    // Waits until `take` has ended, so that no more bytes are stored after this function has thrown.
    await taking?.catch(() => undefined);
    throw error;
  }
  if (!taking) throw new ApiError(upload.missing);
  return { fields, taken: await taking };
}

function parserOf(request: IncomingMessage): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      highWaterMark: 64 * 1024,
      fileHwm: 64 * 1024,
      limits: { fieldNameSize: 100, fieldSize: 4 * 1024, fields: 20, files: 20, parts: 40, headerPairs: 20 },
    });
  } catch (error) {
    throw invalidForm(undefined, error);
  }
}

/** The beginning of a boundary line, with the line break before it. */
const delimiter = Buffer.from('\r\n--');

/**
 * Whether a piece may contain a boundary or the beginning of a boundary. Most pieces contain neither. Such pieces are not given
 * to the parser, because this check is faster than the parser's own search.
 */
function mayEnd(piece: Buffer): boolean {
  return piece.includes(delimiter) || piece.includes(delimiter[0] as number, 1 - delimiter.length);
}

function lateField(): ApiError {
  return invalidForm('The file must be the last part of the form.');
}

function invalidForm(message?: string, cause?: unknown): ApiError {
  return new ApiError('request/invalid-multipart', { ...(message && { message }), cause });
}

const longestName = 255;

/**
 * The file's name without the parts that are not safe to show: a path, control characters, and characters that change the
 * direction of text.
 */
function nameOf(filename: string): string {
  // In a file name, browsers send a quotation mark, a line feed and a carriage return as `%22`, `%0A` and `%0D` (WHATWG HTML,
  // multipart/form-data).
  const said = filename.replaceAll(/%(22|0A|0D)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const last = said.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = last.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim();
  return [...clean].slice(0, longestName).join('') || 'file';
}
