/** A primary key of several columns is one thing: it goes and comes as a whole, and not field by field. */
import { jsonEqual } from '../../schema/json.js';
import type { Field } from '../../schema/model.js';
import { type CollectionNode, primaryKeyOf } from '../../schema/state.js';
import { withExtras } from '../../schema/table-extras.js';
import { primaryKeyConstraint } from '../ddl/create-table.js';
import { primaryKeyNameOf } from '../ddl/owned-names.js';
import { ident, qualified, sql } from '../ddl/sql.js';
import type { RepairStatement } from './model.js';

export interface KeyRepair {
  /** The table as if its key were right. */
  there: CollectionNode;
  before: RepairStatement[];
  after: RepairStatement[];
}

/** Null where no key of several columns is concerned, or a column of it is missing. */
export function repairKey(known: CollectionNode, there: CollectionNode, schema: string): KeyRepair | null {
  const [wanted, found] = [keyOf(known), keyOf(there)];
  const columns = primaryKeyOf(known).map(({ field }) => field);
  const isWhole = columns.every((column) => there.fields.get(column)?.schema);
  if (jsonEqual(wanted, found) || !isWhole || (wanted === null && found === null)) return null;
  const table = qualified(schema, known.collection.collection);
  const name = known.collection.collection;
  const drop = sql`ALTER TABLE ${table} DROP CONSTRAINT ${ident(primaryKeyNameOf(there))}`;
  const add = sql`ALTER TABLE ${table} ADD ${primaryKeyConstraint(known)}`;
  return {
    there: withKeyOf(known, there),
    before:
      primaryKeyOf(there).length === 0 ? [] : [{ sql: drop, summary: `drop the primary key of ${name}`, drops: true }],
    after:
      columns.length === 0
        ? []
        : [{ sql: add, summary: `make ${columns.join(', ')} the primary key of ${name}`, drops: false }],
  };
}

const keyOf = ({ collection }: CollectionNode) => collection.schema?.extras?.primary_key ?? null;

function withKeyOf(known: CollectionNode, there: CollectionNode): CollectionNode {
  const fields = new Map<string, Field>();
  for (const [name, field] of there.fields) fields.set(name, withFlags(field, known.fields.get(name)));
  const { schema } = there.collection;
  const { primary_key: _, ...extras } = schema?.extras ?? {};
  const key = keyOf(known);
  const keyed = schema && withExtras(schema, { ...(key === null ? {} : { primary_key: key }), ...extras });
  return { ...there, collection: { ...there.collection, schema: keyed }, fields };
}

function withFlags(field: Field, known: Field | undefined): Field {
  if (field.schema === null || !known?.schema) return field;
  const isKey = known.schema.is_primary_key;
  if (field.schema.is_primary_key === isKey) return field;
  const is_unique = isKey || known.schema.is_unique;
  return { ...field, schema: { ...field.schema, is_primary_key: isKey, is_unique } };
}
