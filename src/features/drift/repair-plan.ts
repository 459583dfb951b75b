/** Plans the repair of one table, with statements for the database and events for the log. */
import { Draft } from '../../schema/transition/draft.js';
import { dropCollection, withExtras } from '../../schema/transition/cascade.js';
import type { Relation, Field } from '../../schema/model/model.js';
import { type CollectionNode, type State, extrasOf, primaryKeyOf } from '../../schema/model/state.js';
import { transition } from '../../schema/transition/transition.js';
import type { ConvertedTable } from '../../projector/inspect/convert.js';
import { revokeDefaults } from '../../projector/ddl/object-statements.js';
import { unwantedDefaults } from '../../projector/ddl/object-uses.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { type Statement, partOf } from '../../projector/ddl/step.js';
import type { PlannedRepair, Repair, RepairPlan, RepairStatement } from './model.js';
import { runToEnd } from '../../kernel/resumable.js';
import { jsonEqual } from '../../kernel/json.js';
import { primaryKeyConstraint } from '../../projector/ddl/create-table.js';
import { primaryKeyNameOf } from '../../schema/model/constraint-names.js';
import { ident, sql, tableOfNode } from '../../projector/ddl/sql.js';

/* A primary key with several columns is dropped and created as a whole instead of per field. */

interface KeyRepair {
  /** The existing table with the correct key. */
  there: CollectionNode;
  before: RepairPlan['statements'];
  after: RepairPlan['statements'];
}

/** Repairs a key with several columns. Null if there is none, or if one of its columns is missing. */
export function repairKey(recorded: CollectionNode, there: CollectionNode, schema: string): KeyRepair | null {
  const [expected, actual] = [keyOf(recorded), keyOf(there)];
  const isWhole = expected.columns.every((column) => there.fields.get(column)?.schema);
  if (!isWhole || !changesKey(recorded, there)) return null;
  const name = recorded.collection.collection;
  const table = tableOfNode(recorded, schema);
  const keyed = withKeyOf(recorded, there);
  const key = (node: CollectionNode) => partOf(name, 'constraint', primaryKeyNameOf(node));
  if (jsonEqual(expected.columns, actual.columns) && expected.definition === actual.definition) {
    const names = sql`${ident(primaryKeyNameOf(there))} TO ${ident(primaryKeyNameOf(recorded))}`;
    const rename = sql`ALTER TABLE ${table} RENAME CONSTRAINT ${names}`;
    const summary = `rename the primary key of ${name}`;
    return {
      there: keyed,
      before: [{ field: null, sql: rename, summary, drops: false, object: key(recorded) }],
      after: [],
    };
  }
  const field = placeOf(expected);

  const drop = sql`ALTER TABLE ${table} DROP CONSTRAINT ${ident(primaryKeyNameOf(there))}`;
  const add = sql`ALTER TABLE ${table} ADD ${primaryKeyConstraint(recorded)}`;
  const made = `make ${expected.columns.join(', ')} the primary key of ${name}`;
  return {
    there: keyed,
    before:
      actual.columns.length === 0
        ? []
        : [{ field, sql: drop, summary: `drop the primary key of ${name}`, drops: true, object: key(there) }],
    after:
      expected.columns.length === 0 ? [] : [{ field, sql: add, summary: made, drops: false, object: key(recorded) }],
  };
}

interface Key {
  columns: string[];
  definition?: string;
}

function keyOf(node: CollectionNode): Key {
  return recordedKeyOf(node) ?? { columns: primaryKeyOf(node).map(({ field }) => field) };
}

const recordedKeyOf = (node: CollectionNode) => extrasOf(node).primary_key ?? null;

/**
 * True if the key must be repaired as a whole. A single-column key that is added, dropped or renamed belongs to its
 * field.
 */
function changesKey(recorded: CollectionNode, there: CollectionNode): boolean {
  const [expected, actual] = [keyOf(recorded), keyOf(there)];
  if (!jsonEqual(recordedKeyOf(recorded), recordedKeyOf(there))) return true;
  return expected.columns.length > 0 && actual.columns.length > 0 && !jsonEqual(expected.columns, actual.columns);
}

/**
 * Returns the field that a difference of the key concerns. Null for a key with several columns or with a definition.
 */
const placeOf = ({ columns: [only, ...more], definition }: Key): string | null =>
  only === undefined || more.length > 0 || definition !== undefined ? null : only;

function withKeyOf(recorded: CollectionNode, there: CollectionNode): CollectionNode {
  const fields = new Map<string, Field>();
  for (const [name, field] of there.fields) fields.set(name, withFlags(field, recorded.fields.get(name)));
  const { schema } = there.collection;
  const { primary_key: _, ...extras } = extrasOf(there);
  const key = recordedKeyOf(recorded);
  const keyed = schema && withExtras(schema, { ...(key === null ? {} : { primary_key: key }), ...extras });
  return { ...there, collection: { ...there.collection, schema: keyed }, fields };
}

