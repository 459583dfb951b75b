/* Prepares a planned batch for the rules: each event with its statements, and the collection before and after. */
import { changesObjects, changesSchema } from '../fold/event-schemas.js';
import { type FormerNames, type NamesBefore, formerNames } from '../fold/former-names.js';
import {
  type LogEvent,
  type NewEvent,
  type ObjectEvent,
  type SchemaEvent,
  readRestored,
  isAdopted,
  isConsequence,
} from '../model/events.js';
import { type ObjectName, isAlwaysThere, isRelation, objectKey, targetOf } from '../model/objects.js';
import { objectNameParts } from '../model/object-ids.js';
import { type State, extrasOf } from '../model/state.js';
import { type Policy, actionsOf, keyOf } from '../policy.js';
import type { Resumable } from '../../kernel/resumable.js';
import {
  type Dependent,
  type Field,
  type FieldChange,
  type IndexedStatement,
  type Inheritance,
  type LocatedEvent,
  type ObjectChange,
  type ReviewedBatch,
  type PlannedEvent,
  type PlannedObjectEvent,
  type RelationChange,
  type TableStatistics,
  type TypeLookup,
  type TypeUse,
  rolesOf,
  typesUsed,
  type PlannedStatement,
  tableOfRows,
  type Finding,
  type Observation,
  type Rule,
} from './model.js';
import { locationText } from '../model/location.js';
import { type GroupLookup, createGathering, purgeFindings } from './finding.js';
import { RULES } from './rules/index.js';

/** A plan before its execution. */
export interface Plan {
  before: State;
  after: State;
  events: readonly LogEvent[];
  statements: readonly PlannedStatement[];
  /** How long the trash would keep deleted objects (milliseconds), if that was not checked yet. */
  keep?: number;
  /** True if slow work is prepared outside the transaction. */
  online?: boolean;
  /** True to check adopted objects and accepted drift as well. */
  adopted?: boolean;
  /** The policy that will judge the findings. */
  policy?: Policy;
  /** The names by which the policy evaluates collections. */
  judgedNames?: NamesBefore;
  /** Findings that must not be grouped, for example `LOSES_DATA:articles.title`. */
  apart?: ReadonlySet<string> | 'every';
}

/** Facts from the database about the tables of a plan, by their names before the plan. */
export interface DatabaseFacts {
  statistics?: ReadonlyMap<string, TableStatistics>;
  dependents?: readonly Dependent[];
  /** The parents of altered tables and of their descendants, and their parents. */
  inheritance?: readonly Inheritance[];
  /** Types and collations that are missing or must not be used. */
  types?: TypeLookup;
  /** Roles of policies and privileges that do not exist on the server. */
  missingRoles?: ReadonlySet<string>;
  /** The privileges on the tables, views, functions, sequences and types that other objects replace. */
  replacedPrivileges?: readonly ObjectName[];
  /** Objects of a table that were deleted together with it, by the position of its deletion. */
  deletedObjects?: ReadonlyMap<number, readonly ObjectName[]>;
}

/** Facts that the rules need from the database. */
export interface DatabaseQuestions {
  /** Tables whose size and use matter. */
  tables: string[];
  /** Tables whose dependents and parents matter. */
  altered: string[];
  /** Types and collations that must exist. Absent if there are none. */
  types?: TypeUse[];
  /** Roles of policies and privileges that must exist. Absent if there are none. */
  roles?: string[];
  /** Positions at which the restored tables were deleted. Absent if there are none. */
  deletions?: number[];
  /** Tables and views whose name a new view takes. Absent if there are none. */
  replaced?: string[];
}

/** True if the event only records what the database already contained. */
const isFound = (event: SchemaEvent): boolean => event.type === 'collection.adopted' || isAdopted(event);

const isJudged = (event: LogEvent, adopted: boolean): event is NewEvent =>
  changesSchema(event) && (adopted || !isFound(event));

/** Rules do not judge the definitions that PostgreSQL itself rewrites. */
const isJudgedObject = (event: LogEvent, adopted: boolean): event is ObjectEvent =>
  changesObjects(event) && !isConsequence(event) && (adopted || !isFound(event));

