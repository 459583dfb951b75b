/* Writes the statements that create, change, rename and drop objects. */
import type { LogEvent } from '../../schema/model/events.js';
import {
  KINDS,
  type ObjectName,
  isFreeOnTable,
  isOnTable,
  isSequence,
  isType,
  kindWithLabel,
  objectLabel,
} from '../../schema/model/objects.js';
import type { Definition, Enabled, ObjectIndex, SchemaObject } from '../../schema/model/object-document.js';
import {
  objectNameParts,
  qualifiedId,
  renamedId,
  splitQualifiedId,
  toLocalObject,
} from '../../schema/model/object-ids.js';
import { TRUSTED_EXTENSIONS } from '../../schema/model/extras.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { type State, collectionAt, getObject, getTarget } from '../../schema/model/state.js';
import { extensionsWith } from '../../schema/sql-text/allowed-names.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { collectionOfObject, tableOf } from '../../schema/sql-text/object-table.js';
import type { CatalogObject } from './catalog-object.js';
import type { EnumConversion } from './enum-conversion.js';
import { alterType } from './needs.js';
import { alterSequence, renderAllOptions } from './sequence.js';
import {
  type Sql,
  createOnTable,
  creationWords,
  ident,
  indexDefinition,
  kindSql,
  literal,
  objectSql,
  objectTail,
  qualified,
  relationSql,
  restoringStatement,
  sql,
  withoutDataClause,
} from './sql.js';
import { type ObjectTarget, createPrivileges, dropPrivileges, grantAdded, revokeLost } from './privilege-statements.js';
import type { AlteredColumns, UnwantedDefaults } from './object-uses.js';
import type { LockedTable, Statement } from './step.js';
import {
  type OptionStep,
  keepColumnSettings,
  resetColumnSettings,
  resetTableOptions,
  setTableOptions,
} from './table-options.js';
import type { NeededLock } from './table-locks.js';

/**
 * Adds the lock on the table of an object. If the same change creates or renames the table, it locks the table anyway, and
 * a new table has no rows to rewrite.
 */
export function withTableLock({ before, after }: Record<'before' | 'after', State>, statement: Statement): Statement {
  const { object, object_lock: lock = 'ACCESS EXCLUSIVE' } = statement;
  const kind = kindWithLabel(object.kind);
  if (kind === undefined) return statement;
  const name = { kind, id: object.name };
  // A new trigger has its table in its id. For a new statistics object, the state after the change is needed.
  const collection =
    collectionOfObject(before, name) ?? (isFreeOnTable(name) ? collectionOfObject(after, name) : undefined);
  if (isType(name)) return statement;
  if (collection === undefined || !before.collections.has(collection)) return { ...statement, rewrites_table: false };
  return { ...statement, object: { ...object, table: collection }, lock, locks: [{ table: collection, lock }] };
}

interface ObjectStatements {
  before: State;
  after: State;
  statements: readonly Statement[];
  schema: string;
}

/**
 * Returns the locks on objects, and on the relations that new definitions read or write. PostgreSQL takes them when the
 * statements run.
 */
export function findObjectLocks({ before, after, statements, schema }: ObjectStatements): NeededLock[] {
  return statements.flatMap(({ object: { kind: label, name: id }, object_lock: lock, source }): NeededLock[] => {
    const kind = kindWithLabel(label);
    if (kind === undefined) return [];
    const own = findLocked(before, { kind, id });
    const isRead = source.type === 'object.created' || source.type === 'object.updated';
    return [
      ...(lock === undefined || own === undefined ? [] : [lockOnObject(schema, own, lock)]),
      ...(isRead
        ? [readLocks, writeLocks].flatMap((locks) => locks(schema, before, getObject(after, { kind, id })))
        : []),
    ];
  });
}

/** Returns the view, function, sequence or type that a statement about an object locks. Undefined for a table. */
function findLocked(before: State, object: ObjectName): ObjectName | undefined {
  const { table, target } = objectNameParts(object);
  if (target !== null) return getTarget(before, target);
  return table === null && !isFreeOnTable(object) ? object : viewNamed(before, table ?? '');
}

