/**
 * Stores documents outside the log, under the hashes that events contain. The content of a document can be erased
 * without changing the log.
 */
import { type Hash, createHash } from 'node:crypto';
import { DOCUMENT_MEMBERS, documentsOf } from '../schema/change-requests/model.js';
import type { StoredEvent } from '../schema/model/events.js';
import { runYielding } from '../kernel/event-loop.js';
import type { Resumable } from '../kernel/resumable.js';
import { canonicalPieces, createCanonicalWriter } from '../kernel/canonical.js';
import type { Parameterised } from '../postgres/exchange.js';
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { type Document, explainChanged, documentLine, explainMissing } from './document-lines.js';

/**
 * Computes the hash of the canonical JSON of a value. Stores nothing; `keepDocuments` does. Yields to the event loop
 * during large values.
 */
export async function toDocument(value: object): Promise<Document & { content: string }> {
  const pieces = await runYielding(canonicalPieces(value, createCanonicalWriter()));
  const digest = createHash('sha256');
  await runYielding(hashPieces(pieces, digest));
  return { hash: digest.digest('hex'), content: pieces.join('') };
}

function* hashPieces(pieces: readonly string[], digest: Hash): Resumable<void> {
  for (const piece of pieces) {
    digest.update(piece);
    yield;
  }
}

const KEEP = `
  INSERT INTO ${own.documents} AS d (hash, content, erased_at) VALUES ($1, $2::text, CASE WHEN $2::text IS NULL THEN now() END)
  ON CONFLICT (hash) DO UPDATE SET content = excluded.content, erased_at = NULL
    WHERE d.content IS NULL AND excluded.content IS NOT NULL`;

/**
 * Stores documents in the transaction of the events that contain their hashes. Storing an erased document again
 * restores its content.
 */
export const keepDocuments = (documents: readonly Document[]): Parameterised[] =>
  documents.map(({ hash, content }) => ({ text: KEEP, values: [hash, content] }));

/** Returns the documents that exist. The content of erased ones is null. */
export async function readDocuments(db: Queryable, hashes: readonly string[]): Promise<Map<string, Document>> {
  if (hashes.length === 0) return new Map();
  const { rows } = await db.query<Document>(
    `SELECT hash, content FROM ${own.documents} WHERE hash = ANY ($1::text[])`,
    [hashes],
  );
  return new Map(rows.map((row) => [row.hash, row]));
}

/** Selects the documents that events name, by position. An erased document does not count as damaged. */
const DAMAGED = `
  SELECT e.position, n.hash, d.hash IS NULL AS missing
    FROM ${own.events} e
    CROSS JOIN LATERAL (VALUES ${DOCUMENT_MEMBERS.map((member) => `(e.data ->> '${member}'::text)`).join(', ')}) n (hash)
    LEFT JOIN ${own.documents} d ON d.hash = n.hash
   WHERE e.subject ->> 'kind'::text = 'change' AND n.hash IS NOT NULL AND e.position <= $1
     AND (d.hash IS NULL OR pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(d.content, 'UTF8')), 'hex') <> d.hash)
   ORDER BY e.position LIMIT 1`;

/** Returns the first event whose document does not match its hash. */
export async function findDamagedDocument(
  db: Queryable,
  upTo: number,
): Promise<{ position: number; reason: string } | null> {
  const { rows } = await db.query<{ position: number; hash: string; missing: boolean }>(DAMAGED, [upTo]);
  const [first] = rows;
  if (first === undefined) return null;
  return { position: first.position, reason: first.missing ? explainMissing(first.hash) : explainChanged(first.hash) };
}

/**
 * Returns the lines of an exported log: events, each followed by the documents that it names. Missing documents are
 * omitted.
 */
export async function readExportedLines(db: Queryable, events: readonly { text: string }[]): Promise<string[]> {
  const named = events.map(({ text }) => (MAY_NAME.test(text) ? documentsOf(JSON.parse(text) as StoredEvent) : []));
  const documents = await readDocuments(db, named.flat());
  return events.flatMap(({ text }, index) => {
    const recorded = (named[index] ?? []).flatMap((hash) => documents.get(hash) ?? []);
    return [text, ...recorded.map(documentLine)];
  });
}

/** A quick test of an event's text. Most events name no document and need not be parsed. */
const MAY_NAME = /"type":"change\./;

/** Collects documents. `take` returns all collected documents and starts again with none. */
export function gatherDocuments(): { add(document: Document): void; take(): Document[] } {
  let gathered: Document[] = [];
  return {
    add: (document) => void gathered.push(document),
    take: () => {
      const taken = gathered;
      gathered = [];
      return taken;
    },
  };
}
