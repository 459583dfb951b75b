/* Findings about dependents of a changed object, and those that the planning creates directly. */
import { CHANGES_POLICY, LOOSENS_POLICY } from '../../model/policy.js';
import type { Rule, Observation, PlannedEvent, TableStatistics, Dependent, Inheritance } from '../model.js';
import {
  type CollectionNode,
  type ColumnField,
  NEW_IDENTITY,
  fieldNameOf,
  hasColumn,
  sameCollection,
} from '../../model/state.js';
import { levelByUse } from '../levels.js';
import { isRename } from '../../model/events.js';
import { columnType } from '../../sql-text/data-types.js';
import { extraConstraint, fieldAfter } from './common.js';

export const breaksClients: Rule = {
  code: 'BREAKS_CLIENTS',
  level: 'warn',
  title: 'Breaks existing clients',
  what: 'A table or column is renamed, a table moves to another schema, or one of them is dropped while it is in use.',
  why: 'Applications that use the old name or the old schema fail as soon as the change is applied, including those that only read.',
  safer:
    'First deploy applications that do not need it. For a rename, add the new name next to the old one, write both, and delete the old one later.',
  levels:
    '`note` if the statistics show no use of the table, otherwise `warn`. A dropped object is reported only if they show some use; `LOSES_DATA` reports its data.',
  example: { unsafe: 'POST /fields/articles/title/rename {"to": "headline"}' },
  aliases: {
    squawk: ['renaming-column', 'renaming-table', 'ban-drop-column', 'ban-drop-table'],
    strong_migrations: ['rename_column', 'rename_table', 'remove_column'],
    atlas: ['BC101', 'BC102'],
  },
  event(planned) {
    const what = whatOf(planned);
    const statistics = planned.batch.statistics(planned.event.collection);
    if (what === undefined || (!isRename(planned.event) && (statistics?.uses ?? 0) < USED)) return undefined;
    const message = `${what}: applications that use it will fail${useText(statistics)}`;
    return { message, level: levelByUse(statistics), statistics: statistics ?? null, ...locationAfter(planned) };
  },
};

function whatOf(planned: PlannedEvent): string | undefined {
  const { event } = planned;
  const verb = VERBS.get(event.type);
  if (verb === undefined || planned.batch.isNew(event.collection) || !isThere(planned)) return undefined;
  const what = event.field === null ? `table ${event.collection}` : `column ${event.collection}.${event.field}`;
  if (event.type === 'collection.renamed') return moveOf(planned) ?? `${verb} ${what} to ${event.data.to}`;
  return 'to' in event.data ? `${verb} ${what} to ${event.data.to}` : `${verb} ${what}`;
}

/** Describes the move of a table to another schema. Undefined if the table stays in its schema. */
function moveOf({ event, before, batch }: PlannedEvent): string | undefined {
  if (event.type !== 'collection.renamed') return undefined;
  const [from, to] = [before, batch.after.collections.get(event.data.to)].map((node) => node?.collection.schema);
  if (!from || !to || from.schema === to.schema) return undefined;
  return `move table ${event.collection} to ${to.schema === undefined ? 'the default schema' : `schema ${to.schema}`}`;
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['collection.deleted', 'drop'],
  ['collection.renamed', 'rename'],
  ['field.deleted', 'drop'],
  ['field.renamed', 'rename'],
]);

/**
 * A table with fewer scans and written rows is probably unused by applications. An administrator's manual queries stay
 * below this number.
 */
const USED = 100;

/** True if the event is about a table or column. False if its object exists only in the metadata. */
const isThere = ({ event, before, formerField }: PlannedEvent): boolean =>
  event.field === null ? before?.collection.schema != null : hasColumn(before?.fields.get(formerField));

/** Returns the new name of a renamed object, because a diff lists the object under that name. */
function locationAfter({ event }: PlannedEvent): Partial<Observation> {
  if (event.type === 'collection.renamed') return { collection: event.data.to };
  return event.type === 'field.renamed' ? { field: event.data.to } : {};
}

function useText(statistics: TableStatistics | undefined): string {
  const uses = statistics?.uses ?? null;
  if (uses === null) return '';
  return uses === 0 ? ' (the statistics count no use of its table)' : ' (the statistics count use of its table)';
}