/** Returns the locks that PostgreSQL takes to print the definitions of all objects. */
export const findPrintLocks = (state: State, schema: string): NeededLock[] =>
  objectsInOrder(state).flatMap((object) => [
    ...(isFreeOnTable(object) ? [] : [lockOnObject(schema, object, 'ACCESS SHARE')]),
    ...readLocks(schema, state, object),
  ]);

function lockOnObject(usual: string, object: ObjectName, lock: NeededLock['lock']): NeededLock {
  const { schema = usual, id: name } = toLocalObject(object);
  const { kind, id } = object;
  return { table: objectLabel(object), at: { schema, name }, lock, object: { kind, id } };
}

const viewNamed = (state: State, id: string): SchemaObject | undefined =>
  getObject(state, { kind: 'view', id }) ?? getObject(state, { kind: 'materialized_view', id });

function readLocks(schema: string, before: State, object: SchemaObject | undefined): NeededLock[] {
  const parsed = object === undefined ? '' : parseDefinition(object.definition);
  if (typeof parsed === 'string') return [];
  return parsed.relations.map((relation) => lockOnRelation(schema, before, { ...relation, lock: 'ACCESS SHARE' }));
}

/** Returns the locks that CREATE RULE takes on the relations to which its commands write. */
function writeLocks(schema: string, before: State, object: SchemaObject | undefined): NeededLock[] {
  const parsed = object?.kind === 'rule' ? parseDefinition(object.definition) : '';
  const written = typeof parsed === 'string' ? [] : (parsed.rule?.written ?? []);
  return written.map((id) => lockOnRelation(schema, before, { ...splitQualifiedId(id), lock: 'ROW EXCLUSIVE' }));
}

function lockOnRelation(
  schema: string,
  before: State,
  { schema: other, name, lock }: { schema: string | undefined; name: string; lock: NeededLock['lock'] },
): NeededLock {
  const view = viewNamed(before, qualifiedId({ schema: other, name }));
  if (view !== undefined) return lockOnObject(schema, view, lock);
  const table = collectionAt(before, other, name) ?? name;
  return { table, at: { schema: other ?? schema, name }, lock };
}

/** An object to create. It is new or changed, or was dropped because of something that it uses. */
export interface Creation {
  object: SchemaObject;
  /** The object in the database before the batch. Undefined for a new object. */
  known: CatalogObject | undefined;
  isNew: boolean;
  isChanged: boolean;
  /** True if the batch changes the enabled state. */
  isSwitched: boolean;
  /** The object before the batch if it stays and gets a new definition. Otherwise null. */
  replaces: SchemaObject | null;
  index: number;
  /** For a type, the collections with columns of it. */
  tables?: readonly string[];
  /** Set for an enum whose columns are converted. It is created in the same statement. */
  conversion?: EnumConversion;
}

export const kindWords = ({ kind }: ObjectName): string => KINDS[kind].label;

/** @param changed names of columns that changed */
export function createStatements(
  { schema, owner }: ObjectTarget,
  creation: Creation,
  changed: ReadonlySet<string>,
): Statement[] {
  if (creation.object.kind === 'privileges') return grantStatements({ schema, owner }, creation);
  if (isType(creation.object) && creation.replaces !== null) return typeStatements(schema, creation, creation.replaces);
  if (creation.object.kind !== 'table_options') return creationStatements({ schema, owner }, creation);
  const { object, isNew, replaces: before, index } = creation;
  const statement = statementFor(object, index, isNew ? 'object.created' : 'object.updated');
  return optionStatements(setTableOptions(schema, { before, object }, changed), statement);
}

const optionStatements = (steps: readonly OptionStep[], statement: MakeStatement): Statement[] =>
  steps.map(({ text, summary, lock, rewrites }) => ({
    ...statement(text, summary, lock),
    rewrites_table: rewrites,
  }));

