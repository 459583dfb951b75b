import { quoteName } from '../../kernel/text.js';
import { jsonEqual } from '../../kernel/json.js';
import { runToEnd } from '../../kernel/resumable.js';
import { type ColumnExtras, type TableExtras, tableExtras } from '../../schema/model/extras.js';
import type { CatalogTable } from '../catalog/model.js';
import { needLabel } from '../../schema/model/order.js';
import { type CollectionNode, extrasOf, hasColumn } from '../../schema/model/state.js';
import type { Collection, ColumnSchema, Field, NewRelation } from '../../schema/model/model.js';
import { checkName, readNewCollection } from '../../schema/normal-form/index.js';
import { type Result, allOf, ok } from '../../kernel/problem.js';
import { checkSqlText } from '../../schema/sql-text/check-sql-text.js';
import { withExtras } from '../../schema/transition/cascade.js';
import { type Unmanaged, createNoParts, toField } from './column.js';
import { type TableConversion, type EqualityCheck, note, contextOf, needsOf, type RejectedAdoption } from './needs.js';
import { keysOf, foreignKeysOf } from './keys.js';

export interface ConvertedTable {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

/** Explains why a table cannot become a collection, evaluated by its names and its owner. Returns null if it can. */
export function refusalOf({ table }: Pick<TableConversion, 'table'>): RejectedAdoption | null {
  if (table.extension !== null) {
    const message = `it belongs to the extension ${quoteName(table.extension)}, which creates and changes it`;
    return { table: table.name, code: 'BELONGS_TO_EXTENSION', message };
  }
  if (table.schema !== undefined && table.name !== `${table.schema}.${table.table}`) {
    const message = `another collection or table is named ${quoteName(`${table.schema}.${table.table}`)}`;
    return { table: table.name, code: 'NAME_NOT_ALLOWED', message };
  }
  const [wrong] = checkName('collection', table.name, []);
  if (wrong !== undefined) return { table: table.name, code: 'NAME_NOT_ALLOWED', message: wrong.message };
  for (const { name } of table.columns) {
    const [problem] = checkName('field', name, []);
    if (problem === undefined) continue;
    return { table: table.name, code: 'COLUMN_NOT_ALLOWED', message: `column ${quoteName(name)}: ${problem.message}` };
  }
  return null;
}

/** Converts a table to a collection. Parts that cannot be represented are recorded in `converting.notes`. */
export function convertTable(converting: TableConversion): Result<ConvertedTable> {
  const { table } = converting;
  // Needs come first, because they determine which names the other parts may use.
  const needs = needsOf(converting);
  const { relations, others } = foreignKeysOf(converting);
  const keys = keysOf(converting, others);
  const unmanaged: Unmanaged = [];
  const fields = runToEnd(
    allOf(table.columns, (column, index) => {
      const parts = keys.parts.get(column.name) ?? createNoParts();
      return toField(converting, { column, sort: index + 1, parts }, unmanaged);
    }),
  );
  if (!fields.ok) return fields;
  notePartitionKey(converting);
  const extras: TableExtras = {
    ...keys.extras,
    ...(table.partitionKey === null ? {} : { partition_by: table.partitionKey }),
    ...(table.partitionOf === null
      ? {}
      : { partition_of: { table: table.partitionOf.table, bound: table.partitionOf.bound } }),
    needs,
    unmanaged: [...keys.extras.unmanaged, ...unmanaged],
  };
  const document = {
    collection: table.name,
    ...(converting.like === undefined ? {} : { meta: converting.like.collection.meta }),
    schema: { ...locationOf(table), comment: table.comment },
  };
  const collection = readNewCollection(document, [], { imported: false });
  if (!collection.ok) return collection;
  // No text of the extras is parsed here, because each was parsed when it was read.
  const schema = withExtras({ ...locationOf(table), comment: table.comment }, orderedExtras(extras));
  const converted = { collection: { ...collection.value, schema }, fields: fields.value, relations };
  const { like, isEqual } = converting;
  return ok(like === undefined || isEqual === undefined ? converted : adoptSpelling(like, converted, isEqual));
}

const locationOf = ({ schema, table }: CatalogTable) => (schema === undefined ? {} : { schema, name: table });

/** Orders the members as documents list them. */
const orderedExtras = (extras: TableExtras): TableExtras => tableExtras.parse(extras);

/**
 * Records a note for a partition key that a snapshot cannot create. The key itself stays, because a partitioned table
 * cannot exist without it.
 */
function notePartitionKey(converting: TableConversion): void {
  const { partitionKey: key, name } = converting.table;
  const fault =
    key === null || converting.like !== undefined ? null : checkSqlText('partition key', key, contextOf(converting));
  if (fault === null) return;
  const message = `the partition key of ${quoteName(name)} ${fault}: it stays unchanged, and a snapshot with this table cannot be applied elsewhere`;
  note(converting, { kind: 'partition key', name, code: 'PARTITION_KEY_NOT_REPRESENTED', message });
}

/** Replaces members by those of the collection if both are equal. Equal objects can have several representations. */
export function adoptSpelling(like: CollectionNode, converted: ConvertedTable, isEqual: EqualityCheck): ConvertedTable {
  const fields = converted.fields.map((field) => adoptFieldSpelling(like.fields.get(field.field), field, isEqual));
  const { schema } = converted.collection;
  const [likeExtras, extras] = [extrasOf(like), extrasOf(converted)];
  const kept = <T>(member: string, there: T, ours: T | undefined): T =>
    ours !== undefined && isEqual(member) ? ours : there;
  const keptEach = <T>(there: readonly T[] = [], ours: readonly T[] = [], memberOf: (item: T) => string): T[] => {
    const before = new Map(ours.map((item) => [memberOf(item), item]));
    return there.map((item) => kept(memberOf(item), item, before.get(memberOf(item))));
  };
  const { primary_key: key, partition_by, partition_of } = extras;
  const isSameKey =
    key?.name === likeExtras.primary_key?.name && jsonEqual(key?.columns, likeExtras.primary_key?.columns);
  const spelled: TableExtras = {
    ...extras,
    primary_key: isSameKey ? kept(`constraint ${key?.name}`, key, likeExtras.primary_key) : key,
    partition_by: kept('partition_by', partition_by, likeExtras.partition_by),
    partition_of: kept('partition_of', partition_of, likeExtras.partition_of),
    constraints: keptEach(extras.constraints, likeExtras.constraints, ({ name }) => `constraint ${name}`),
    indexes: keptEach(extras.indexes, likeExtras.indexes, ({ name }) => `index ${name}`),
    needs: keptEach(extras.needs, likeExtras.needs, needLabel),
  };
  const schemaWithExtras = schema && withExtras(schema, spelled);
  const aligned = jsonEqual(schemaWithExtras, like.collection.schema) ? like.collection.schema : schemaWithExtras;
  return { ...converted, collection: { ...converted.collection, schema: aligned }, fields };
}

/** Maps the member of a difference to the members of the column and of its extras that represent it. */
const SPELLED: readonly [string, readonly (keyof ColumnSchema)[], readonly (keyof ColumnExtras)[]][] = [
  ['schema.data_type', ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'], ['precision']],
  ['schema.default_value', ['default_value'], ['default']],
  ['schema.generation_expression', ['generation_expression'], []],
  ['collation', [], ['collation']],
  ['identity sequence', [], ['sequence']],
  ['not null name', [], ['not_null_name']],
];

function adoptFieldSpelling(like: Field | undefined, field: Field, isEqual: EqualityCheck): Field {
  if (!hasColumn(like) || !hasColumn(field)) return field;
  const { extras: there, ...schema } = field.schema;
  const extras = { ...there };
  for (const [member, columns, more] of SPELLED) {
    if (!isEqual(member, field.field)) continue;
    Object.assign(schema, pick(like.schema, columns));
    for (const name of more) delete extras[name];
    Object.assign(extras, pick(like.schema.extras ?? {}, more));
  }
  const type = isEqual('schema.data_type', field.field) ? like.type : field.type;
  const aligned: ColumnSchema = Object.keys(extras).length === 0 ? schema : { ...schema, extras };
  return { ...field, type, schema: jsonEqual(aligned, like.schema) ? like.schema : aligned };
}

const pick = <T extends object>(from: T, names: readonly (keyof T)[]): Partial<T> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Partial<T>;
