/** Converts foreign keys with one column that reference the primary key of a managed table to relations. */
import type { ForeignKey, NewRelation } from '../../schema/model/model.js';
import { keyFamily } from '../../schema/sql-text/data-types.js';
import { typeFromColumn } from '../../schema/normal-form/index.js';
import { primaryKeyOf } from '../../schema/model/state.js';
import { REFERABLE_SYSTEM_COLLECTIONS, isSystemCollection } from '../../schema/model/system-collections.js';
import type { CatalogConstraint, CatalogTable } from '../catalog/model.js';
import type { Converting } from './context.js';
import { isSaid } from './unsendable-sql.js';

export interface ForeignKeys {
  relations: NewRelation[];
  others: CatalogConstraint[];
}

/** If several foreign keys use one column, the relation uses the existing one, or the first by name. */
export function foreignKeysOf(converting: Converting): ForeignKeys {
  const { table, like } = converting;
  const relations = new Map<string, NewRelation>();
  const others: CatalogConstraint[] = [];
  const found = table.constraints.filter(({ kind }) => kind === 'foreign key');
  const wasRelation = ({ name, columns }: CatalogConstraint): boolean =>
    like?.relations.get(columns[0] ?? '')?.schema?.constraint_name === name;
  for (const constraint of [...found.filter(wasRelation), ...found.filter((each) => !wasRelation(each))]) {
    const relation = isSaid(converting, 'constraint', constraint.name) ? null : toRelation(converting, constraint);
    if (relation === null || relations.has(relation.many_field)) others.push(constraint);
    else relations.set(relation.many_field, relation);
  }
  return { relations: [...relations.values()], others };
}

/**
 * Matches only what a relation supports: no NOT VALID, no NOT ENFORCED. A column list of SET NULL can only name the
 * one column.
 */
const EXPRESSIBLE =
  /\)( ON UPDATE (CASCADE|RESTRICT|SET NULL|SET DEFAULT))?( ON DELETE (CASCADE|RESTRICT|SET NULL|SET DEFAULT))?( DEFERRABLE( INITIALLY DEFERRED)?)?$/;

function toRelation(converting: Converting, constraint: CatalogConstraint): NewRelation | null {
  const { table, like } = converting;
  const { references } = constraint;
  const [field, ...more] = constraint.columns;
  if (field === undefined || more.length > 0 || references === null) return null;
  if (!isExpressible(converting, constraint)) return null;
  const known = like?.relations.get(field);
  const kept = known?.one_collection === references.table ? known : NOTHING_KNOWN;
  return {
    many_collection: table.name,
    many_field: field,
    one_collection: references.table,
    one_field: kept.one_field,
    one_collection_field: null,
    one_allowed_collections: null,
    junction_field: kept.junction_field,
    sort_field: kept.sort_field,
    one_deselect_action: kept.one_deselect_action,
    schema: {
      constraint_name: constraint.name,
      on_update: references.onUpdate,
      on_delete: references.onDelete,
      ...waiting(constraint),
    },
  };
}

/** Members that no constraint records. */
type Metadata = Pick<NewRelation, 'one_field' | 'junction_field' | 'sort_field' | 'one_deselect_action'>;

const NOTHING_KNOWN: Metadata = {
  one_field: null,
  junction_field: null,
  sort_field: null,
  one_deselect_action: 'nullify',
};

function waiting({ deferrable, initiallyDeferred }: CatalogConstraint): Pick<ForeignKey, 'deferrable'> {
  if (!deferrable) return {};
  return { deferrable: initiallyDeferred ? 'INITIALLY DEFERRED' : 'INITIALLY IMMEDIATE' };
}

function isExpressible(
  converting: Converting,
  { references, columns, definition, validated }: CatalogConstraint,
): boolean {
  if (references === null || !isInReach(converting, references) || references.match !== 'simple') return false;
  if (!validated || !EXPRESSIBLE.test(definition)) return false;
  const key = keyOf(converting, references.table);
  const type = converting.table.columns.find(({ name }) => name === columns[0])?.type;
  if (key === null || type === undefined || references.columns[0] !== key.name) return false;
  return keyFamily(typeFromColumn(type).data_type) === keyFamily(typeFromColumn(key.type).data_type);
}

/** Checks whether the table is in the managed schema or is one of the service's own. */
const isInReach = (converting: Converting, { schema, table }: NonNullable<CatalogConstraint['references']>): boolean =>
  schema === (isSystemCollection(table) ? null : converting.schema);

interface Key {
  name: string;
  /** Either as format_type writes it, or as in the normal form. */
  type: string;
}

/** Returns the column of a single-column primary key. */
function keyOf({ table, together, state }: Converting, target: string): Key | null {
  const system = REFERABLE_SYSTEM_COLLECTIONS.get(target);
  if (system !== undefined) return { name: system.field, type: system.data_type };
  const found = target === table.name ? table : together.get(target);
  if (found !== undefined) return catalogKey(found);
  const node = state.collections.get(target);
  const [only, ...more] = node === undefined ? [] : primaryKeyOf(node);
  return only?.schema && more.length === 0 ? { name: only.field, type: only.schema.data_type } : null;
}

function catalogKey({ constraints, columns }: CatalogTable): Key | null {
  const key = constraints.find(({ kind }) => kind === 'primary key');
  const [only, ...more] = key?.columns ?? [];
  const column = more.length > 0 ? undefined : columns.find(({ name }) => name === only);
  return column === undefined ? null : { name: column.name, type: column.type };
}