function grantStatements(target: ObjectTarget, { object, isNew, replaces, index }: Creation): Statement[] {
  const statement = statementFor(object, index, isNew ? 'object.created' : 'object.updated');
  const steps = replaces === null ? createPrivileges(target, object) : grantAdded(target.schema, replaces, object);
  return steps.map(([text, summary]) => statement(text, summary, PRIVILEGES_LOCK));
}

function creationStatements({ schema, owner }: ObjectTarget, creation: Creation): Statement[] {
  const { object, known, isNew, isChanged, replaces, index } = creation;
  const statement = statementFor(object, index, isNew ? 'object.created' : 'object.updated');
  const kept =
    replaces === null ? { restoring: known?.restoring ?? [], comment: null } : { ...replaces, restoring: [] };
  const restore = (text: string): Statement =>
    statement(restoringStatement(text), `restore privileges and settings of ${object.id}`);
  const comment = statement(commentOn(schema, object), `comment on ${kindWords(object)} ${object.id}`, COMMENT_LOCK);
  const verb = isNew && replaces === null ? 'create' : isChanged ? 'change' : 'recreate';
  const summary = `${verb} ${kindWords(object)} ${object.id}`;
  const created = statement(creationSql(schema, creation), summary, creationLock(creation));
  const create = { ...created, ...creation.conversion };
  return [
    ...extensionStatements(creation, statement),
    ...createFor(owner, { schema, creation, create, statement }),
    ...kept.restoring.map(restore),
    ...enableAfterCreation(schema, creation, statement),
    ...(object.comment === kept.comment ? [] : [comment]),
    ...(object.indexes ?? []).flatMap((each) => [
      statement(createIndex(relationSql(schema, object.id), each), `create index ${each.name}`),
      ...(known?.restoringIndexes?.get(each.name) ?? []).map(restore),
    ]),
  ];
}

interface OwnedCreation {
  schema: string;
  creation: Creation;
  create: Statement;
  statement: MakeStatement;
}

/**
 * Returns the statements that create an object of another role. The role gets it afterwards: creating it as that role
 * would require more privileges, and would not confine its code, which can run RESET ROLE. PostgreSQL runs the query of
 * a materialized view immediately, and prevents RESET ROLE while it does, so that role creates it. An object of a third
 * role stays with that role.
 */
function createFor(owner: ObjectTarget['owner'], { schema, creation, create, statement }: OwnedCreation): Statement[] {
  const { object, known, replaces } = creation;
  if (owner == null || replaces !== null || isOnTable(object)) return [create];
  if (object.kind === 'materialized_view') {
    const role = ident(owner);
    const summary = `create materialized view ${object.id} as ${owner}`;
    const back = `switch back to the role of the service after ${object.id}`;
    return [statement(sql`SET LOCAL ROLE ${role}`, summary), create, statement(sql`RESET ROLE`, back)];
  }
  if (known?.restoring.some((text) => RESTORES_OWNER.test(text)) === true) return [create];
  const lock = isFreeOnTable(object) ? COMMENT_LOCK : undefined;
  const summary = `set the owner of ${kindWords(object)} ${object.id} to ${owner}`;
  return [create, statement(setOwner(schema, object, owner), summary, lock)];
}

const RESTORES_OWNER = /^ALTER .* OWNER TO (?:"(?:[^"]|"")+"|\w+)$/s;

export const setOwner = (schema: string, object: ObjectName, owner: string): Sql =>
  sql`ALTER ${kindSql(object.kind)} ${objectSql(schema, object)} OWNER TO ${ident(owner)}`;

/** Returns the changes of a type that stays. PostgreSQL reads the rows of its tables for a new rule of a domain. */
function typeStatements(
  schema: string,
  { object, index, isNew, tables = [] }: Creation,
  old: SchemaObject,
): Statement[] {
  const statement = statementFor(object, index, isNew ? 'object.created' : 'object.updated');
  return [
    ...typeChanges(schema, old, object).map((each) => ({
      ...statement(each.text, each.summary),
      ...(each.isChecked === true && {
        lock: 'SHARE' as const,
        locks: tables.map((table) => ({ table, lock: 'SHARE' as const })),
        may_fail: true,
        lock_entries: 20,
      }),
      loses_data: each.losesData === true && tables.length > 0,
      ...(each.addsLabel === true && { commit: 'before it is used' as const }),
    })),
    ...describe(schema, [old, object], statement),
  ];
}

