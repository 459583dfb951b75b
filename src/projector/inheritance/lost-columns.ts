/** The columns and constraints that PostgreSQL drops from inheriting tables together with those of their parents. */
import { type Problem, problemAbout, type Warning } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import type { LogEvent } from '../../schema/model/events.js';
import { type State, NEW_IDENTITY, getField, hasColumn, memberKey } from '../../schema/model/state.js';
import { dropField } from '../../schema/transition/cascade.js';
import { Draft } from '../../schema/transition/draft.js';
import type { Descendant, ParentColumn } from '../catalog/deletion-facts.js';

/** An event and the column that it changes, by its names before the batch. */
interface RequestedChange {
  event: LogEvent;
  before: ParentColumn;
}

/** `table` is the name of a collection, or that of a table that the service does not manage. */
export interface LostColumn extends ParentColumn {
  /** The parent table whose column the batch deletes. */
  of: string;
}

/**
 * Finds columns that PostgreSQL drops from descendants. A descendant keeps a column that it also defines itself or
 * inherits from another parent.
 */
export function findLostColumns(
  requested: readonly RequestedChange[],
  descendants: readonly Descendant[],
): LostColumn[] {
  const columnOf = ({ place }: Descendant): string => requested[place]?.before.column ?? '';
  const having = descendants.filter(
    (each) => each.parents !== null && requested[each.place]?.event.type === 'field.deleted',
  );
  const left = new Map<string, number>();
  const held = ({ parents, isLocal }: Descendant) => ({ parents: parents ?? 0, isLocal: isLocal === true });
  return filterLosing(having, { columnOf, held, left }).map((each) => ({
    table: each.table ?? each.name,
    column: columnOf(each),
    of: requested[each.place]?.before.table ?? '',
  }));
}

export interface ReachContext {
  columnOf: (descendant: Descendant) => string;
  /** Returns how many parents give the descendant what is dropped, and whether it also defines that itself. */
  held: (descendant: Descendant) => { parents: number; isLocal: boolean };
  /** For each descendant, the number of parents that still provide the column or constraint. */
  left: Map<string, number>;
}

/**
 * Returns the descendants that lose something only their parents gave them. Each one comes after all of its parents.
 */
export function filterLosing(descendants: readonly Descendant[], { columnOf, held, left }: ReachContext): Descendant[] {
  const dropped = new Set(descendants.map((each) => `${each.root} ${columnOf(each)}`));
  // The same link may appear at several depths, and one child can inherit several columns of the batch.
  const links = new Map<string, Descendant>();
  for (const each of descendants) {
    const link = `${each.parent} ${each.oid} ${columnOf(each)}`;
    links.delete(link);
    links.set(link, each);
  }
  return [...links.values()].filter((each) => {
    const key = `${each.oid} ${columnOf(each)}`;
    if (!dropped.has(`${each.parent} ${columnOf(each)}`)) return false;
    const { parents, isLocal } = held(each);
    const rest = (left.get(key) ?? parents) - 1;
    left.set(key, rest);
    if (rest > 0 || isLocal || dropped.has(key)) return false;
    dropped.add(key);
    return true;
  });
}

/** The states before and after a batch, and its events. */
interface FollowedBatch {
  before: State;
  after: State;
  events: readonly LogEvent[];
}

/** Deletes the fields that PostgreSQL drops and the batch does not delete. */
export function withoutLost({ before, after, events }: FollowedBatch, lost: readonly LostColumn[]) {
  const draft = new Draft(after);
  const warnings: Warning[] = [];
  const problems: Problem[] = [];
  if (lost.length === 0) return { draft, warnings, problems };
  const created = new Set(
    events.flatMap((event) =>
      event.type === 'relation.created' ? [memberKey(event.collection, event.field ?? '')] : [],
    ),
  );
  // A generated column has no values of its own.
  const valued = lost.filter(
    ({ of: parent, column }) => getField(before, parent, column)?.schema?.generation_expression === null,
  );
  const unmanaged = valued.filter(({ table }) => !before.collections.has(table));
  const losing = [
    ...unmanaged.map(({ table, column, of: parent }) => ({ collection: table, field: column, parent })),
    ...keptFields(before, after, valued),
  ];
  for (const { collection, field, parent } of losing) {
    const message = `drop column ${collection}.${field}, which is inherited from ${parent}: data is permanently lost`;
    warnings.push({ code: 'LOSES_DATA', collection, field, message });
  }
  for (const { collection, field, parent } of keptFields(before, after, lost)) {
    dropField(draft, after, collection, field);
    if (created.has(memberKey(collection, field)))
      problems.push(createLostRelationProblem({ collection, field, parent }));
  }
  return { draft, warnings, problems };
}

interface KeptField {
  collection: string;
  field: string;
  parent: string;
}

/** Returns the fields of lost columns that exist after the batch, by their names at that time. */
function keptFields(before: State, after: State, lost: readonly LostColumn[]): KeptField[] {
  const names = new Map([...after.collections].map(([name, { identities }]) => [identities.collection, name]));
  return lost.flatMap(({ table, column, of: parent }) => {
    const { identities } = before.collections.get(table) ?? {};
    const collection = names.get(identities?.collection ?? NEW_IDENTITY) ?? '';
    const fields = [...(after.collections.get(collection)?.identities.fields ?? [])];
    const [field] = fields.find(([, identity]) => identity === identities?.fields.get(column)) ?? [];
    return field !== undefined && hasColumn(getField(after, collection, field)) ? [{ collection, field, parent }] : [];
  });
}

function createLostRelationProblem({ collection, field, parent }: KeptField): Problem {
  const message =
    `${quoteName(field)} of ${quoteName(collection)} cannot get a relation: PostgreSQL drops the column together with ` +
    `that of ${quoteName(parent)}, from which it is inherited. Keep the column of ${quoteName(parent)}, or leave out the relation.`;
  return problemAbout({ kind: 'relation', collection, field }, message);
}
