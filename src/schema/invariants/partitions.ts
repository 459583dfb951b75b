/* Problems of partitions, which have the columns of their partitioned table. */
import { type Problem, problemAbout } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import { parentOf } from '../model/order.js';
import {
  type CollectionNode,
  type ColumnField,
  type State,
  extrasOf,
  hasColumn,
  partitionsOf,
} from '../model/state.js';
import { columnType } from '../sql-text/data-types.js';
import type { Renames } from '../transition/renames.js';

/**
 * Reports a column that is not renamed in a partitioned table and in all of its partitions alike. PostgreSQL renames all
 * of them together.
 */
export function partitionRenameProblems(to: State, { fields }: Renames): Problem[] {
  const isColumn = (collection: string, field: string): boolean =>
    to.collections.get(collection)?.fields.get(field)?.schema != null;
  const fault = (collection: string, field: string, message: string): Problem =>
    problemAbout({ kind: 'field', collection, field }, message, { code: 'IN_USE' });
  return [...fields].flatMap(([collection, names]) =>
    [...names].flatMap(([field, name]) => {
      if (!isColumn(collection, name)) return [];
      const parent = parentOf(to, collection);
      const isAlone = parent !== undefined && fields.get(parent)?.get(field) !== name;
      const left = [...partitionsOf(to, collection)].filter((partition) => isColumn(partition, field));
      return [
        ...(isAlone ? [fault(collection, name, renameThere(parent))] : []),
        ...left.map((partition) => fault(partition, field, renameHere(collection, name))),
      ];
    }),
  );
}

const renameThere = (parent: string): string =>
  `a partition has the columns of ${quoteName(parent)}: rename the column there too`;

const renameHere = (parent: string, name: string): string =>
  `a partition has the columns of ${quoteName(parent)}: rename this column to ${quoteName(name)} too`;

/** Reports columns of a new partition that are not those of its partitioned table. PostgreSQL would not attach it. */
export function newPartitionProblems({ from, to }: { from: State; to: State }, name: string): Problem[] {
  const node = from.collections.has(name) ? undefined : to.collections.get(name);
  const parent = parentOf(to, name) ?? '';
  const table = to.collections.get(parent);
  if (node === undefined || table === undefined) return [];
  const ofColumns = [...new Set([...table.fields.keys(), ...node.fields.keys()])].flatMap((field) => {
    const [needed, own] = [table, node].map(({ fields }) => fields.get(field));
    const fault =
      columnFault(hasColumn(needed) ? needed : null, hasColumn(own) ? own : null) ??
      (hasForeignKey(table, field) && !hasForeignKey(node, field) ? 'the column must have its foreign key' : null);
    const message = `a partition has the columns of ${quoteName(parent)}: ${fault}`;
    return fault === null ? [] : [problemAbout({ kind: 'field', collection: name, field }, message)];
  });
  return [...ofColumns, ...missingIndexes(table, node)];
}

/** Reports indexes that PostgreSQL would add. They are counted, because their definitions can be spelled differently. */
function missingIndexes(table: CollectionNode, node: CollectionNode): Problem[] {
  const [needed = [], own = []] = [table, node].map((each) => extrasOf(each).indexes ?? []);
  if (own.length >= needed.length) return [];
  const { collection } = node.collection;
  const names = needed.map(({ name }) => quoteName(name)).join(', ');
  const message = `a partition has the indexes of ${quoteName(table.collection.collection)}: it needs one for each of ${names}`;
  return [problemAbout({ kind: 'collection', collection, member: ['schema', 'extras', 'indexes'] }, message)];
}

const hasForeignKey = ({ relations }: CollectionNode, field: string): boolean => relations.get(field)?.schema != null;

function columnFault(needed: ColumnField | null, own: ColumnField | null): string | null {
  if (needed === null) return own && 'the table has no column of this name';
  if (own === null) return `column ${quoteName(needed.field)} is missing`;
  const [type, ownType] = [needed, own].map(({ schema }) => typeAndCollation(schema));
  if (withoutSpelling(type) !== withoutSpelling(ownType)) return `the type must be ${type}, not ${ownType}`;
  const lacks = (flag: 'is_primary_key' | 'is_unique' | 'is_indexed'): boolean =>
    needed.schema[flag] && !own.schema[flag];
  if (own.schema.is_nullable && !needed.schema.is_nullable) return 'the column must be NOT NULL';
  if (lacks('is_primary_key')) return 'the column must be part of the primary key';
  if (lacks('is_unique')) return 'the column must be unique';
  return lacks('is_indexed') ? 'the column must be indexed' : null;
}

const typeAndCollation = (schema: ColumnField['schema']): string =>
  [columnType(schema), schema.extras?.collation && `COLLATE ${schema.extras.collation}`].filter(Boolean).join(' ');

/** PostgreSQL compares the types. This only has to recognize different ones, however their names are written. */
const withoutSpelling = (type = ''): string => type.replace(/ COLLATE "?default"?$/, '').replaceAll(/"|\b\w+\./g, '');
