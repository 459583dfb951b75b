/** A log as a file: one event a line, as GET /history/export writes it. */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { OperatorError } from '../kernel/operator-error.js';
import { type Document, documentFault, readDocumentLine } from './documents.js';
import { readLines } from './lines.js';
import type { EventRecord } from './read.js';

const text = z.string();
const optional = z.string().nullable();

/** An event as a line of an export holds it. */
export const RECORD = z.strictObject({
  position: z.int().positive(),
  id: z.uuid(),
  batch: z.uuid(),
  type: text,
  version: z.int().positive(),
  collection: optional,
  field: optional,
  data: z.record(z.string(), z.unknown()),
  actor: z.strictObject({ id: text, name: text }),
  command: text,
  reason: optional,
  request_id: optional,
  ip: optional,
  user_agent: optional,
  context: z.record(z.string(), z.unknown()).optional(),
  subject: z.strictObject({ kind: text, id: text }).optional(),
  occurred_at: z.iso.datetime(),
  previous_hash: text,
  hash: text,
});

const PAGE = 1_000;

/**
 * Events of an export in pages, in the order of the lines; the chain is not checked here.
 * @param onDocument told of the documents that events name, each before the page that ends behind it is given
 * @throws OperatorError naming the line that is none
 */
export async function* readNdjsonPages(
  stream: Readable,
  onDocument: (document: Document) => void = () => undefined,
): AsyncGenerator<EventRecord[], void, undefined> {
  let page: EventRecord[] = [];
  let number = 0;
  for await (const line of readLines(stream)) {
    number += 1;
    if (line.trim() === '') continue;
    const document = readDocumentLine(line);
    if (document !== null) {
      onDocument(requireWhole(document, number));
      continue;
    }
    page.push(readLine(line, number));
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function requireWhole(document: Document, number: number): Document {
  const fault = documentFault(document, document.hash);
  if (fault !== null) throw new OperatorError(`Line ${number} is damaged: ${fault}.`);
  return document;
}

function readLine(line: string, number: number): EventRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new OperatorError(`Line ${number} is not JSON: the file is damaged or cut off.`, { cause });
  }
  const parsed = RECORD.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new OperatorError(`Line ${number} is not an event: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`);
  }
  // What was read, not what zod copied: a copy would lose a member named __proto__.
  return value as EventRecord;
}