export const neededElsewhere: Rule = {
  code: 'NEEDED_ELSEWHERE',
  level: 'danger',
  title: 'A view or function depends on it',
  what: 'A view, rule, policy or function that is not part of the schema depends on an object that is deleted or renamed, or whose type changes.',
  why: 'PostgreSQL does not drop an object that a view depends on, or change its type. After a rename the view keeps working and keeps the old column name.',
  safer:
    'Drop the view, apply the change and create the view again by hand, or first change the view so that it no longer depends on the object.',
  levels: '`danger` if PostgreSQL rejects the change, `note` for a rename.',
  event(planned) {
    const { event, batch } = planned;
    const change = changeOf(planned);
    if (change === undefined) return undefined;
    // The plan itself recreates managed objects. A policy has no columns that could keep an old name.
    const dependents = batch
      .dependents(event.collection)
      .filter(({ isManaged, kind }) => !isManaged || (isRename(event) && kind !== 'policy'));
    const needing = namesOf(dependents, change.column);
    if (needing.length === 0) return undefined;
    return {
      message: `${change.what}: ${listDependents(needing)}${describeConsequence(change, needing.length)}`,
      ...change.location,
    };
  },
};

/** Maximum number of names in a sentence. */
const NAMED = 6;

/**
 * Lists dependents as `view sales_by_store`. Each is listed once, although it may depend on several columns of a table.
 */
function namesOf(dependents: readonly Dependent[], column: string | null): string[] {
  const needing = dependents.filter((each) => column === null || each.column === column);
  return [...new Set(needing.map(({ kind, name }) => `${kind} ${name}`))];
}

const listDependents = (names: readonly string[]): string =>
  `${listNames(names)} ${names.length === 1 ? 'needs' : 'need'} it`;

function listNames(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = more > 0 ? [...names.slice(0, NAMED), `${more} more`] : names;
  const last = shown.at(-1) ?? '';
  return shown.length === 1 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}

interface Change {
  what: string;
  /** The name of the column in the database. Null for the whole table. */
  column: string | null;
  location: Partial<Observation>;
}

function changeOf(planned: PlannedEvent): Change | undefined {
  const { event, before, formerField } = planned;
  const { collection, field } = event;
  if (event.type === 'collection.deleted') return { what: `drop table ${collection}`, column: null, location: {} };
  if (event.type === 'collection.renamed')
    return {
      what: moveOf(planned) ?? `rename table ${collection}`,
      column: null,
      location: { level: 'note', collection: event.data.to },
    };
  if (!hasColumn(before?.fields.get(formerField))) return undefined;
  const ofColumn = { column: formerField, location: {} };
  if (event.type === 'field.deleted') return { what: `drop column ${collection}.${field}`, ...ofColumn };
  if (event.type === 'field.renamed')
    return {
      what: `rename column ${collection}.${field}`,
      ...ofColumn,
      location: { level: 'note', field: event.data.to },
    };
  return isRetyped(planned) ? { what: `alter column ${collection}.${field}`, ...ofColumn } : undefined;
}

function isRetyped(planned: PlannedEvent): boolean {
  const { event, before, formerField } = planned;
  const [old, now] = [before?.fields.get(formerField), fieldAfter(planned, event)];
  const isUpdate = event.type === 'field.updated' && hasColumn(old) && hasColumn(now);
  return isUpdate && typeAndCollation(old) !== typeAndCollation(now);
}

/** PostgreSQL changes both with ALTER COLUMN … TYPE. */
const typeAndCollation = ({ schema }: Pick<ColumnField, 'schema'>): string =>
  JSON.stringify([columnType(schema), schema.extras?.collation]);

function describeConsequence({ location }: Change, count: number): string {
  const isOne = count === 1;
  if (location.level === 'note')
    return `, and ${isOne ? 'keeps' : 'keep'} the old name in ${isOne ? 'its' : 'their'} own columns`;
  return `, so PostgreSQL rejects it (${isOne ? 'it is' : 'they are'} not part of the schema)`;
}

export const inherited: Rule = {
  code: 'INHERITED',
  level: 'danger',
  title: 'A parent table determines it',
  what: 'A column or a CHECK constraint that a table inherits from another table is deleted, renamed or changed in the inheriting table only. Partitions inherit too. A change to a parent table also has this finding if PostgreSQL does not accept its effect on the inheriting tables: a column that they inherit from several tables is renamed or changes its type, a new column has the name but not the type of one of their columns, one of their relations loses its column or no longer fits, or they prevent the table from being deleted. The service does not delete a table that has partitions that it does not manage.',
  why: 'PostgreSQL rejects the whole change. It changes inherited columns and constraints only together with those of the parent table, renames or retypes a column only if no other table determines it, and does not drop a table from which other tables inherit, except partitions.',
  safer:
    'Change the parent table, which changes the inheriting tables too. Delete the inheriting tables before their parent. If the service does not manage the parent, change it by hand and accept the drift. If a table has several parents, detach it with SQL, change the parents, and attach it again.',
  event: (planned) => [
    ...inheritedChanges(planned).flatMap((each) => onlyInChild(planned, each)),
    ...withoutChildren(planned),
    ...otherTypesInChildren(planned),
  ],
};

