/** Creates the events for managed child tables whose columns PostgreSQL changes together with those of the parent. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import { type Problem, problemAbout } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import { changedAttributes } from '../ddl/alter-column.js';
import { isComputedAlike, isGenerated } from '../ddl/recreate.js';
import type { Descendant } from '../catalog/deletion-facts.js';
import type { RunningFold } from '../../schema/fold/evolve.js';
import { patchBetween } from '../../schema/fold/rename-events.js';
import { type LogEvent, type NewEvent, isAdopted, newEvent } from '../../schema/model/events.js';
import { type ColumnExtras, isIdentity, isSerial } from '../../schema/model/extras.js';
import type { Collection, ColumnSchema, Field, TableSchema } from '../../schema/model/model.js';
import { needLabel, needsOfNode, withOwner } from '../../schema/model/order.js';
import {
  type CollectionNode,
  type ColumnField,
  byName,
  extrasOf,
  extrasOfTable,
  hasColumn,
} from '../../schema/model/state.js';
import { readNewField } from '../../schema/normal-form/index.js';
import { parseConstraint } from '../../schema/sql-text/definitions.js';
import { type Constraint, withExtras, withNeeds } from '../../schema/transition/cascade.js';
import { renameEvent } from '../../schema/transition/renames.js';

/** A table that inherits a changed column. */
interface Child {
  /** The current name of the inheriting table. */
  table: string;
  descendant: Descendant;
  folding: RunningFold;
  parent: Parent;
  /** True if the parent's column becomes nullable. */
  becomesNullable: boolean;
  /** True if PostgreSQL drops the generated column with that of the parent, and creates it again. */
  isRecreated: boolean;
  /** True if PostgreSQL drops this CHECK constraint with that of the parent. */
  losesCheck: (name: string) => boolean;
}

/** The event of the parent, and its collection before and after it. */
export interface Parent {
  event: NewEvent;
  before: CollectionNode | undefined;
  now: CollectionNode | undefined;
}

interface Consequences {
  events: LogEvent[];
  problems: Problem[];
}

const NONE: Consequences = { events: [], problems: [] };

export function eventsOf(child: Child): Consequences {
  const { event, before, now } = child.parent;
  if (before === undefined || now === undefined || !isManaged(child)) return NONE;
  if (event.type === 'field.renamed') return inheritFieldRename(child, event);
  if (event.type === 'collection.updated') return { ...NONE, events: updateInheritedChecks(child) };
  if (event.type !== 'field.created' && event.type !== 'field.updated') return NONE;
  const [old, field] = [before, now].map(({ fields }) => fields.get(event.field ?? ''));
  return hasColumn(field) ? inheritColumn(child, old, field) : NONE;
}

/** The log has no events about other tables. */
const isManaged = ({ folding, table }: Child): boolean => folding.node(table)?.collection.schema != null;

const inheritColumn = (child: Child, old: Field | undefined, now: ColumnField): Consequences =>
  hasColumn(old) ? inheritFieldUpdate(child, old, now) : inheritNewField(child, now);

/** Creates the events for a new column of the parent. A table that already has the column keeps its own definition. */
function inheritNewField(child: Child, field: ColumnField): Consequences {
  const { table, descendant, folding } = child;
  const own = folding.field(table, field.field);
  if (own === undefined) return createInheritedField(child, field);
  if (!hasColumn(own)) return { ...NONE, problems: [createNameTakenProblem(child, field.field)] };
  if (!descendant.takesNotNull || field.schema.is_nullable || !own.schema.is_nullable) return NONE;
  return { ...NONE, events: update(own, { ...own, schema: { ...own.schema, is_nullable: false } }) };
}

function createInheritedField(child: Child, { field, type, schema }: ColumnField): Consequences {
  const { table, folding } = child;
  const { collation, default: expression, precision, virtual } = schema.extras ?? {};
  const column = {
    ...schema,
    is_unique: false,
    is_indexed: false,
    is_primary_key: false,
    comment: null,
    extras: withoutMissing({ collation, default: expression, precision, virtual }),
  };
  const meta = { sort: (folding.node(table)?.fields.size ?? 0) + 1 };
  const read = readNewField({ collection: table, field, type, meta, schema: column }, [], { imported: false });
  if (!read.ok) return { ...NONE, problems: [...read.problems] };
  const event = newEvent('field.created', table, field, { field: read.value, adopted: true });
  return { ...NONE, events: [...updateNeeds(child, namesUsed(schema)), event] };
}