/** Returns the questions to the database whose answers the rules will need. */
export function* questionsOf({ events, statements, after, adopted = false }: Plan): Resumable<DatabaseQuestions> {
  const former = formerNames();
  const made = new Set<string>();
  const tables = new Set<string>();
  const altered = new Set<string>();
  const types: TypeUse[] = [];
  const roles: string[] = [];
  const nameBefore = (name: string): string => former.collection(name);
  for (const event of events) {
    yield;
    if (isJudged(event, adopted)) {
      if (event.type === 'collection.created') made.add(event.collection);
      else if (isAltering(event)) altered.add(nameBefore(event.collection));
      types.push(...typesUsed(event, after));
    } else if (isJudgedObject(event, adopted)) roles.push(...rolesIn(event, after));
    former.add(event);
  }
  for (const statement of statements) {
    yield;
    for (const { table } of statement.locks) tables.add(nameBefore(table));
    if (statement.locks.length > 0) tables.add(nameBefore(tableOfRows(statement)));
  }
  const affected = { tables: without(tables, made), altered: without(altered, made) };
  const more = { types, roles: [...new Set(roles)], deletions: listDeletions(events), replaced: listReplaced(events) };
  return { ...affected, ...withoutEmpty(more) };
}

/** Returns the names of tables, views, functions, sequences and types that the batch drops, and then creates again as other objects. */
function listReplaced(events: readonly LogEvent[]): string[] {
  const dropped = new Set<string>();
  const created = new Set<string>();
  for (const event of events) {
    if (event.type === 'collection.deleted') dropped.add(event.collection);
    if (!changesObjects(event) || !(isRelation(event.subject) || targetOf(event.subject) !== undefined)) continue;
    const { id } = event.subject;
    // The deletion of a type follows the events of tables.
    if (event.type === 'object.deleted') dropped.add(id);
    else if (event.type === 'object.created') created.add(id);
  }
  return [...created].filter((id) => dropped.has(id));
}

/** Returns the positions at which the restored tables were deleted. */
const listDeletions = (events: readonly LogEvent[]): number[] =>
  events.flatMap((event) =>
    event.type === 'collection.created' && event.data.restored !== undefined ? [event.data.restored.position] : [],
  );

const withoutEmpty = ({
  types,
  roles,
  deletions,
  replaced,
}: Required<Omit<DatabaseQuestions, 'tables' | 'altered'>>) => ({
  ...(types.length > 0 && { types }),
  ...(roles.length > 0 && { roles }),
  ...(deletions.length > 0 && { deletions }),
  ...(replaced.length > 0 && { replaced }),
});

function rolesIn({ subject }: ObjectEvent, after: State): readonly string[] {
  const object = after.objects.get(objectKey(subject))?.object;
  return object === undefined ? [] : rolesOf(object);
}

const ALTERS: ReadonlySet<string> = new Set([
  'collection.deleted',
  'collection.renamed',
  'field.created',
  'field.deleted',
  'field.renamed',
  'field.updated',
]);

/**
 * True if the dependents and parents of the table matter for the event. A change to extras counts, because extras
 * contain the constraints that a table inherits.
 */
const isAltering = (event: NewEvent): boolean =>
  ALTERS.has(event.type) ||
  (event.type === 'collection.updated' && event.data.patch.some(({ path }) => path.startsWith('/schema/extras')));

const without = (names: ReadonlySet<string>, made: ReadonlySet<string>): string[] =>
  [...names].filter((name) => !made.has(name));

/**
 * Yields each event that is judged, and undefined for every other event, so that callers can pause during long batches.
 */
function* plannedEvents(
  plan: Plan,
  facts: DatabaseFacts = {},
): Generator<PlannedEvent | PlannedObjectEvent | undefined, void, void> {
  const { before, after, events, statements, adopted = false } = plan;
  const byEvent = statementsByEvent(statements);
  const made = tablesMade(events);
  const former = formerNames();
  const formerObjects = new Map<string, string>();
  const batch: ReviewedBatch = { before, after, ...optionsOf(plan), ...lookups(made, former, facts) };
  for (const [index, event] of events.entries()) {
    if (isJudged(event, adopted)) {
      const { collection } = event;
      yield {
        event,
        index,
        found: isFound(event),
        before: before.collections.get(former.collection(collection)),
        after: after.collections.get(collection),
        formerField: former.field(collection, event.field ?? ''),
        statements: byEvent.get(index) ?? [],
        batch,
      };
    } else if (isJudgedObject(event, adopted)) {
      const old = before.objects.get(followRename(formerObjects, event))?.object;
      yield { event, index, found: isFound(event), batch, old };
    } else yield undefined;
    former.add(event);
  }
}