/** Reports a deleted table from which other tables inherit. A managed partition is reported as a problem instead. */
function withoutChildren({ event, before, batch }: PlannedEvent): Observation[] {
  if (event.type !== 'collection.deleted' || before === undefined) return [];
  const remains = ({ child, isPartition }: Inheritance): boolean => {
    const node = batch.before.collections.get(child);
    return node === undefined || (!isPartition && sameCollection(batch.after, node) !== undefined);
  };
  const children = batch.children(before.collection.collection).filter(remains);
  const namesOf = (arePartitions: boolean): string[] =>
    children.filter(({ isPartition }) => isPartition === arePartitions).map(({ childName }) => childName);
  const what = `drop table ${event.collection}:`;
  return [...inheritingTables(what, namesOf(false)), ...remainingPartitions(what, namesOf(true))];
}

function inheritingTables(what: string, names: readonly string[]): Observation[] {
  if (names.length === 0) return [];
  const [verb, object] = names.length === 1 ? ['inherits', 'it'] : ['inherit', 'them'];
  const message = `${what} ${listNames(names)} ${verb} from it, so PostgreSQL rejects it. Delete ${object} first, with SQL if the service does not manage ${object}.`;
  return [{ message }];
}

function remainingPartitions(what: string, names: readonly string[]): Observation[] {
  if (names.length === 0) return [];
  const [noun, object] = names.length === 1 ? ['partition', 'it'] : ['partitions', 'them'];
  const message = `${what} it has the ${noun} ${listNames(names)}, which the service does not manage, so the service rejects it. Detach or drop ${object} with SQL first.`;
  return [{ message }];
}

/** PostgreSQL merges a new column with that of a child if both have the same type. */
function otherTypesInChildren({ event, before, after, batch }: PlannedEvent): Observation[] {
  const column = event.type === 'field.created' ? after?.fields.get(event.field ?? '') : undefined;
  if (before === undefined || !hasColumn(column)) return [];
  const differs = ({ child }: Inheritance): boolean => {
    const node = batch.before.collections.get(child);
    const own = node && sameCollection(batch.after, node)?.fields.get(column.field);
    return hasColumn(own) && typeAndCollation(own) !== typeAndCollation(column);
  };
  const children = batch.children(before.collection.collection).filter(differs);
  if (children.length === 0) return [];
  const names = listNames(children.map(({ childName }) => childName));
  const what = children.length === 1 ? `${names} has` : `${names} have`;
  const message = `add column ${event.collection}.${column.field}: ${what} a column with this name but another type, so PostgreSQL rejects it. Use the same type.`;
  return [{ message }];
}

function onlyInChild(planned: PlannedEvent, { what, kind, object, ...change }: InheritedChange): Observation[] {
  const parents = parentsThat(planned, change.isOf);
  if (parents.length === 0 || parents.some((each) => follows(each, planned, change))) return [];
  const names = namesOfParents(parents);
  const verb = parents.every(({ isPartition }) => isPartition) ? 'is a partition of' : 'inherits it from';
  const table = JSON.stringify(planned.event.collection);
  const message = `${what}: ${table} ${verb} ${names}, so PostgreSQL rejects it. Change the ${kind} of ${names} instead.`;
  return [{ message, ...object }];
}

const namesOfParents = (parents: readonly Inheritance[]): string =>
  [...new Set(parents.map(({ parentName }) => parentName))].join(' and ');

/** A change that PostgreSQL makes in an inheriting table only if the parent table changes in the same way. */
interface InheritedChange {
  what: string;
  kind: 'column' | 'constraint';
  object: Partial<Observation>;
  /** True if the parent determines the object. */
  isOf: (parent: Inheritance) => boolean;
  /** True if the batch makes the same change in this managed parent. */
  isFollowed: (before: CollectionNode, after: CollectionNode) => boolean;
}

function inheritedChanges(planned: PlannedEvent): InheritedChange[] {
  const { event, before, formerField } = planned;
  if (event.type === 'collection.updated') return droppedConstraints(planned);
  const column = before?.fields.get(formerField);
  if (!hasColumn(column)) return [];
  const what = changeOf(planned)?.what;
  const isOf = ({ columns }: Inheritance): boolean => columns.includes(formerField);
  const inParent = (old: CollectionNode, now: CollectionNode) => sameField(old, now, formerField);
  if (event.type === 'field.deleted')
    return [{ ...columnChange(what), isOf, isFollowed: (old, now) => !hasColumn(inParent(old, now)) }];
  if (event.type === 'field.renamed') {
    const { to } = event.data;
    return [{ ...columnChange(what, { field: to }), isOf, isFollowed: (old, now) => inParent(old, now)?.field === to }];
  }
  const field = event.type === 'field.updated' ? fieldAfter(planned, event) : undefined;
  return hasColumn(field) ? alteredColumn(planned, [column, field]) : [];
}

