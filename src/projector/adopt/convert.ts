/** A table of the catalog in normal form. */
import type { TableExtras } from '../../schema/extras.js';
import { tableExtrasV1 } from '../../schema/extras-schemas.js';
import type { Collection, Field, NewRelation } from '../../schema/model.js';
import { checkName, readNewCollection } from '../../schema/normal-form/index.js';
import { type Result, allOf, ok } from '../../schema/problem.js';
import { withExtras } from '../../schema/table-extras.js';
import { type Unmanaged, noParts, toField } from './column.js';
import { type Converting, note, quoted } from './context.js';
import { keysOf } from './keys.js';
import { foreignUse, needsOf } from './needs.js';
import type { Refused } from './note.js';
import { foreignKeysOf } from './relations.js';

export interface Converted {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

/** Why a table can't be a collection; null when, by its names and its owner, it can. */
export function refusalOf({ table }: Pick<Converting, 'table'>): Refused | null {
  if (table.extension !== null) {
    const message = `it belongs to the extension ${quoted(table.extension)}, which makes and changes it`;
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

/** What can't be said is put into `converting.notes`. */
export function convertTable(converting: Converting): Result<Converted> {
  const { table } = converting;
  const { relations, others } = foreignKeysOf(converting);
  const keys = keysOf(converting, others);
  const unmanaged: Unmanaged = [];
  const fields = allOf(
    table.columns.map((column, index) => {
      const parts = keys.parts.get(column.name) ?? noParts();
      return toField(converting, { column, sort: index + 1, parts }, unmanaged);
    }),
  );
  if (!fields.ok) return fields;
  noteGenerated(converting);
  const extras: TableExtras = {
    ...keys.extras,
    ...(table.partitionKey === null ? {} : { partition_by: table.partitionKey }),
    ...(table.partitionOf === null
      ? {}
      : { partition_of: { table: table.partitionOf.table, bound: table.partitionOf.bound } }),
    needs: needsOf(converting),
    unmanaged: [...keys.extras.unmanaged, ...unmanaged],
  };
  const document = {
    collection: table.name,
    ...(converting.like === undefined ? {} : { meta: converting.like.collection.meta }),
    schema: { comment: table.comment },
  };
  const collection = readNewCollection(document, [], { foreign: false });
  if (!collection.ok) return collection;
  // Each text of the extras was parsed when it was taken up.
  const schema = withExtras({ comment: table.comment }, orderedExtras(extras));
  return ok({ collection: { ...collection.value, schema }, fields: fields.value, relations });
}

/** The shape's order of members is the documents'. */
const orderedExtras = (extras: TableExtras): TableExtras => tableExtrasV1.parse(extras);

/** A generated column can't be without its expression, so it needs its functions wherever it goes. */
function noteGenerated(converting: Converting): void {
  for (const { name, generated } of converting.table.columns) {
    const used = generated === null ? null : foreignUse(converting, 'generated', name);
    if (used === null) continue;
    const message = `column ${quoted(name)} is computed with ${used}, which has to be there before a snapshot is applied elsewhere`;
    note(converting, { kind: 'generated column', name, code: 'FUNCTION_NEEDED', message });
  }
}