function inheritFieldUpdate(child: Child, old: ColumnField, now: ColumnField): Consequences {
  const own = child.folding.field(child.table, now.field);
  if (!hasColumn(own)) return NONE;
  const attributes = readInheritedAttributes(child, old, now);
  const type = attributes.includes('type') ? now.type : own.type;
  const next: Field = { ...own, type, schema: inheritedSchema(own, now, attributes) };
  return {
    ...NONE,
    events: jsonEqual(own, next) ? [] : [...updateNeeds(child, namesUsed(now.schema)), ...update(own, next)],
  };
}

interface Members {
  schema: readonly (keyof ColumnSchema)[];
  extras: readonly (keyof ColumnExtras)[];
}

const ATTRIBUTES = {
  type: {
    schema: ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'],
    extras: ['precision', 'collation'],
  },
  default: { schema: ['default_value'], extras: ['default'] },
  nullability: { schema: ['is_nullable'], extras: [] },
  generation: { schema: ['generation_expression'], extras: ['virtual'] },
} as const satisfies Record<string, Members>;

type Attribute = keyof typeof ATTRIBUTES;

function readInheritedAttributes(child: Child, old: ColumnField, now: ColumnField): Attribute[] {
  const { descendant, becomesNullable, isRecreated } = child;
  if (recreatesColumn(old, now)) {
    if (isRecreated) return Object.keys(ATTRIBUTES) as Attribute[];
    return descendant.takesNotNull && !now.schema.is_nullable ? ['nullability'] : [];
  }
  const staysNotNull = now.schema.is_nullable && !becomesNullable;
  return [
    ...(old.schema.generation_expression === now.schema.generation_expression ? [] : (['generation'] as const)),
    ...[...changedAttributes(old, now)].filter((each) => each !== 'nullability' || !staysNotNull),
  ];
}

/** True if PostgreSQL drops the generated column and creates it again, because it cannot change it. */
export const recreatesColumn = (old: ColumnField, now: ColumnField): boolean =>
  isGenerated(old) && isGenerated(now) && (!isComputedAlike(old, now) || changedAttributes(old, now).has('type'));

function inheritedSchema(own: ColumnField, now: ColumnField, attributes: readonly Attribute[]): ColumnSchema {
  const taken: Members[] = attributes.map((each) => ATTRIBUTES[each]);
  const schema = { ...own.schema };
  for (const name of taken.flatMap((each) => each.schema)) Object.assign(schema, { [name]: now.schema[name] });
  const extras = { ...own.schema.extras };
  for (const name of taken.flatMap((each) => each.extras)) Object.assign(extras, { [name]: now.schema.extras?.[name] });
  if (schema.is_nullable) delete extras.not_null_name;
  if (attributes.includes('default')) schema.has_auto_increment = isIdentity(own.schema) || isSerial({ extras });
  const { extras: _, ...rest } = schema;
  const kept = withoutMissing(extras);
  return Object.keys(kept).length === 0 ? rest : { ...rest, extras: kept };
}

const withoutMissing = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

const namesUsed = ({ data_type, generation_expression, extras }: ColumnSchema): string =>
  [data_type, generation_expression, extras?.default, extras?.collation].join(' ');

function updateNeeds(child: Child, used: string): LogEvent[] {
  const own = child.folding.node(child.table)?.collection;
  return own?.schema ? update(own, { ...own, schema: withParentsNeeds(child, own.schema, used) }) : [];
}

/** Adds the types and sequences of the parent that an expression uses and that the child does not list. */
function withParentsNeeds({ parent }: Child, schema: TableSchema, used: string): TableSchema {
  const needs = needsOfNode(parent.now)
    .filter(({ name }) => used.includes(name))
    .map((need) => withOwner(need, undefined));
  return withNeeds(schema, { comment: null, extras: { needs } });
}

/**
 * Creates the event for CHECK constraints that the parent lost or got. PostgreSQL merges constraints with the same
 * name.
 */