/** Returns the key of the event's object before the batch. */
function followRename(former: Map<string, string>, { type, subject, data }: ObjectEvent): string {
  const key = former.get(objectKey(subject)) ?? objectKey(subject);
  if (type === 'object.renamed') former.set(objectKey({ kind: subject.kind, id: data.to }), key);
  return key;
}

function optionsOf({
  keep = 0,
  online = false,
  policy,
}: Plan): Pick<ReviewedBatch, 'keep' | 'online' | 'onlineAboveRows'> {
  return { keep, online, onlineAboveRows: policy?.online_above_rows ?? null };
}

function statementsByEvent(statements: readonly PlannedStatement[]): Map<number, IndexedStatement[]> {
  const byEvent = new Map<number, IndexedStatement[]>();
  for (const [index, statement] of statements.entries()) {
    const list = byEvent.get(statement.source.event);
    if (list === undefined) byEvent.set(statement.source.event, [{ index, statement }]);
    else list.push({ index, statement });
  }
  return byEvent;
}

const tablesMade = (events: readonly LogEvent[]): Set<string> =>
  new Set(events.flatMap((event) => (isMade(event) ? [event.collection] : [])));

type Lookups = Pick<
  ReviewedBatch,
  | 'isNew'
  | 'statistics'
  | 'dependents'
  | 'parents'
  | 'children'
  | 'types'
  | 'missingRoles'
  | 'deletedWith'
  | 'privilegesBefore'
>;

function lookups(made: ReadonlySet<string>, former: FormerNames, facts: DatabaseFacts): Lookups {
  const { statistics, dependents = [], inheritance = [], types = new Map(), missingRoles = NONE } = facts;
  const { deletedObjects } = facts;
  const needing = new Map<string, Dependent[]>();
  for (const each of dependents) needing.set(each.table, [...(needing.get(each.table) ?? []), each]);
  const [parents, children] = [new Map<string, Inheritance[]>(), new Map<string, Inheritance[]>()];
  for (const each of inheritance) {
    parents.set(each.child, [...(parents.get(each.child) ?? []), each]);
    children.set(each.parent, [...(children.get(each.parent) ?? []), each]);
  }
  return {
    isNew: (table) => made.has(former.collection(table)),
    statistics: (table) => statistics?.get(former.collection(table)),
    dependents: (table) => needing.get(former.collection(table)) ?? [],
    parents: (child) => parents.get(child) ?? [],
    children: (parent) => children.get(parent) ?? [],
    types,
    missingRoles,
    deletedWith: (position) => deletedObjects?.get(position) ?? [],
    privilegesBefore: (object) => privilegesOn(object, facts),
  };
}

const privilegesOn = ({ id }: ObjectName, { replacedPrivileges = [] }: DatabaseFacts): readonly ObjectName[] =>
  replacedPrivileges.filter((each) => {
    const { table, target } = objectNameParts(each);
    return !(target !== null && isAlwaysThere(target)) && [table, target?.id].includes(id);
  });

const isMade = (event: LogEvent): event is Extract<NewEvent, { type: 'collection.created' }> =>
  event.type === 'collection.created' && readRestored(event.data) === undefined;

/** Returns the fields that an event creates or changes. Restored fields were evaluated when they were created. */
function fieldChanges({ event, before, after, formerField }: PlannedEvent): FieldChange[] {
  const made = fieldsMade(event);
  if (made !== undefined) return made.map((now) => ({ old: undefined, now }));
  const now = event.type === 'field.updated' ? after?.fields.get(event.field ?? '') : undefined;
  return now === undefined ? [] : [{ old: before?.fields.get(formerField), now }];
}

/** Undefined if the event creates no field. */
function fieldsMade(event: NewEvent): readonly Field[] | undefined {
  if (event.type === 'collection.adopted') return event.data.fields;
  if (event.type !== 'collection.created' && event.type !== 'field.created') return undefined;
  if (event.data.restored !== undefined) return [];
  return 'fields' in event.data ? event.data.fields : [event.data.field];
}

/** Returns the object that an event creates or changes. Undefined for a rename and a deletion. */
function objectChange({ event, batch, old }: PlannedObjectEvent): ObjectChange | undefined {
  const now = batch.after.objects.get(objectKey(event.subject))?.object;
  const isChange = event.type === 'object.created' || event.type === 'object.updated';
  return now === undefined || !isChange ? undefined : { old, now };
}