function droppedConstraints({ event, before, after: now }: PlannedEvent): InheritedChange[] {
  return (before?.collection.schema?.extras?.constraints ?? [])
    .filter(({ name, definition }) => extraConstraint(now, name) !== definition)
    .map(({ name, definition }) => ({
      what: `drop constraint ${name} of ${event.collection}`,
      kind: 'constraint',
      object: { object: { kind: 'constraint', name } },
      isOf: ({ checks }) => checks.includes(name),
      isFollowed: (_, parent) => extraConstraint(parent, name) !== definition,
    }));
}

function alteredColumn(
  { event, formerField }: PlannedEvent,
  [old, now]: [ColumnField, ColumnField],
): InheritedChange[] {
  const change = columnChange(`alter column ${event.collection}.${event.field}`);
  const schemaIn = (before: CollectionNode, after: CollectionNode) => sameField(before, after, formerField)?.schema;
  const valuesOf = ({ schema }: Pick<ColumnField, 'schema'>): string =>
    JSON.stringify([typeAndCollation({ schema }), schema.generation_expression]);
  if (valuesOf(old) !== valuesOf(now)) {
    const isFollowed: InheritedChange['isFollowed'] = (...nodes) => {
      const schema = schemaIn(...nodes);
      return schema != null && valuesOf({ schema }) === valuesOf(now);
    };
    return [{ ...change, isOf: ({ columns }) => columns.includes(formerField), isFollowed }];
  }
  if (!now.schema.is_nullable || old.schema.is_nullable) return [];
  const isFollowed: InheritedChange['isFollowed'] = (...nodes) => schemaIn(...nodes)?.is_nullable === true;
  return [{ ...change, isOf: ({ notNull }) => notNull.includes(formerField), isFollowed }];
}

const columnChange = (what = '', object: Partial<Observation> = {}) => ({ what, kind: 'column' as const, object });

const parentsThat = ({ before, batch }: PlannedEvent, isOf: InheritedChange['isOf']): Inheritance[] =>
  before === undefined ? [] : batch.parents(before.collection.collection).filter(isOf);

/** True if the batch makes the same change in the parent, or in an ancestor from which the parent gets it. */
function follows(
  { parent }: Inheritance,
  planned: PlannedEvent,
  change: Pick<InheritedChange, 'isOf' | 'isFollowed'>,
): boolean {
  const { batch } = planned;
  const before = batch.before.collections.get(parent);
  const now = before === undefined ? undefined : sameCollection(batch.after, before);
  if (before !== undefined && now !== undefined && change.isFollowed(before, now)) return true;
  return batch.parents(parent).some((each) => change.isOf(each) && follows(each, planned, change));
}

function sameField(before: CollectionNode, after: CollectionNode, field: string) {
  const name = fieldNameOf(after, before.identities.fields.get(field) ?? NEW_IDENTITY);
  return name === undefined ? undefined : after.fields.get(name);
}

/* Findings that planning creates directly: about the trash, names, preparations and the policy. */

const dataRestored: Rule = {
  code: 'DATA_RESTORED',
  level: 'note',
  shownOnly: true,
  title: 'Data is restored',
  what: 'The created object is in the trash and is restored with its rows.',
  why: 'Applications see the rows as they were before the deletion.',
  safer: 'To start with an empty object, purge it from the trash first.',
};

const dataNotRestored: Rule = {
  code: 'DATA_NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Data is not restored',
  what: 'A table or column with this name had data before. It is created without that data, which is permanently deleted or does not fit. Values of a restored field also have this finding if their row was deleted or its primary key was updated.',
  why: 'The schema looks as before, but applications find no data in it.',
  safer: 'Restore it from the trash while it is there, or from a backup.',
};

const rowsInTheWay: Rule = {
  code: 'ROWS_IN_THE_WAY',
  level: 'warn',
  shownOnly: true,
  title: 'Existing rows violate it',
  what: 'Existing rows contain null in a column that becomes NOT NULL, or have no target for a new foreign key.',
  why: 'The whole change fails while such rows exist.',
  safer:
    'Fill the rows in the same change: `backfill`, or "Fill rows without a value with" in the form of the field. Otherwise update or delete the rows first, or remove the entry from the diff.',
};