function typeChanges(schema: string, before: SchemaObject, after: SchemaObject): ReturnType<typeof alterType> {
  const [old, now] = [parseDefinition(before.definition), parseDefinition(after.definition)];
  if (typeof old === 'string' || typeof now === 'string' || old.type === null || now.type === null) return [];
  return alterType(relationSql(schema, after.id), { name: after.id, old: old.type, now: now.type });
}

/** Returns the statements that install the trusted extensions whose types a new type uses. */
function extensionStatements({ object, isNew }: Creation, statement: MakeStatement): Statement[] {
  const parsed = isNew && isType(object) ? parseDefinition(object.definition) : '';
  const types = typeof parsed === 'string' ? [] : (parsed.type?.types ?? []);
  const extensions = new Set(types.flatMap(({ name }) => extensionsWith('types', name)));
  return [...extensions]
    .filter((name) => TRUSTED_EXTENSIONS.has(name))
    .map((name) => ({
      ...statement(sql`CREATE EXTENSION IF NOT EXISTS ${ident(name)}`, `ensure that extension ${name} exists`),
      object: { kind: 'extension', name, table: null },
      ensures: 'object' as const,
    }));
}

function creationLock({ object, replaces }: Creation): LockedTable['lock'] | undefined {
  if (object.kind === 'trigger') return 'SHARE ROW EXCLUSIVE';
  if (object.kind === 'statistics') return 'SHARE UPDATE EXCLUSIVE';
  if (object.kind === 'sequence') return replaces === null ? undefined : 'SHARE ROW EXCLUSIVE';
  return replaces === null ? undefined : 'ACCESS EXCLUSIVE';
}

/**
 * Returns the statement that creates an object, from the text in the log. The text that the server printed has casts to
 * former types of columns (`amount % 2::bigint`). It is used only if someone has changed the object by hand.
 */
function creationSql(schema: string, { object, known, isChanged, replaces }: Creation): Sql {
  const { schema: place = schema, name: own } = objectNameParts(object);
  const name = qualified(place, own);
  const kept = isChanged ? undefined : known;
  const definition = kept === undefined ? object.definition : definitionAgain(object, kept);
  const table = tableOf({ ...object, definition });
  if (table !== null)
    return createOnTable(definition, isFreeOnTable(object) ? name : ident(own), relationSql(schema, table));
  if (replaces !== null) return replacingSql(name, object);
  const data = kept?.populated === false ? sql` WITH NO DATA` : sql``;
  return sql`CREATE ${creationWords(definition)} ${name}${objectTail(definition)}${data}`;
}

const definitionAgain = (object: SchemaObject, { isAsLogged = false, definition }: CatalogObject): Definition =>
  (isAsLogged ? withoutDataClause(object) : null) ?? definition;

const replacingSql = (name: Sql, { kind, definition }: SchemaObject): Sql =>
  isSequence({ kind })
    ? alterOptions(name, definition)
    : sql`CREATE OR REPLACE ${kindSql(kind)} ${name}${objectTail(definition)}`;

/** The statement sets all options, because PostgreSQL keeps those that ALTER SEQUENCE omits. */
function alterOptions(name: Sql, definition: Definition): Sql {
  const parsed = parseDefinition(definition);
  const options = typeof parsed === 'string' ? {} : (parsed.sequence ?? {});
  return sql`DO ${literal(alterSequence(sql`${literal(name)}::regclass`, renderAllOptions(options)))}`;
}

/** @param lock the lock on the object, unless the same change creates it */
type MakeStatement = (text: Sql, summary: string, lock?: LockedTable['lock']) => Statement;

