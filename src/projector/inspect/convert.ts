import { quoted } from '../../kernel/text.js';
import { runToEnd } from '../../kernel/resumable.js';
import { type TableExtras, tableExtras } from '../../schema/model/extras.js';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import { checkName, readNewCollection } from '../../schema/normal-form/index.js';
import { type Result, allOf, ok } from '../../kernel/problem.js';
import { checkSqlText } from '../../schema/sql-text/check-sql-text.js';
import { withExtras } from '../../schema/transition/cascade.js';
import { type Unmanaged, noParts, toField } from './column.js';
import { type Converting, note, aroundOf, needsOf, type Refused } from './needs.js';
import { keysOf, foreignKeysOf } from './keys.js';

export interface Converted {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

/** Explains why a table cannot become a collection, judged by its names and its owner. Returns null if it can. */
export function refusalOf({ table }: Pick<Converting, 'table'>): Refused | null {
  if (table.extension !== null) {
    const message = `it belongs to the extension ${quoted(table.extension)}, which creates and changes it`;
    return { table: table.name, code: 'BELONGS_TO_EXTENSION', message };
  }
  const [wrong] = checkName('collection', table.name, []);
  if (wrong !== undefined) return { table: table.name, code: 'NAME_NOT_ALLOWED', message: wrong.message };
  for (const { name } of table.columns) {
    const [problem] = checkName('field', name, []);
    if (problem === undefined) continue;
    return { table: table.name, code: 'COLUMN_NOT_ALLOWED', message: `column ${quoted(name)}: ${problem.message}` };
  }
  return null;
}

/** Parts that cannot be represented are recorded in `converting.notes`. */
export function convertTable(converting: Converting): Result<Converted> {
  const { table } = converting;
  // Comes first: it determines which names the other parts may use.
  const needs = needsOf(converting);
  const { relations, others } = foreignKeysOf(converting);
  const keys = keysOf(converting, others);
  const unmanaged: Unmanaged = [];
  const fields = runToEnd(
    allOf(table.columns, (column, index) => {
      const parts = keys.parts.get(column.name) ?? noParts();
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
    schema: { comment: table.comment },
  };
  const collection = readNewCollection(document, [], { imported: false });
  if (!collection.ok) return collection;
  // Each text of the extras was already parsed when it was read.
  const schema = withExtras({ comment: table.comment }, orderedExtras(extras));
  return ok({ collection: { ...collection.value, schema }, fields: fields.value, relations });
}

/** Documents list their members in this order. */
const orderedExtras = (extras: TableExtras): TableExtras => tableExtras.parse(extras);

/**
 * A partitioned table cannot exist without its partition key, so the key stays even if a snapshot could not create
 * it.
 */
function notePartitionKey(converting: Converting): void {
  const { partitionKey: key, name } = converting.table;
  const fault =
    key === null || converting.like !== undefined ? null : checkSqlText('partition key', key, aroundOf(converting));
  if (fault === null) return;
  const message = `the partition key of ${quoted(name)} ${fault}: it stays unchanged, and a snapshot with this table cannot be applied elsewhere`;
  note(converting, { kind: 'partition key', name, code: 'PARTITION_KEY_NOT_REPRESENTED', message });
}
