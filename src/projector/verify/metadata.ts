/** Compares the fold with the metadata rows. */
import type pg from 'pg';
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import { type CollectionNode, type State, byName } from '../../schema/model/state.js';
import { sql, own } from '../ddl/sql.js';
import type { Difference } from './difference.js';

type Document = Record<string, Json>;

const COLLECTIONS = sql`SELECT collection, meta, schema FROM ${own.collections}`;
const FIELDS = sql`SELECT collection, field, type, meta, schema FROM ${own.fields}`;
const RELATIONS = sql`SELECT pg_catalog.to_jsonb(id) AS id, many_collection, many_field, one_collection, one_field, one_collection_field,
  one_allowed_collections, junction_field, sort_field, one_deselect_action, schema FROM ${own.relations}`;

/** A kind of row: the member that names a missing or extra one, and its key columns. */
interface Kind {
  member: 'collection' | 'field' | 'relation';
  key: readonly [collection: string, field?: string];
}

const COLLECTION: Kind = { member: 'collection', key: ['collection'] };
const FIELD: Kind = { member: 'field', key: ['collection', 'field'] };
const RELATION: Kind = { member: 'relation', key: ['many_collection', 'many_field'] };

function placeOf(
  { key: [collection, field] }: Kind,
  row: Document,
): Pick<Difference, 'where' | 'collection' | 'field'> {
  const place = { where: 'metadata', collection: row[collection] as string } as const;
  return field === undefined ? place : { ...place, field: row[field] as string };
}

/** Returns every differing member, and every extra or missing row. */
export async function verifyMetadata(client: pg.ClientBase, state: State): Promise<Difference[]> {
  const nodes = [...state.collections.values()];
  const compared = async (kind: Kind, rowsOf: RowsOf, text: string): Promise<Difference[]> => {
    const { rows } = await client.query<Document>(text);
    return compareRows(kind, { nodes, rowsOf }, rows);
  };
  return [
    ...(await compared(COLLECTION, collectionOf, COLLECTIONS)),
    ...(await compared(FIELD, fieldsOf, FIELDS)),
    ...(await compared(RELATION, relationsOf, RELATIONS)),
  ];
}

type RowsOf = (node: CollectionNode) => Iterable<object>;

interface Expected {
  nodes: readonly CollectionNode[];
  rowsOf: RowsOf;
}

const collectionOf = ({ collection }: CollectionNode): object[] => [collection];
const fieldsOf = ({ fields }: CollectionNode): Iterable<object> => fields.values();
const relationsOf = ({ relations }: CollectionNode): Iterable<object> => relations.values();

async function compareRows(kind: Kind, { nodes, rowsOf }: Expected, found: readonly Document[]) {
  const keyOf = (row: Document): string => kind.key.map((column) => row[column as string] as string).join('\0');
  const slice = createTimeSlice();
  const rows = new Map<string, Document>();
  for (const row of found) {
    if (slice.isOver()) await slice.yield();
    rows.set(keyOf(row), row);
  }
  const differences: Difference[] = [];
  for (const node of nodes) {
    // Most nodes have no row of some kind, but iterating over them also takes time.
    if (slice.isOver()) await slice.yield();
    for (const document of rowsOf(node) as Iterable<Document>) {
      if (slice.isOver()) await slice.yield();
      const key = keyOf(document);
      const row = rows.get(key);
      rows.delete(key);
      const place = placeOf(kind, document);
      if (row === undefined) differences.push({ ...place, member: kind.member, expected: 'a row', found: null });
      else differences.push(...compareMembers(document, row).map((member) => ({ ...place, ...member })));
    }
  }
  // Most rows are equal, so only the differences are sorted, here by field. The caller sorts by collection.
  const ordered = await runYielding(
    sortedInSteps(differences, (a, b) => byName(a.field ?? '', b.field ?? '')),
    slice,
  );
  for (const row of rows.values()) {
    if (slice.isOver()) await slice.yield();
    ordered.push({ ...placeOf(kind, row), member: kind.member, expected: null, found: 'a row' });
  }
  return ordered;
}

type Member = Pick<Difference, 'member' | 'expected' | 'found'>;

/** Goes one level into meta and schema, so that a difference names the member instead of the document. */
function compareMembers(expected: Document, found: Document, prefix = ''): Member[] {
  const members = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...members].flatMap((name) => {
    const [a, b] = [expected[name] ?? null, found[name] ?? null];
    if (jsonEqual(a, b)) return a === null ? missingMember(expected, found, { name, prefix }) : [];
    const inner = prefix === '' && isObject(a) && isObject(b);
    return inner ? compareMembers(a, b, `${name}.`) : [{ member: prefix + name, expected: a, found: b }];
  });
}

/** Distinguishes null from a missing member, because readers of the rows may test for it. */
function missingMember(
  expected: Document,
  found: Document,
  { name, prefix }: { name: string; prefix: string },
): Member[] {
  const [one, other] = [expected, found].map((document) => (document[name] === undefined ? null : 'a member'));
  return one === other ? [] : [{ member: prefix + name, expected: one ?? null, found: other ?? null }];
}