const statementFor =
  (object: ObjectName, event: number, type: LogEvent['type']): MakeStatement =>
  (text, summary, lock) => ({
    sql: text,
    object: { kind: KINDS[object.kind].label, name: object.id, table: null },
    drops: [],
    summary,
    lock: 'none',
    locks: [],
    loses_data: false,
    rewrites_table: false,
    may_fail: false,
    lock_entries: 2,
    ...(lock !== undefined && { object_lock: lock }),
    source: { event, type, collection: object.id, field: null },
  });

const createIndex = (name: Sql, { name: index, unique, definition }: ObjectIndex): Sql =>
  sql`CREATE ${unique === true ? sql`UNIQUE ` : sql``}INDEX ${ident(index)} ON ${name} ${indexDefinition(definition)}`;

/** Keywords of ALTER TABLE for each state of a trigger or a rule. */
const ENABLE: Readonly<Record<Enabled, Sql>> = {
  origin: sql`ENABLE`,
  disabled: sql`DISABLE`,
  replica: sql`ENABLE REPLICA`,
  always: sql`ENABLE ALWAYS`,
};

/** Returns no statement for objects other than triggers and rules. @param before the state that the object has */
function enableObject(
  schema: string,
  object: ObjectName,
  { before, after, statement }: { before: Enabled; after: Enabled | null | undefined; statement: MakeStatement },
): Statement[] {
  const { name, table } = objectNameParts(object);
  if (after == null || after === before || table === null) return [];
  const text = sql`ALTER TABLE ${relationSql(schema, table)} ${ENABLE[after]} ${kindSql(object.kind)} ${ident(name)}`;
  const lock = object.kind === 'rule' ? 'ACCESS EXCLUSIVE' : 'SHARE ROW EXCLUSIVE';
  return [statement(text, `${ENABLE[after].toLowerCase()} ${kindWords(object)} ${object.id}`, lock)];
}

/**
 * Returns the statement that enables or disables a new trigger or rule, which PostgreSQL creates enabled. One that did
 * not change gets the state that it had in the database.
 */
function enableAfterCreation(
  schema: string,
  { object, known, isChanged, isSwitched }: Creation,
  statement: MakeStatement,
): Statement[] {
  const after = isChanged || isSwitched || known === undefined ? object.enabled : known.enabled;
  return enableObject(schema, object, { before: 'origin', after, statement });
}

const COMMENT_LOCK = 'SHARE UPDATE EXCLUSIVE';
/** PostgreSQL takes no lock for GRANT. Without one, it can fail while another session changes the same row of the catalog. */
const PRIVILEGES_LOCK = 'SHARE UPDATE EXCLUSIVE';

const commentOn = (schema: string, object: SchemaObject): Sql =>
  sql`COMMENT ON ${kindSql(object.kind)} ${objectSql(schema, object)} IS ${object.comment === null ? sql`NULL` : literal(object.comment)}`;

function dropSql(schema: string, object: SchemaObject): Sql {
  const { table } = objectNameParts(object);
  if (table !== null && KINDS[object.kind].onTable === 'single')
    return sql`ALTER TABLE ${relationSql(schema, table)} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY`;
  // A trigger or a rule no longer exists if its view was dropped.
  const ifExists = table === null ? sql`` : sql`IF EXISTS `;
  return sql`DROP ${kindSql(object.kind)} ${ifExists}${objectSql(schema, object)}`;
}

interface Drop {
  /** True for a sequence that tables still need. It stays in the database, without the comment. */
  isKept: boolean;
  /** The event that requires dropping the object. */
  index: number;
  /** True if the table of the object is deleted too. */
  withTable: boolean;
}

