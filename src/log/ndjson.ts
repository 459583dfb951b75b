/** Reads a log from a file in the format of GET /history/export, with one event per line. */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { OperatorError } from '../kernel/problem.js';
import { sha256 } from '../kernel/sha256.js';
import { type Document, documentFault, readDocumentLine } from './document-lines.js';
import { readLines, RECORD } from './exported-log.js';
import type { EventRecord } from './read.js';

const PAGE = 1_000;

/**
 * Yields pages of events in the order of the lines. It does not verify the chain.
 * @param onDocument called for each document that an event names, before the page that contains the event is yielded
 * @throws OperatorError with the number of an invalid line
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
  const fault = documentFault(document, { hash: document.hash, sha256 });
  if (fault !== null) throw new OperatorError(`Line ${number} is damaged: ${fault}.`);
  return document;
}

function readLine(line: string, number: number): EventRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new OperatorError(`Line ${number} is not valid JSON: the file is damaged or truncated.`, { cause });
  }
  const parsed = RECORD.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] as z.core.$ZodIssue;
    throw new OperatorError(`Line ${number} is not an event: ${path.join('.')} ${message}.`);
  }
  // Returns the parsed value itself. The copy that zod creates would lose a member named __proto__.
  return value as EventRecord;
}
