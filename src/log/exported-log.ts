/* Reads and verifies an exported log line by line, without a database or Node.js. A browser runs the same code. */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { runToEnd } from '../kernel/resumable.js';
import type { Sha256 } from '../kernel/sha256.js';
import { type DisallowedChange, type PlanReplay, createPolicyReplay } from '../schema/change-requests/replay-policy.js';
import { documentsOf } from '../schema/change-requests/model.js';
import { createHashChain } from './event-hash.js';
import { type Document, documentFault, explainMissing, readDocumentLine } from './document-lines.js';
import type { LogHead } from './head.js';
import type { EventRecord } from './read.js';

/* Splits a stream into lines. */

/**
 * Yields lines without their line feeds. Only a line feed ends a line. node:readline is not used because it also breaks
 * at U+2028, which JSON text may contain. Text after the last line feed is a line too, unless it is empty. Invalid
 * UTF-8 becomes U+FFFD.
 */
export async function* readLines(
  stream: Readable | AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/* The schema of an event in an exported log. */

const text = z.string();
const optional = z.string().nullable();

export const RECORD = z.strictObject({
  position: z.int().positive(),
  id: z.uuid(),
  batch: z.uuid(),
  type: text,
  version: z.int().positive(),
  collection: optional,
  field: optional,
  data: z.record(z.string(), z.unknown()),
  actor: z.strictObject({ id: text, name: optional }),
  command: text,
  reason: optional,
  request_id: optional,
  ip: optional,
  user_agent: optional,
  salt: optional,
  commitment: text,
  context: z.record(z.string(), z.unknown()).optional(),
  subject: z.strictObject({ kind: text, id: text }).optional(),
  occurred_at: z.iso.datetime(),
  previous_hash: text,
  hash: text,
});

/* Verifies an exported log line by line without a database or Node.js. A browser runs the same code. */

export interface ExportedLog {
  ok: boolean;
  /** The last event that was verified. */
  head: LogHead;
  /** Number of verified events whose personal data was erased. */
  erased: number;
  /** The first event that failed verification. */
  broken?: Fault;
  /** Listed in the order of the log. At most 100 are returned. */
  disallowed: DisallowedChange[];
}

interface ExportOptions {
  sha256: Sha256;
  /** Created by `createPlanReplay`. A browser does not compare plans and passes null. */
  planOf: PlanReplay | null;
  /** Called with each verified event. */
  onEvent?: (event: EventRecord) => void;
}

/** Checks lines in the order of the file. After the first fault, it reads further lines only to describe that fault. */
export async function checkExportedLog(
  lines: AsyncIterable<string>,
  { sha256, planOf, onEvent = () => undefined }: ExportOptions,
): Promise<ExportedLog> {
  const chain = createHashChain(sha256);
  const policy = createPolicyReplay(planOf);
  const add = (event: EventRecord): string | null => {
    const reason = chain.add(event);
    if (reason !== null) return reason;
    awaited.after(event);
    runToEnd(policy.add(event));
    onEvent(event);
    return null;
  };
  const awaited = trackAwaitedDocuments(sha256);
  const faultAtEnd = (): Fault | undefined => chain.end() ?? awaited.fault();
  let fault: Fault | undefined;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const document = readDocumentLine(text);
    if (document !== null) {
      awaited.found(document);
      continue;
    }
    const expected = chain.head().position + 1;
    if (fault === undefined) {
      fault = faultOf(text, { line, expected, add });
      // After a gap, a later line may still contain the event.
      if (fault !== undefined && fault.reason !== MISSING) break;
    } else if (positionOf(text) === expected) {
      fault = { position: expected, reason: `it is out of order: in line ${line}, after later events` };
      break;
    }
  }
  const head = chain.head();
  fault ??= faultAtEnd();
  const erased = chain.erased();
  const disallowed = runToEnd(policy.end());
  if (fault === undefined) return { ok: disallowed.length === 0, head, erased, disallowed };
  return { ok: false, head, erased, broken: fault, disallowed };
}

/** Tracks the documents that events name. Each document must be on its own line after its event. */
function trackAwaitedDocuments(sha256: Sha256) {
  const awaited = new Map<string, number>();
  let damaged: Fault | undefined;
  return {
    after: (event: EventRecord): void => {
      for (const hash of documentsOf(event)) if (!awaited.has(hash)) awaited.set(hash, event.position);
    },
    found: (document: Document): void => {
      const reason = documentFault(document, { hash: document.hash, sha256 });
      const position = awaited.get(document.hash);
      if (reason !== null && position !== undefined) damaged ??= { position, reason };
      awaited.delete(document.hash);
    },
    fault: (): Fault | undefined => {
      const [first] = awaited;
      if (damaged !== undefined || first === undefined) return damaged;
      const [hash, position] = first;
      return { position, reason: explainMissing(hash) };
    },
  };
}

const MISSING = 'it is missing';

interface Fault {
  position: number;
  reason: string;
}

interface LineContext {
  /** Counted from 1. */
  line: number;
  /** The position that is expected next. */
  expected: number;
  add: (event: EventRecord) => string | null;
}

function faultOf(text: string, { line, expected, add }: LineContext): Fault | undefined {
  const event = readLine(text);
  if (event === null) {
    const reason = `line ${line} is not an event in the format of the service: it was changed or truncated`;
    return { position: expected, reason };
  }
  const { position } = event;
  if (position > expected) return { position: expected, reason: MISSING };
  if (position < expected) return { position, reason: `line ${line} contains it again` };
  const reason = add(event);
  return reason === null ? undefined : { position, reason };
}

/**
 * Parses a line. The service writes each event in exactly one form, so a line with the same meaning but different bytes
 * was changed.
 */
function readLine(text: string): EventRecord | null {
  try {
    const value = JSON.parse(text) as unknown;
    return JSON.stringify(value) === text && RECORD.safeParse(value).success ? (value as EventRecord) : null;
  } catch {
    return null;
  }
}

/** Returns the position of the event on a line, or undefined if it cannot be parsed. */
export function positionOf(text: string): number | undefined {
  const digits = /^\{"position":(\d{1,15}),/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