const dataNotKept: Rule = {
  code: 'DATA_NOT_KEPT',
  level: 'danger',
  title: 'Not kept in the trash',
  what: 'The trash does not keep a deleted object, because it cannot or the request has `purge`, or a request purges it from the trash. The message gives the reason.',
  why: 'The object is permanently deleted when the change is applied. Only a backup can restore it.',
  safer:
    'Omit `purge`. If the message suggests an online change, send one, so that the service can copy the rows beforehand. Otherwise, remove the named obstacle.',
};

const notRestored: Rule = {
  code: 'NOT_RESTORED',
  level: 'warn',
  shownOnly: true,
  title: 'Not restored with it',
  what: 'An object that belonged to the restored object is not restored: its other side is deleted, or its name is in use.',
  why: 'The restored object is incomplete.',
  safer: 'Create the named relation, group or key again if it is still needed.',
};

const leavesPublication: Rule = {
  code: 'LEAVES_PUBLICATION',
  level: 'warn',
  title: 'Leaves a publication',
  what: 'A table that moves to the trash is removed from its publications.',
  why: 'Subscribers no longer receive its rows, even after it is restored.',
  safer: 'After a restore, add it again: `ALTER PUBLICATION … ADD TABLE`.',
};

const actsWhilePrepared: Rule = {
  code: 'ACTS_WHILE_PREPARED',
  level: 'warn',
  shownOnly: true,
  title: 'Takes effect before the change',
  what: 'An online change applies to new rows as soon as its preparation starts.',
  why: 'Writes that violate the new rule fail before the schema shows it.',
  safer: 'Make sure that applications follow the rule before the preparation starts.',
};

const looksRenamed: Rule = {
  code: 'LOOKS_RENAMED',
  level: 'warn',
  shownOnly: true,
  title: 'Looks like a rename',
  what: 'An object is deleted and one with the same definition is created.',
  why: 'The data is deleted, and the new object is empty.',
  safer: 'Set `renamed_from` in the snapshot, as the message shows, or rename the object. Both keep the data.',
  example: {
    unsafe: 'a snapshot without `articles`, but with `posts`, which has the same fields',
    safe: '{"collection": "posts", "renamed_from": "articles"}',
  },
};

const nameStillUsed: Rule = {
  code: 'NAME_STILL_USED',
  level: 'warn',
  title: 'An old name is still used',
  what: 'The old name of a renamed object is still used in an option, a condition or a function body.',
  why: 'PostgreSQL and the service cannot rewrite it there. Its next use fails.',
  safer: 'Change the named locations together with the rename.',
  aliases: { strong_migrations: ['rename_column', 'rename_table'] },
};

const renamedFromNothing: Rule = {
  code: 'RENAMED_FROM_NOTHING',
  level: 'note',
  shownOnly: true,
  title: 'The old name does not exist',
  what: 'A snapshot sets `renamed_from` to a name that does not exist. The object is created.',
  why: 'That is intended in an empty environment. In other environments, the old name may be misspelled.',
  safer: 'Check the spelling of the old name.',
};

const loosensPolicy: Rule = {
  code: LOOSENS_POLICY,
  level: 'warn',
  title: 'Loosens the policy',
  what: 'The new policy may allow a change that the current policy blocks. The message lists the locations.',
  why: 'Anyone who can loosen the policy can apply any change that it should block.',
  safer:
    'Open a change request for the new policy (`POST /changes` with `policy`, or `dps policy propose`), so that others see it first.',
  levels: 'The member `policy_changes` of the current policy decides what such a change requires.',
  example: { unsafe: 'PUT /policy {"approvals": 1}, where it was 2', safe: 'PUT /policy {"approvals": 3}' },
};

const changesPolicy: Rule = {
  code: CHANGES_POLICY,
  level: 'note',
  title: 'Changes the policy',
  what: 'The new policy is at least as strict as the current policy.',
  why: 'The policy may block changes that it allowed before.',
  safer:
    'Open a change request for the new policy (`POST /changes` with `policy`, or `dps policy propose`), so that others see it first.',
  levels: 'The member `policy_changes` of the current policy decides what such a change requires.',
};

export const NOTICED: readonly Rule[] = [
  dataRestored,
  dataNotRestored,
  rowsInTheWay,
  dataNotKept,
  notRestored,
  leavesPublication,
  actsWhilePrepared,
  looksRenamed,
  nameStillUsed,
  renamedFromNothing,
  loosensPolicy,
  changesPolicy,
];
