/** Converts a table, using its collection's representation wherever the comparison found no difference. */
import { type ColumnField, hasColumn, extrasOf, type CollectionNode } from '../../schema/model/state.js';
import type { ColumnExtras, Need, TableExtras } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { needLabel } from '../../schema/model/needs.js';
import { withExtras } from '../../schema/transition/table-extras.js';
import type { Converted } from '../adopt/convert.js';
import type { Difference } from '../verify/index.js';

/** Equal objects can have several representations. A representation without a difference is no drift. */
export function alignSpelling(found: Converted, node: CollectionNode, differences: readonly Difference[]): Converted {
  const differs = new Set(differences.map(({ field, member }) => `${field ?? ''}\0${member}`));
  const fields = found.fields.map((field) => {
    const known = node.fields.get(field.field);
    return hasColumn(field) && hasColumn(known) ? alignField(field, known, differs) : field;
  });
  const { schema } = found.collection;
  const known = extrasOf(node);
  const said = schema && withExtras(schema, alignExtras(schema.extras ?? {}, known, differs));
  const aligned = said !== null && jsonEqual(said, node.collection.schema) ? node.collection.schema : said;
  return { ...found, collection: { ...found.collection, schema: aligned }, fields };
}

function alignExtras(extras: TableExtras, known: TableExtras, differs: ReadonlySet<string>): TableExtras {
  const same = (member: string): boolean => !differs.has(`\0${member}`);
  const { primary_key: key, partition_by: by, partition_of: of } = known;
  return {
    ...extras,
    ...(isSameKey(extras.primary_key, key) && same(`constraint ${key?.name}`) && { primary_key: key }),
    ...(by !== undefined && same('partition_by') && { partition_by: by }),
    ...(of !== undefined && same('partition_of') && { partition_of: of }),
    constraints: named(extras.constraints, known.constraints, (name) => same(`constraint ${name}`)),
    indexes: named(extras.indexes, known.indexes, (name) => same(`index ${name}`)),
    needs: alignNeeds(extras.needs, known.needs, same),
  };
}

const isSameKey = (found: TableExtras['primary_key'], known: TableExtras['primary_key']): boolean =>
  found !== undefined && found.name === known?.name && jsonEqual(found.columns, known.columns);

/** Compares the needs that the collection names. */
function alignNeeds(found: readonly Need[] = [], known: readonly Need[] = [], same: (label: string) => boolean) {
  const before = new Map(known.map((need) => [needLabel(need), need]));
  return found.flatMap((need) => {
    const other = before.get(needLabel(need));
    return other === undefined ? [] : [same(needLabel(need)) ? other : need];
  });
}

function named<T extends { name: string }>(
  found: readonly T[] = [],
  known: readonly T[] = [],
  same: (name: string) => boolean,
): T[] {
  const before = new Map(known.map((each) => [each.name, each]));
  return found.map((each) => (same(each.name) ? (before.get(each.name) ?? each) : each));
}

function alignField(field: ColumnField, known: ColumnField, differs: ReadonlySet<string>): Field {
  const same = (member: string): boolean => !differs.has(`${field.field}\0${member}`);
  const { extras: _, ...rest } = field.schema;
  const schema: ColumnSchema = { ...rest };
  if (same('schema.generation_expression')) schema.generation_expression = known.schema.generation_expression;
  if (same('schema.default_value')) schema.default_value = known.schema.default_value;
  const extras = columnExtras(field, known, same);
  if (Object.keys(extras).length > 0) schema.extras = extras;
  return { ...field, schema: jsonEqual(schema, known.schema) ? known.schema : schema };
}

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
