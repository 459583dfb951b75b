/** Reads and writes documents as lines of an exported log, and checks them against their hashes. */
import { z } from 'zod';
import type { Sha256 } from '../kernel/sha256.js';

export interface Document {
  /** SHA-256 of the content, in hex. */
  hash: string;
  /** Canonical JSON. Null if the content was erased. */
  content: string | null;
}

/** Returns why the documents that an event names do not match it, or null. */
export function documentFault(
  recorded: Document | undefined,
  { hash, sha256 }: { hash: string; sha256: Sha256 },
): string | null {
  if (recorded === undefined) return explainMissing(hash);
  if (recorded.content === null || sha256(recorded.content) === hash) return null;
  return explainChanged(hash);
}

/** Describes a missing document as the end of a sentence. */
export const explainMissing = (hash: string): string => `its document ${hash} is missing`;
/** Describes a changed document as the end of a sentence. */
export const explainChanged = (hash: string): string => `its document ${hash} does not match its hash: it was changed`;

/** Writes a document as a line of an exported log. The line follows the event that names the document. */
export const documentLine = ({ hash, content }: Document): string => JSON.stringify({ document: hash, content });

/** Parses a line of an exported log. Null if the line is not a document. */
export function readDocumentLine(line: string): Document | null {
  if (!line.startsWith('{"document":')) return null;
  try {
    const parsed = LINE.safeParse(JSON.parse(line));
    return parsed.success ? { hash: parsed.data.document, content: parsed.data.content } : null;
  } catch {
    return null;
  }
}

const LINE = z.strictObject({ document: z.string().regex(/^[0-9a-f]{64}$/), content: z.string().nullable() });
