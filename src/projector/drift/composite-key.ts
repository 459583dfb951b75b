/** A primary key with several columns is dropped and created as a whole instead of per field. */
import { extrasOf, type CollectionNode, primaryKeyOf } from '../../schema/model/state.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Field } from '../../schema/model/model.js';
import { withExtras } from '../../schema/transition/table-extras.js';
import { primaryKeyConstraint } from '../ddl/create-table.js';
import { primaryKeyNameOf } from '../../schema/model/constraint-names.js';
import { partOf } from '../ddl/step.js';
import { ident, qualified, sql } from '../ddl/sql.js';
import type { RepairPlan } from './model.js';

export interface KeyRepair {
  /** The table as it would be with the right key. */
  there: CollectionNode;
  before: RepairPlan['statements'];
  after: RepairPlan['statements'];
}

/** Null if no multi-column key is involved, or if one of its columns is missing. */
export function repairKey(known: CollectionNode, there: CollectionNode, schema: string): KeyRepair | null {
  const [expected, found] = [keyOf(known), keyOf(there)];
  const isWhole = expected.columns.every((column) => there.fields.get(column)?.schema);
  if (!isWhole || !concerns(known, there)) return null;
  const name = known.collection.collection;
  const table = qualified(schema, name);
  const keyed = withKeyOf(known, there);
  const key = (node: CollectionNode) => partOf(name, 'constraint', primaryKeyNameOf(node));
  if (jsonEqual(expected.columns, found.columns) && expected.definition === found.definition) {
    const names = sql`${ident(primaryKeyNameOf(there))} TO ${ident(primaryKeyNameOf(known))}`;
    const rename = sql`ALTER TABLE ${table} RENAME CONSTRAINT ${names}`;
    const summary = `rename the primary key of ${name}`;
    return {
      there: keyed,
      before: [{ field: null, sql: rename, summary, drops: false, object: key(known) }],
      after: [],
    };
  }
  const field = placeOf(expected);

  const drop = sql`ALTER TABLE ${table} DROP CONSTRAINT ${ident(primaryKeyNameOf(there))}`;
  const add = sql`ALTER TABLE ${table} ADD ${primaryKeyConstraint(known)}`;
  const made = `make ${expected.columns.join(', ')} the primary key of ${name}`;
  return {
    there: keyed,
    before:
      found.columns.length === 0
        ? []
        : [{ field, sql: drop, summary: `drop the primary key of ${name}`, drops: true, object: key(there) }],
    after: expected.columns.length === 0 ? [] : [{ field, sql: add, summary: made, drops: false, object: key(known) }],
  };
}

interface Key {
  columns: string[];
  definition?: string;
}

function keyOf(node: CollectionNode): Key {
  return saidKeyOf(node) ?? { columns: primaryKeyOf(node).map(({ field }) => field) };
}

const saidKeyOf = (node: CollectionNode) => extrasOf(node).primary_key ?? null;

/** A single-column key that is added, dropped or renamed belongs to its field. */
function concerns(known: CollectionNode, there: CollectionNode): boolean {
  const [expected, found] = [keyOf(known), keyOf(there)];
  if (!jsonEqual(saidKeyOf(known), saidKeyOf(there))) return true;
  return expected.columns.length > 0 && found.columns.length > 0 && !jsonEqual(expected.columns, found.columns);
}

/** The field that a difference of the key concerns. */
const placeOf = ({ columns: [only, ...more], definition }: Key): string | null =>
  only === undefined || more.length > 0 || definition !== undefined ? null : only;

function withKeyOf(known: CollectionNode, there: CollectionNode): CollectionNode {
  const fields = new Map<string, Field>();
  for (const [name, field] of there.fields) fields.set(name, withFlags(field, known.fields.get(name)));
  const { schema } = there.collection;
  const { primary_key: _, ...extras } = extrasOf(there);
  const key = saidKeyOf(known);
  const keyed = schema && withExtras(schema, { ...(key === null ? {} : { primary_key: key }), ...extras });
  return { ...there, collection: { ...there.collection, schema: keyed }, fields };
}

function withFlags(field: Field, known: Field | undefined): Field {
  if (field.schema === null || !known?.schema) return field;
  const isKey = known.schema.is_primary_key;
  if (field.schema.is_primary_key === isKey) return field;
  const is_unique = isKey || known.schema.is_unique;
  const { extras: said, ...schema } = { ...field.schema, is_primary_key: isKey, is_unique };
  const { primary_key_name: _, ...rest } = said ?? {};
  const name = known.schema.extras?.primary_key_name;
  const extras = name === undefined ? rest : { primary_key_name: name, ...rest };
  return { ...field, schema: Object.keys(extras).length === 0 ? schema : { ...schema, extras } };
}