/** Returns the relations that an event creates or changes. */
function relationChanges({ event, before, after, formerField }: PlannedEvent): RelationChange[] {
  if (event.type !== 'relation.created' && event.type !== 'relation.updated') return [];
  const now = after?.relations.get(event.field ?? '');
  if (now === undefined) return [];
  return [{ old: event.type === 'relation.created' ? undefined : before?.relations.get(formerField), now }];
}

/* Runs the rules over a plan. */

type RuleWith<K extends keyof Rule> = Rule & Required<Pick<Rule, K>>;

const rulesWith = <K extends keyof Rule>(check: K, rules: readonly Rule[]): RuleWith<K>[] =>
  rules.filter((rule): rule is RuleWith<K> => rule[check] !== undefined);

const checksOf = (rules: readonly Rule[]) => ({
  statements: rulesWith('statement', rules),
  fields: rulesWith('field', rules),
  relations: rulesWith('relation', rules),
  objects: rulesWith('object', rules),
  objectEvents: rulesWith('objectEvent', rules),
  events: rulesWith('event', rules),
});

const CHECKS = checksOf(RULES);

/** The rules for adopted objects. */
const STANDING = checksOf(RULES.filter(({ standing }) => standing === true));

/** Returns all findings of a plan in the order of its events. For each event, findings about statements come first. */
export function* findingsOf(plan: Plan, facts: DatabaseFacts = {}): Resumable<Finding[]> {
  const gathering = createGathering(groupsOf(plan));
  for (const planned of plannedEvents(plan, facts)) {
    yield;
    if (planned === undefined) continue;
    if (!('statements' in planned)) {
      judgeObject(planned, add);
      continue;
    }
    for (const { statement, index } of planned.statements) {
      for (const rule of CHECKS.statements) add(rule, rule.statement(statement, planned), planned, index);
    }
    yield* judgeDocuments(planned, add);
  }
  return [...gathering.findings(), ...purgeFindings(plan.events)];

  function add(rule: Rule, observed: Observation | undefined, planned: LocatedEvent, statement?: number): void {
    if (observed !== undefined) gathering.add(rule, observed, planned, statement);
  }
}

/**
 * Groups findings by code and policy action. Findings that people acknowledge or approve are not grouped, because each
 * needs its location.
 */
function groupsOf({ policy, judgedNames, apart = NONE }: Plan): GroupLookup | undefined {
  if (apart === 'every') return () => undefined;
  if (policy === undefined) return undefined;
  return (code, location) => {
    const actions = new Set(actionsOf(policy, code, { collection: location.collection, before: judgedNames }));
    const isApart =
      actions.has('acknowledge') ||
      actions.has('approve') ||
      (apart.size > 0 && apart.has(keyOf({ code, place: locationText(location) })));
    return isApart ? undefined : `${code} ${[...actions].join(' ')}`;
  };
}

const NONE: ReadonlySet<string> = new Set();

type AddFinding = (rule: Rule, observed: Observation | undefined, planned: LocatedEvent) => void;

function judgeObject(planned: PlannedObjectEvent, add: AddFinding): void {
  const checks = planned.found ? STANDING : CHECKS;
  const change = objectChange(planned);
  if (change !== undefined) for (const rule of checks.objects) add(rule, rule.object(change, planned), planned);
  for (const rule of checks.objectEvents)
    for (const observed of [rule.objectEvent(planned) ?? []].flat()) add(rule, observed, planned);
}

/** Findings about columns of partitions are reported for the parent table. */
const isPartition = ({ after }: PlannedEvent): boolean => extrasOf(after).partition_of !== undefined;

/** Yields after each field, because a collection may have any number of fields. */
function* judgeDocuments(planned: PlannedEvent, add: AddFinding): Resumable<void> {
  const checks = planned.found ? STANDING : CHECKS;
  for (const change of isPartition(planned) ? [] : fieldChanges(planned)) {
    for (const rule of checks.fields) add(rule, rule.field(change, planned), planned);
    yield;
  }
  for (const change of relationChanges(planned)) {
    for (const rule of checks.relations) add(rule, rule.relation(change, planned), planned);
  }
  for (const rule of checks.events) {
    for (const observed of [rule.event(planned) ?? []].flat()) add(rule, observed, planned);
  }
}
