/** Compares a collection of the fold with a table of the catalog. */
import { hasColumn, memberKey, type CollectionNode, type State } from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable } from '../catalog/model.js';
import type { CatalogObjects } from '../catalog/objects.js';
import { type SpelledColumn } from './column-spellings.js';
import { compareColumn } from './compare-column.js';
import { compareExtras } from './compare-extras.js';
import {
  compareNamed,
  expectedConstraints,
  definedConstraints,
  unmanagedParts,
  expectedIndexes,
  toConstraintShape,
  toIndexShape,
} from './compare-keys.js';
import type { Difference } from './difference.js';
import type { Json } from '../../kernel/json.js';

/** The context of a comparison. */
export interface Comparison {
  state: State;
  /** The managed schema. */
  schema: string;
  /** Checks whether the index of a field is still to be built. */
  isPending: (collection: string, field: string) => boolean;
  /** Keyed by memberKey: PostgreSQL's spelling of stored columns. */
  spelled: ReadonlyMap<string, SpelledColumn>;
  /** The objects that tables use. */
  objects: CatalogObjects;
}

/**
 * Returns the differences from the catalog; metadata rows are compared elsewhere. Ignores unmanaged objects and
 * indexes that are still to be built.
 */
export function compareTable(node: CollectionNode, table: CatalogTable, context: Comparison): Difference[] {
  const { collection, schema } = node.collection;
  const here = { where: 'catalog', collection } as const;
  const differences: Difference[] = [];
  const comment = schema?.comment ?? null;
  if (comment !== table.comment) {
    differences.push({ ...here, member: 'schema.comment', expected: comment, found: table.comment });
  }
  differences.push(...compareColumns(node, table, context));
  const expected = { constraints: expectedConstraints(node, context), indexes: expectedIndexes(node) };
  const unmanaged = new Set(unmanagedParts(node));
  // Objects in the log are compared, even if an unmanaged object had the same name before.
  for (const { kind, name } of [...expected.constraints, ...expected.indexes]) unmanaged.delete(`${kind} ${name}`);
  const defined = definedConstraints(node);
  const constraints = table.constraints
    .filter(({ name }) => !unmanaged.has(`constraint ${name}`))
    .map((constraint) => toConstraintShape(constraint, defined));
  const keys = compareNamed(expected.constraints, constraints);
  const free = table.indexes
    .filter(({ name, constraint }) => constraint === null && !unmanaged.has(`index ${name}`))
    .map((index) => toIndexShape(index, node));
  const indexes = compareNamed(expected.indexes, free).filter(
    ({ field, found }) => !(field !== undefined && !isBuilt(found) && context.isPending(collection, field)),
  );
  for (const each of [...keys, ...indexes, ...compareExtras(node, table, context)]) {
    differences.push({ ...here, ...each });
  }
  return differences;
}

/** False if it does not exist or is being built. */
const isBuilt = (found: Json): boolean => found !== null && (found as { valid?: boolean }).valid !== false;

function compareColumns(node: CollectionNode, table: CatalogTable, context: Comparison): Difference[] {
  const { collection } = node.collection;
  const unmanaged = unmanagedParts(node);
  const columns = new Map<string, CatalogColumn>(table.columns.map((column) => [column.name, column]));
  const differences: Difference[] = [];
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    const here = { where: 'catalog', collection, field: field.field } as const;
    const column = columns.get(field.field);
    columns.delete(field.field);
    if (column === undefined) differences.push({ ...here, member: 'column', expected: 'a column', found: null });
    else {
      const isUnmanaged = (kind: 'default' | 'generated') => unmanaged.has(`${kind} ${field.field}`);
      const how = { spelled: context.spelled.get(memberKey(collection, field.field)), isUnmanaged };
      differences.push(...compareColumn(field, column, how).map((each) => ({ ...here, ...each })));
    }
  }
  for (const { name, type } of columns.values()) {
    differences.push({ where: 'catalog', collection, field: name, member: 'column', expected: null, found: type });
  }
  return differences;
}
