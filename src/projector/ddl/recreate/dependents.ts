/**
 * Finds what is recreated with generated columns beyond their fields: a primary key, constraints and indexes that
 * name them, and foreign keys that depend on those. PostgreSQL would drop them silently with a column, so they are
 * dropped by name and created again. Objects that are not in the log cause a rejection.
 */
import { extrasOf, type CollectionNode, relationsTo } from '../../../schema/model/state.js';
import { constraintColumns, indexColumns, keyDefinition, targetColumns } from '../../../schema/sql-text/columns.js';
import type { Statement } from '../statement.js';
import type { Change } from '../change.js';
import { type ForeignKeyRelation, hasForeignKey, primaryKeyColumns } from '../create-table.js';
import {
  type Constraint,
  type Index,
  addConstraint,
  createIndex,
  dropConstraint,
  dropIndex,
  isInherited,
} from '../extras.js';
import { refuseUnmanagedDependents } from './unmanaged-dependents.js';
import type { FieldRun } from './runs.js';
import type { DeferredForeignKey } from '../deferred-foreign-keys.js';
import { addPrimaryKey, dropPrimaryKey } from '../parts.js';
import { addForeignKey, dropForeignKey, isInheritedRelation } from '../relation.js';
import { statementsOf } from '../step.js';

export interface Recreation {
  recreatesKey: boolean;
  /** Foreign keys that depend on dropped keys. */
  relations: readonly ForeignKeyRelation[];
  /** Foreign keys that are not relations, and those of the table itself that use a dropped column. */
  references: readonly DeferredForeignKey[];
  drop(): Statement[];
  /** Runs after the columns exist again. Recreates everything but foreign keys. */
  recreate(): Statement[];
}

/**
 * @param dropped columns that the run drops and recreates
 * @param added columns that the run adds at its end
 */
export function recreation(run: FieldRun, dropped: ReadonlySet<string>, added: ReadonlySet<string>): Recreation {
  const names = (columns: Iterable<string>): boolean => [...columns].some((column) => dropped.has(column));
  const { constraints = [], indexes = [] } = extrasOf(run.from);
  const own = constraints.filter(({ definition }) => names(constraintColumns(definition)));
  const kept = own.filter(({ references }) => references === undefined);
  const ownIndexes = indexes.filter(({ definition }) => names(indexColumns(definition)));
  const recreatesKey = names(keyNames(run.from)) || [...keyNames(run.to)].some((column) => added.has(column));
  const uniques = uniqueSets(run.from, { recreatesKey, constraints: kept, indexes: ownIndexes });
  const rests = (columns: readonly string[]): boolean =>
    names(columns) || uniques.some((unique) => columns.every((column) => unique.has(column)));
  const relations = relationsOn(run, rests);
  const references = dropped.size === 0 && !recreatesKey ? [] : [...referencesOn(run, own, rests)];
  return {
    recreatesKey,
    relations,
    references,
    drop: () => [
      ...statementsOf(run.first, [
        ...refuseUnmanagedDependents(run.first, run.from, dropped),
        ...relations.map((relation) => dropForeignKey(run.first, relation)),
      ]),
      ...references.flatMap(({ change, constraint }) => statementsOf(change, [dropConstraint(change, constraint)])),
      ...statementsOf(run.first, [
        ...(recreatesKey ? dropPrimaryKey(run.first, run.from) : []),
        ...kept.map((each) => dropConstraint(run.first, each)),
        ...ownIndexes.map((each) => dropIndex(run.first, each)),
      ]),
    ],
    recreate: () =>
      statementsOf(run.last, [
        ...(recreatesKey ? addPrimaryKey(run.last, run.to) : []),
        ...kept.map((each) => addConstraint(run.last, each)),
        ...ownIndexes.map((each) => createIndex(run.last, each)),
        ...relations.filter((relation) => stands(run, relation)).map((relation) => addForeignKey(run.last, relation)),
      ]),
  };
}

/** The primary key columns, including INCLUDE columns. */
function keyNames(node: CollectionNode): Set<string> {
  const definition = extrasOf(node).primary_key?.definition;
  return new Set([
    ...primaryKeyColumns(node),
    ...(definition === undefined ? [] : keyDefinition(definition).including),
  ]);
}

interface Parts {
  recreatesKey: boolean;
  constraints: readonly Constraint[];
  indexes: readonly Index[];
}

/**
 * Column sets of dropped keys that can support a foreign key. PostgreSQL alone knows which of several equal keys it
 * uses, so any may be the one.
 */
function uniqueSets(node: CollectionNode, { recreatesKey, constraints, indexes }: Parts): ReadonlySet<string>[] {
  return [
    ...(recreatesKey ? [keyNames(node)] : []),
    ...constraints.map(({ definition }) => new Set(keyDefinition(definition).keys)).filter(({ size }) => size > 0),
    ...indexes.filter(({ unique }) => unique === true).map(({ definition }) => indexColumns(definition)),
  ];
}

type Rests = (columns: readonly string[]) => boolean;

function relationsOn({ first: { before, event }, from }: FieldRun, rests: Rests): ForeignKeyRelation[] {
  const key = primaryKeyColumns(from);
  if (key.length === 0 || !rests(key)) return [];
  const relations = relationsTo(before, event.collection).filter(hasForeignKey);
  return relations.filter((relation) => !isInheritedRelation(before, relation));
}

function* referencesOn(run: FieldRun, own: readonly Constraint[], rests: Rests): Generator<DeferredForeignKey> {
  const { first, from } = run;
  for (const [collection, node] of first.before.collections) {
    // The statement concerns the other table but is attributed to the event that requires it.
    const change = { ...first, event: { ...first.event, collection, field: null } } as Change;
    for (const constraint of extrasOf(node).constraints ?? []) {
      const { references, definition } = constraint;
      if (references === undefined || isInherited(change, constraint)) continue;
      const points = references === first.event.collection && rests(targetColumns(definition));
      if (points || (node === from && own.includes(constraint))) yield { change, constraint };
    }
  }
}

/** Checks whether the run keeps the foreign key of the relation. */
const stands = ({ last }: FieldRun, { many_collection, many_field }: ForeignKeyRelation): boolean =>
  hasForeignKey(last.after.collections.get(many_collection)?.relations.get(many_field));