function updateInheritedChecks(child: Child): LogEvent[] {
  const { table, folding, parent, losesCheck } = child;
  const own = folding.node(table)?.collection;
  if (!own?.schema) return [];
  const { oldOnly, newOnly } = changedChecks(parent);
  const lost = new Set(oldOnly.map(({ name }) => name).filter(losesCheck));
  const kept = (extrasOfTable(own.schema).constraints ?? []).filter(({ name }) => !lost.has(name));
  const added = newOnly.filter(({ name }) => !kept.some((each) => each.name === name));
  const schema = withConstraints(own.schema, [...kept, ...added]);
  const used = added.map(({ definition }) => definition).join(' ');
  return update(own, { ...own, schema: withParentsNeeds(child, schema, used) });
}

const withConstraints = (schema: TableSchema, constraints: readonly Constraint[]): TableSchema =>
  withExtras(schema, {
    ...schema.extras,
    constraints: [...constraints].sort((one, other) => byName(one.name, other.name)),
  });

/** Returns the CHECK constraints without NO INHERIT that differ. */
export function changedChecks({
  before,
  now,
}: Pick<Parent, 'before' | 'now'>): Record<'oldOnly' | 'newOnly', Constraint[]> {
  const [old = [], next = []] = [before, now].map((node) =>
    (extrasOf(node).constraints ?? []).filter(({ definition }) => {
      const parsed = parseConstraint(definition);
      return typeof parsed !== 'string' && parsed.isInherited === true;
    }),
  );
  const findMissing = (from: readonly Constraint[], others: readonly Constraint[]) =>
    from.filter((each) => !others.some((other) => jsonEqual(each, other)));
  return { oldOnly: findMissing(old, next), newOnly: findMissing(next, old) };
}

function inheritFieldRename(child: Child, event: Extract<NewEvent, { type: 'field.renamed' }>): Consequences {
  const { table, folding } = child;
  const [from, { to }] = [event.field ?? '', event.data];
  if (!hasColumn(folding.field(table, from))) return NONE;
  if (folding.field(table, to) !== undefined) return { ...NONE, problems: [createNameTakenProblem(child, to)] };
  const { event: own } = renameEvent(folding.state(), { collection: table, field: from, to });
  return { ...NONE, events: [{ ...own, data: { ...own.data, inherited: true } } as LogEvent] };
}

/** @returns the event that records a change that PostgreSQL has already made to a field or collection */
function update(own: Field | Collection, next: Field | Collection): LogEvent[] {
  const patch = patchBetween(own, next);
  if (patch.length === 0) return [];
  const data = { patch, adopted: true };
  return [
    'field' in own
      ? newEvent('field.updated', own.collection, own.field, data)
      : newEvent('collection.updated', own.collection, null, data),
  ];
}

function createNameTakenProblem({ table, parent }: Child, field: string): Problem {
  const { collection } = parent.event;
  const message =
    `Table ${quoteName(table)} inherits from ${quoteName(collection)}, so its column would get the name ${quoteName(field)} too, ` +
    'and a field of it has that name. Rename or delete that field first.';
  return { code: 'ALREADY_EXISTS', message, collection, field };
}

interface RepeatContext {
  /**
   * The collection before the event, as changed by the submitted events only, without changes that follow for children.
   */
  old: CollectionNode | undefined;
  /** The fold of the submitted events up to and including this one. */
  original: RunningFold;
  folding: RunningFold;
  /** Receives the problems. */
  problems: Problem[];
}

/**
 * Returns the event without the part that earlier events and their consequences already did. What the event does not
 * change keeps its current value. Null if nothing remains, or if there is a problem.
 */
export function withoutRepeated(event: LogEvent, repeating: RepeatContext): LogEvent | null {
  const { old, original, folding, problems } = repeating;
  if (isAdopted(event)) return event;
  const problem = renamedFieldProblem(event, repeating);
  if (problem !== null) {
    problems.push(problem);
    return null;
  }
  if (event.type === 'field.updated') {
    const field = event.field ?? '';
    const [now, target] = [folding, original].map((each) => each.field(event.collection, field));
    const before = old?.fields.get(field);
    return now && target && before ? patchEvent(event, now, changedField(now, before, target)) : event;
  }
  return event.type === 'collection.updated' ? withoutRepeatedTable(event, repeating) : event;
}

