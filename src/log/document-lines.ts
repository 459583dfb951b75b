/** Documents as lines of an exported log, and whether they are what their hashes say. */
import { z } from 'zod';
import type { Sha256 } from '../kernel/sha256.js';

export interface Document {
  /** sha256 of the content, hex. */
  hash: string;
  /** Canonical JSON; null: it was erased. */
  content: string | null;
}

/** Why the documents that an event names aren't what it says, or null. */
export function documentFault(
  found: Document | undefined,
  { hash, sha256 }: { hash: string; sha256: Sha256 },
): string | null {
  if (found === undefined) return missing(hash);
  if (found.content === null || sha256(found.content) === hash) return null;
  return changed(hash);
}

/** Why, so that a sentence can go on with it. */
export const missing = (hash: string): string => `its document ${hash} is missing`;
/** Why, so that a sentence can go on with it. */
export const changed = (hash: string): string => `its document ${hash} is not what its hash says: it was changed`;

/** A document as a line of an exported log: behind the event that names it. */
export const documentLine = ({ hash, content }: Document): string => JSON.stringify({ document: hash, content });

/** What a line of an exported log holds, if it is a document. */
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
