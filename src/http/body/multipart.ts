/** Reads multipart/form-data with exactly one file. */
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { refused } from '../errors.js';

export interface UploadedFile {
  name: string;
  /** The media type in lower case. Empty if the part has none. */
  type: string;
  content: Buffer;
}

/** Reads the file. Rejects bodies without a file, with several files or other parts, and invalid multipart bodies. */
export async function readUpload(raw: Buffer, contentType: string): Promise<UploadedFile> {
  const { files, begun, fields } = await readParts(raw, contentType).catch((error: Error) => {
    throw refused('INVALID_PAYLOAD', `The body is not valid multipart/form-data: ${error.message}.`);
  });
  const [field] = fields;
  if (field !== undefined) {
    throw refused(
      'INVALID_PAYLOAD',
      `The form contains ${JSON.stringify(field)} in addition to a file. Send the file alone.`,
      {
        path: field,
      },
    );
  }
  if (begun > 1) throw refused('INVALID_PAYLOAD', 'The form contains more than one file. Send exactly one.');
  const [file] = files;
  if (file === undefined) throw refused('INVALID_PAYLOAD', 'The form contains no file. Send exactly one.');
  return file;
}

interface MultipartContent {
  files: UploadedFile[];
  begun: number;
  /** The names of parts that are not files. */
  fields: string[];
}

/** Only one part is accepted. A second part is also read, so that the error can contain its name. */
const LIMITS = {
  parts: 3,
  files: 2,
  fields: 2,
  fieldNameSize: 256,
  fieldSize: 1024,
  headerPairs: 20,
  headerSize: 8192,
};

/** Number of bytes that are parsed at once. They contain over a thousand parts in the worst case. */
const SLICE = 64 * 1024;

function readParts(raw: Buffer, contentType: string): Promise<MultipartContent> {
  return new Promise((resolve, reject) => {
    const parts: MultipartContent = { files: [], begun: 0, fields: [] };
    const parser = new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS });
    parser.on('file', (_part, stream, ...[filename, , mimeType]) => {
      const chunks: Buffer[] = [];
      parts.begun++;
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => {
        parts.files.push({ name: filename ?? '', type: mimeType.toLowerCase(), content: Buffer.concat(chunks) });
      });
    });
    parser.on('field', (name) => parts.fields.push(name));
    parser.on('error', (error) => reject(error instanceof Error ? error : new Error(String(error))));
    parser.on('finish', () => resolve(parts));
    const isRefused = () => parts.begun > 1 || parts.fields.length > 0;
    // After a rejection, the rest is not read, so the parser never finishes.
    feed(parser, raw, isRefused).then(() => {
      if (isRefused()) resolve(parts);
    }, reject);
  });
}

async function feed(parser: BusboyInstance, raw: Buffer, isRefused: () => boolean): Promise<void> {
  const slice = createTimeSlice();
  for (let at = 0; at < raw.length && !parser.destroyed; at += SLICE) {
    if (isRefused()) return;
    parser.write(raw.subarray(at, at + SLICE));
    if (slice.isOver()) await slice.yield();
  }
  parser.end();
}
