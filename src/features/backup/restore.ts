/** Restores a backup into an empty database. A replay creates the log and the tables, which are then filled. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Document } from '../../log/document-lines.js';
import { gatherDocuments } from '../../log/documents.js';
import { readLines } from '../../log/exported-log.js';
import { readNdjsonPages } from '../../log/ndjson.js';
import type { EventRecord } from '../../log/read.js';
import { OperatorError } from '../../kernel/problem.js';
import { type OpenedBackup, SEQUENCE, type Section } from './format.js';
import { type State, schemasOf } from '../../schema/model/state.js';
import {
  type LocatedTables,
  type TableRows,
  sequenceNames,
  sequenceText,
  tablesOf,
  tablesWithRows,
  COPY_SETTINGS,
  copyIn,
} from './contents.js';
import { type Sql, sql } from '../../projector/ddl/sql.js';

/* Handle foreign keys and unvalidated constraints. Rows that are restored table by table can violate them, so they
   are dropped first and recreated unchanged. */

interface DroppedDefinition {
  table: string;
  name: string;
  definition: string;
  comment: string | null;
}

/**
 * Finds the constraints to drop. Those of partitions are excluded, because PostgreSQL drops and creates them with those
 * of the parent.
 */
const RELEASED: Sql = sql`
SELECT c.conrelid::regclass::text AS table, c.conname::text AS name, pg_catalog.pg_get_constraintdef(c.oid) AS definition,
       pg_catalog.obj_description(c.oid, 'pg_constraint') AS comment
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_class r ON r.oid = c.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
WHERE n.nspname = ANY ($1) AND c.conparentid = 0::oid AND c.coninhcount = 0
  AND (c.contype = 'f' OR NOT c.convalidated)
ORDER BY n.nspname COLLATE "C", r.relname COLLATE "C", c.conname COLLATE "C"`;

/**
 * Drops these constraints.
 * @returns the statements that recreate them. PostgreSQL then reads the rows once per foreign key
 */
async function releaseConstraints(
  client: pg.ClientBase,
  { schema, state }: LocatedTables,
): Promise<{ restore(): Promise<void> }> {
  const { rows } = await client.query<DroppedDefinition>(RELEASED, [schemasOf(state, schema)]);
  for (const { table, name } of rows) {
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${pg.escapeIdentifier(name)}`);
  }
  return {
    restore: async () => {
      for (const each of rows) await restore(client, each);
    },
  };
}

async function restore(client: pg.ClientBase, { table, name, definition, comment }: DroppedDefinition): Promise<void> {
  const constraint = pg.escapeIdentifier(name);
  await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${definition}`);
  if (comment === null) return;
  await client.query(`COMMENT ON CONSTRAINT ${constraint} ON ${table} IS ${pg.escapeLiteral(comment)}`);
}

type Sections = ReturnType<OpenedBackup['sections']>;

/** The two steps of a restore. The second one must begin after the first has ended. */
export interface RestoredBackup {
  /** The events of the log, for a replay. */
  pages: AsyncIterable<EventRecord[]>;
  /** Returns the documents that were read with the log so far, each once. */
  documents: () => Document[];
  /** Writes rows, accounts and sequences into the tables of the replay. */
  fill(client: pg.ClientBase, schema: string, state: State): Promise<void>;
}

/**
 * Prepares the two steps without reading. The file is read only once, so read `pages` to the end, then call `fill`,
 * once each.
 * @throws OperatorError from `pages`, `fill` or both if the backup is damaged or has other sections
 */
export function restoreFrom(backup: OpenedBackup): RestoredBackup {
  const sections = backup.sections();
  const documents = gatherDocuments();
  return {
    pages: eventPages(sections, documents.add),
    documents: documents.take,
    fill: (client, schema, state) => fill(client, { schema, state, sections }),
  };
}

async function* eventPages(
  sections: Sections,
  onDocument: (document: Document) => void,
): AsyncGenerator<EventRecord[], void, undefined> {
  const { value } = await sections.next();
  if (!value || value.section.section !== 'events') throw new OperatorError('The backup does not begin with the log.');
  yield* readNdjsonPages(Readable.from(value.content, { objectMode: false }), onDocument);
}

interface RestoreContent {
  schema: string;
  state: State;
  sections: Sections;
}

async function fill(client: pg.ClientBase, { schema, state, sections }: RestoreContent): Promise<void> {
  const located = { schema, state };
  const constraints = await releaseConstraints(client, located);
  const missing = new Map((await tablesWithRows(client, located, tablesOf(state))).map((each) => [each.table, each]));
  for await (const { section, content } of sections) {
    if (section.section === 'rows') claimExpectedTable(missing, section);
    await fillSection(client, located, { section, content });
  }
  const [first] = missing.keys();
  if (first !== undefined)
    throw new OperatorError(`The backup does not contain the rows of table ${JSON.stringify(first)}.`);
  await constraints.restore();
}

/** Accepts rows once for each table of the log, and for no other table. */
function claimExpectedTable(missing: Map<string, TableRows>, { table, columns }: TableRows): void {
  const expected = missing.get(table);
  if (expected === undefined || columns.some((column) => !expected.columns.includes(column))) {
    throw new OperatorError(
      `The backup contains rows for table ${JSON.stringify(table)} that its log does not describe. Someone changed the file: do not use it.`,
    );
  }
  missing.delete(table);
}

interface FilledSection {
  section: Section;
  content: AsyncGenerator<Buffer, void, undefined>;
}

/**
 * Restores one section in its own transaction. The service does not use the database before the last transaction
 * removes the mark.
 */
async function fillSection(
  client: pg.ClientBase,
  located: LocatedTables,
  { section, content }: FilledSection,
): Promise<void> {
  if (section.section === 'events') throw new OperatorError('The backup contains two logs.');
  await client.query('BEGIN');
  await client.query(COPY_SETTINGS);
  if (section.section === 'sequences') await setSequences(client, located, content);
  else
    await pipeline(
      Readable.from(content, { objectMode: false }),
      client.query(copyFrom(copyIn(section.section === 'account-rows' ? null : located, section))),
    );
  await client.query('COMMIT');
}

/** Sets the values of sequences. Sequences of unmanaged tables do not exist in this database and are skipped. */
async function setSequences(
  client: pg.ClientBase,
  located: LocatedTables,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const names = await sequenceNames(client, located);
  const missing = new Set(names.map((each) => sequenceText(each, located.schema)));
  for await (const line of readLines(Readable.from(content, { objectMode: false }))) {
    if (line === '') continue;
    const { last_value, is_called, ...named } = SEQUENCE.parse(JSON.parse(line));
    const sequence = sequenceText(named, located.schema);
    if (!missing.delete(sequence)) continue;
    await client.query('SELECT pg_catalog.setval($1::regclass, $2, $3)', [sequence, last_value, is_called]);
  }
  const [first] = missing;
  if (first !== undefined) throw new OperatorError(`The backup does not contain the value of sequence ${first}.`);
}