function withFlags(field: Field, recorded: Field | undefined): Field {
  if (field.schema === null || !recorded?.schema) return field;
  const isKey = recorded.schema.is_primary_key;
  if (field.schema.is_primary_key === isKey) return field;
  const is_unique = isKey || recorded.schema.is_unique;
  const { extras: fieldExtras, ...schema } = { ...field.schema, is_primary_key: isKey, is_unique };
  const { primary_key_name: _, ...rest } = fieldExtras ?? {};
  const name = recorded.schema.extras?.primary_key_name;
  const extras = name === undefined ? rest : { primary_key_name: name, ...rest };
  return { ...field, schema: Object.keys(extras).length === 0 ? schema : { ...schema, extras } };
}

export interface TableToRepair {
  /** The existing table in normal form. */
  all: ConvertedTable;
  /** The same table without the objects that are dropped first. */
  rest: ConvertedTable;
  statements: RepairPlan['statements'];
}

/** The default schema, and the role of OBJECTS_OWNER. */
interface RepairTarget {
  schema: string;
  owner: string | undefined;
}

/** Plans the repair of an existing table that differs. */
export function planForDifferent(
  state: State,
  node: CollectionNode,
  table: TableToRepair,
  { schema, owner }: RepairTarget,
): RepairPlan {
  const { collection } = node.collection;
  const there = nodeOf(node, table.rest);
  const key = repairKey(node, there, schema);
  const from = withNode(state, key?.there ?? there);
  const events = runToEnd(transition(from, state, [collection]));
  // A view that uses the table is repaired as an object of its own.
  const { statements } = runToEnd(planBatch(from, events, schema, { objects: false, owner }));
  return {
    statements: [
      ...table.statements,
      ...(key?.before ?? []),
      ...statements.map((each) => toRepair(each, each.source.field)),
      ...(key?.after ?? []),
    ],
    events: runToEnd(transition(state, withNode(state, nodeOf(node, table.all)), [collection])),
  };
}

/** Plans the repair of a missing table. */
export function planForMissing(state: State, node: CollectionNode, { schema, owner }: RepairTarget): RepairPlan {
  const { collection } = node.collection;
  const draft = new Draft(state);
  dropCollection(draft, state, collection);
  const without = { ...state, collections: state.collections.delete(collection) };
  const back = runToEnd(transition(without, state, [collection]));
  const { statements } = runToEnd(planBatch(without, back, schema, { objects: false, owner }));
  const unwanted = unwantedDefaults({ before: state, after: state, events: back, schema });
  const revoked = unwanted.map((each) => revokeDefaults(schema, each));
  return {
    statements: [...statements, ...revoked].map((each) => toRepair(each, null)),
    events: runToEnd(transition(state, draft.toState(), draft.touched)),
  };
}

const withNode = (state: State, node: CollectionNode): State => ({
  ...state,
  collections: state.collections.set(node.collection.collection, node),
});

/**
 * Returns the node of the existing table. The catalog does not store aliases and relations without a foreign key, so
 * these are kept from the log.
 */
function nodeOf(recorded: CollectionNode, converted: ConvertedTable): CollectionNode {
  const fields = new Map(converted.fields.map((field) => [field.field, field]));
  for (const field of recorded.fields.values()) if (field.schema === null) fields.set(field.field, field);
  const relations = new Map<string, Relation>();
  for (const relation of recorded.relations.values()) {
    if (fields.has(relation.many_field)) relations.set(relation.many_field, { ...relation, schema: null });
  }
  for (const relation of converted.relations) {
    const id = relations.get(relation.many_field)?.id ?? 0;
    relations.set(relation.many_field, { id, ...relation });
  }
  return { identities: recorded.identities, collection: converted.collection, fields, relations };
}

/**
 * Returns statements for one field or for the table as a whole, and events for this field and `others`.
 * @param sequences the sequences that the field needs. They precede the statements of the field
 */
export function repairOf(
  plan: RepairPlan,
  field: string | undefined,
  { others = [], sequences = [] }: { others?: readonly (string | null)[]; sequences?: readonly string[] } = {},
): Repair {
  const location = field ?? null;
  const isNeeded = ({ object }: PlannedRepair) => object.kind === 'sequence' && sequences.includes(object.name);
  return repairOfAll({
    statements: plan.statements.filter((each) => each.field === location || (each.field === null && isNeeded(each))),
    events: plan.events.filter((each) => each.field === location || others.includes(each.field)),
  });
}

export function repairOfAll({ statements, events }: RepairPlan): Repair {
  return {
    database: statements.map(toShownRepair),
    log: events.map(({ type, collection, field, data }) => ({ type, collection, field, data })),
  };
}

/** Returns only the members that responses contain. */
export function toShownRepair({ sql, summary, drops, inherited_by }: RepairStatement): RepairStatement {
  return { sql, summary, drops, ...(inherited_by !== undefined && { inherited_by }) };
}

function toRepair({ sql, summary, object, ensures, ...each }: Statement, field: string | null): PlannedRepair {
  const drops = each.loses_data || each.drops.length > 0;
  const losesColumn = each.loses_data && object.kind === 'column' && each.drops.length > 0;
  return {
    sql,
    summary,
    drops,
    field,
    object,
    ...(ensures !== undefined && { ensures }),
    ...(losesColumn && { losesColumn }),
  };
}
