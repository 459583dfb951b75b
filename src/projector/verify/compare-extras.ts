/** Compares partitioning and the objects that tables use with the catalog. */
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import { hasColumn, type CollectionNode, type State, extrasOf } from '../../schema/model/state.js';
import { needLabel } from '../../schema/model/needs.js';
import { needsOf, sequenceOptions } from '../adopt/needs.js';
import type { CatalogTable } from '../catalog/model.js';
import type { CatalogObjects } from '../catalog/objects.js';
import type { Difference } from './difference.js';

type Member = Pick<Difference, 'field' | 'member' | 'expected' | 'found'>;

interface Context {
  state: State;
  schema: string;
  objects: CatalogObjects;
}

/** Returns the differing members. Shared objects are compared for each table. */
export function compareExtras(node: CollectionNode, table: CatalogTable, context: Context): Member[] {
  const extras = extrasOf(node);
  const parent = table.partitionOf && { table: table.partitionOf.table, bound: table.partitionOf.bound };
  const members: Member[] = [
    { member: 'partition_by', expected: extras.partition_by ?? null, found: table.partitionKey },
    { member: 'partition_of', expected: extras.partition_of ?? null, found: parent },
  ].filter(({ expected, found }) => !jsonEqual(expected, found));
  const { objects } = context;
  const found = needsOf({ ...context, objects, table, together: new Map(), notes: [] });
  const needs = (extras.needs ?? []).flatMap((need) => compareNeed(need, found, objects));
  return [...members, ...needs, ...compareSequences(node, table, objects)];
}

/** @param found the objects that the table uses; extra ones are reported through their columns */
function compareNeed(need: Need, found: readonly Need[], objects: CatalogObjects): Member[] {
  const other = found.find((each) => needLabel(each) === needLabel(need)) ?? unused(need, objects);
  if (jsonEqual(need, other)) return [];
  return [{ member: needLabel(need), expected: { ...need }, found: other === undefined ? null : { ...other } }];
}

/** Objects that the table no longer uses are looked up separately. For a type, only its existence is checked. */
function unused(need: Need, { extensions, sequences, collations, typeNames }: CatalogObjects): Need | undefined {
  if (need.kind === 'extension') return extensions.has(need.name) ? need : undefined;
  if (need.kind === 'collation') {
    const collation = collations.get(need.name);
    return collation && { kind: 'collation', name: need.name, ...collation };
  }
  if (need.kind !== 'sequence') return typeNames.has(need.name) ? need : undefined;
  const sequence = sequences.get(need.name);
  return sequence && { kind: 'sequence', name: need.name, ...sequenceOptions(sequence, 'bigint') };
}

/** Compares identity sequences. Their names are compared only if the log records them. */
function compareSequences(node: CollectionNode, table: CatalogTable, { sequences }: CatalogObjects): Member[] {
  return table.columns.flatMap((column): Member[] => {
    const field = node.fields.get(column.name);
    const { identity, sequence: owned } = column;
    const sequence = identity !== null && owned !== null ? sequences.get(owned.name) : undefined;
    if (sequence === undefined || !hasColumn(field)) return [];
    const expected = field.schema.extras?.sequence ?? {};
    const options = sequenceOptions(sequence, column.type);
    const found: Json = { ...(expected.name === undefined ? {} : { name: sequence.name }), ...options };
    return jsonEqual(expected, found)
      ? []
      : [{ field: column.name, member: 'identity sequence', expected: { ...expected }, found }];
  });
}