export function dropObject(schema: string, object: SchemaObject, { index, withTable, isKept }: Drop): Statement[] {
  const make = statementFor(object, index, 'object.deleted');
  if (isKept) return describe(schema, [object, { ...object, comment: null }], make);
  if (object.kind === 'privileges') return [make(...dropPrivileges(schema, object, withTable), PRIVILEGES_LOCK)];
  if (object.kind === 'table_options') return optionStatements(resetTableOptions(schema, object, withTable), make);
  const lock = isFreeOnTable(object) ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE';
  const statement = make(dropSql(schema, object), `drop ${kindWords(object)} ${object.id}`, lock);
  return [{ ...statement, drops: [statement.object] }];
}

/** Revokes privileges that PostgreSQL granted on a new table or object, and that the state after the batch lacks. */
export const revokeDefaults = (schema: string, { privileges, index, type }: UnwantedDefaults): Statement =>
  statementFor(privileges, index, type)(...dropPrivileges(schema, privileges, false));

/** Revokes the privileges that a role loses while it keeps others, and resets settings of columns. */
export function revokeStatements(
  schema: string,
  [before, after]: readonly [SchemaObject, SchemaObject],
  index: number,
): Statement[] {
  const statement = statementFor(after, index, 'object.updated');
  if (before.kind === 'table_options') return optionStatements(resetColumnSettings(schema, before, after), statement);
  return revokeLost(schema, before, after).map(([text, summary]) => statement(text, summary, PRIVILEGES_LOCK));
}

/** Sets storage and compression again for columns that changed. */
export const keepSettings = (schema: string, object: SchemaObject, { index, names }: AlteredColumns): Statement[] =>
  optionStatements(keepColumnSettings(schema, object, names), statementFor(object, index, 'object.updated'));

/** Renames an object. PostgreSQL does not move a statistics object with its table. @param to the new id */
export function renameStatements(
  schema: string,
  object: SchemaObject,
  { index, to }: { index: number; to: string },
): Statement[] {
  const { schema: from, name } = objectNameParts(object);
  const now = objectNameParts({ kind: object.kind, id: to });
  const alter = (id: string, change: Sql): Statement => {
    const text = sql`ALTER ${kindSql(object.kind)} ${objectSql(schema, { kind: object.kind, id })} ${change}`;
    const summary = `rename ${kindWords(object)} ${object.id} to ${to}`;
    return statementFor(object, index, 'object.renamed')(text, summary, 'ACCESS EXCLUSIVE');
  };
  const move = sql`SET SCHEMA ${ident(now.schema ?? schema)}`;
  return [
    ...(name === now.name ? [] : [alter(object.id, sql`RENAME TO ${ident(now.name)}`)]),
    ...(from === now.schema ? [] : [alter(renamedId(object, now.name), move)]),
  ];
}

/** Changes comments, indexes and the enabled state of an object that is kept. */
export const describeObject = (
  schema: string,
  sides: readonly [SchemaObject, SchemaObject],
  index: number,
): Statement[] => describe(schema, sides, statementFor(sides[1], index, 'object.updated'));

function describe(
  schema: string,
  [old, now]: readonly [SchemaObject, SchemaObject],
  statement: MakeStatement,
): Statement[] {
  const { schema: place = schema } = objectNameParts(now);
  const same = new Set((old.indexes ?? []).map((each) => JSON.stringify(each)));
  const kept = new Set((now.indexes ?? []).map((each) => JSON.stringify(each)));
  return [
    ...(old.indexes ?? []).flatMap((each) =>
      kept.has(JSON.stringify(each))
        ? []
        : [statement(sql`DROP INDEX ${qualified(place, each.name)}`, `drop index ${each.name}`, 'ACCESS EXCLUSIVE')],
    ),
    ...(now.indexes ?? []).flatMap((each) =>
      same.has(JSON.stringify(each))
        ? []
        : [statement(createIndex(relationSql(schema, now.id), each), `create index ${each.name}`, 'SHARE')],
    ),
    ...enableObject(schema, now, { before: old.enabled ?? 'origin', after: now.enabled, statement }),
    ...(old.comment === now.comment
      ? []
      : [statement(commentOn(schema, now), `comment on ${kindWords(now)} ${now.id}`, COMMENT_LOCK)]),
  ];
}