/** Applies the change to a field to its current document. The members of a type change together. */
function changedField(now: Field, before: Field, target: Field): Field {
  const next = withChanges(now, before, target);
  if (!hasColumn(next) || !hasColumn(now) || !hasColumn(before) || !hasColumn(target)) return next;
  const typed = jsonEqual(typeMembers(before), typeMembers(target)) ? now : target;
  return { ...next, type: typed.type, schema: inheritedSchema(next, typed, ['type']) };
}

const typeMembers = ({ type, schema }: ColumnField): unknown[] => [
  type,
  ...ATTRIBUTES.type.schema.map((name) => schema[name]),
  ...ATTRIBUTES.type.extras.map((name) => schema.extras?.[name]),
];

/** The members `meta` and `schema`, and `extras` of the schema, have members of their own. */
const DEPTH = 2;

/** Applies the difference between two documents to a third. */
function withChanges<T extends object>(now: T, before: T, target: T, depth = DEPTH): T {
  const changed: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(now), ...Object.keys(target)])) {
    const [current, old, wanted] = [now, before, target].map((each) => (each as Record<string, unknown>)[name]);
    const value = jsonEqual(old, wanted) ? current : changedValue({ current, old, wanted }, depth);
    if (value !== undefined) changed[name] = value;
  }
  return changed as T;
}

function changedValue({ current, old, wanted }: Record<'current' | 'old' | 'wanted', unknown>, depth: number): unknown {
  if (depth === 0 || !isObject(current) || !isObject(old) || !isObject(wanted)) return wanted;
  return withChanges(current, old, wanted, depth - 1);
}

/**
 * Reports a change to a field that has another name now, because PostgreSQL renamed its column together with that of the
 * parent.
 */
function renamedFieldProblem(
  { type, collection, field }: LogEvent,
  { old, folding }: Pick<RepeatContext, 'old' | 'folding'>,
): Problem | null {
  if (collection === null || field === null || type === 'field.created') return null;
  if (!hasColumn(old?.fields.get(field)) || folding.field(collection, field) !== undefined) return null;
  const message =
    `PostgreSQL renames ${quoteName(field)} of ${quoteName(collection)} together with the column of the table from which ` +
    'it is inherited. Rename it in the same way, or change it afterwards.';
  return problemAbout({ kind: 'field', collection, field }, message);
}

function withoutRepeatedTable(
  event: Extract<LogEvent, { type: 'collection.updated' }>,
  { old, original, folding }: RepeatContext,
): LogEvent | null {
  const [now, target] = [folding, original].map((each) => each.node(event.collection)?.collection);
  if (!now?.schema || !target?.schema) return event;
  const schema = withFollowed({ wanted: target.schema, old: old?.collection.schema ?? now.schema, now: now.schema });
  return patchEvent(event, now, { ...target, schema });
}

/**
 * Returns the table schema after an event. Constraints and needs that the event does not change keep their current
 * value.
 */
function withFollowed(schemas: Readonly<Record<'wanted' | 'old' | 'now', TableSchema>>): TableSchema {
  const { wanted, old, now } = schemas;
  const merged = <T>(itemsOf: (schema: TableSchema) => readonly T[], keyOf: (item: T) => string): T[] => {
    const [target, before, present] = [wanted, old, now].map(
      (schema) => new Map(itemsOf(schema).map((each) => [keyOf(each), each])),
    );
    return [...new Set([...(target?.keys() ?? []), ...(present?.keys() ?? [])])].flatMap((key) => {
      const isChanged = !jsonEqual(before?.get(key), target?.get(key));
      return (isChanged ? target : present)?.get(key) ?? [];
    });
  };
  const constraints = merged(
    (schema) => extrasOfTable(schema).constraints ?? [],
    ({ name }) => name,
  );
  const needs = merged((schema) => extrasOfTable(schema).needs ?? [], needLabel);
  return withConstraints(withExtras(wanted, { ...wanted.extras, needs }), constraints);
}

function patchEvent<E extends Extract<NewEvent, { type: 'field.updated' | 'collection.updated' }>>(
  event: E,
  now: object,
  target: object,
): E | null {
  return jsonEqual(now, target) ? null : { ...event, data: { ...event.data, patch: patchBetween(now, target) } };
}
