/** A table as it is there, said as its collection says it wherever the comparison found no difference. */
import type { ColumnExtras, TableExtras } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { needLabel } from '../../schema/model/needs.js';
import type { CollectionNode } from '../../schema/model/state.js';
import { withExtras } from '../../schema/transition/table-extras.js';
import type { Converted } from '../adopt/convert.js';
import { type ColumnField, hasColumn } from '../ddl/column.js';
import type { Difference } from '../verify/index.js';

/** The same thing can be said in several ways; one that nobody complained of is no drift. */
export function alignSpelling(found: Converted, node: CollectionNode, differences: readonly Difference[]): Converted {
  const differs = new Set(differences.map(({ field, member }) => `${field ?? ''}\0${member}`));
  const fields = found.fields.map((field) => {
    const known = node.fields.get(field.field);
    return hasColumn(field) && hasColumn(known) ? fieldAsKnown(field, known, differs) : field;
  });
  const { schema } = found.collection;
  const known = node.collection.schema?.extras ?? {};
  const said = schema && withExtras(schema, extrasAsKnown(schema.extras ?? {}, known));
  const settled = said !== null && jsonEqual(said, node.collection.schema) ? node.collection.schema : said;
  return { ...found, collection: { ...found.collection, schema: settled }, fields };
}

/** What the table uses is looked at where the collection names it. */
function extrasAsKnown(extras: TableExtras, known: TableExtras): TableExtras {
  const named = new Set(known.needs?.map(needLabel));
  return { ...extras, needs: (extras.needs ?? []).filter((need) => named.has(needLabel(need))) };
}

function fieldAsKnown(field: ColumnField, known: ColumnField, differs: ReadonlySet<string>): Field {
  const same = (member: string): boolean => !differs.has(`${field.field}\0${member}`);
  const { extras: _, ...rest } = field.schema;
  const schema: ColumnSchema = { ...rest };
  if (same('schema.generation_expression')) schema.generation_expression = known.schema.generation_expression;
  if (same('schema.default_value')) schema.default_value = known.schema.default_value;
  const extras = columnExtras(field, known, same);
  if (Object.keys(extras).length > 0) schema.extras = extras;
  return { ...field, schema: jsonEqual(schema, known.schema) ? known.schema : schema };
}

/** Names that are compared only where they are said, and spellings of the same value. */
function columnExtras(field: ColumnField, known: ColumnField, same: (member: string) => boolean): ColumnExtras {
  const extras: ColumnExtras = { ...field.schema.extras };
  const before = known.schema.extras ?? {};
  if (same('schema.default_value')) keepMember(extras, before, 'default');
  if (same('identity sequence')) keepMember(extras, before, 'sequence');
  if (same('not null name')) keepMember(extras, before, 'not_null_name');
  return extras;
}

function keepMember<M extends keyof ColumnExtras>(extras: ColumnExtras, known: ColumnExtras, member: M): void {
  if (known[member] === undefined) delete extras[member];
  else extras[member] = known[member];
}
