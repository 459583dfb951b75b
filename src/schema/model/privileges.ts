/* Privileges of a role as data: their normal form, the difference of two lists, and the words of GRANT. */
import { type ObjectName, PUBLIC, type PrivilegesTarget, TARGETS, USAGE, isNewType } from './objects.js';
import type { Definition, Privilege, SchemaObject } from './object-document.js';
import {
  areInitial,
  namedSchema,
  revokedFromPublic,
  objectNameParts,
  qualifiedId,
  splitQualifiedId,
} from './object-ids.js';
import { byName } from './state.js';

/** One privilege on the whole table or on one column. */
interface Unit {
  name: Privilege['name'];
  /** Null for the whole table. */
  column: string | null;
  isGrantable: boolean;
}

const unitKey = ({ name, column }: Pick<Unit, 'name' | 'column'>): string => `${name}\0${column ?? ''}`;

/** Returns the units by key. A unit that occurs twice is grantable if one of them is. */
function unitsByKey(privileges: readonly Privilege[]): Map<string, Unit> {
  const units = new Map<string, Unit>();
  for (const { name, columns, grantable = false } of privileges)
    for (const column of columns ?? [null]) {
      const key = unitKey({ name, column });
      units.set(key, { name, column, isGrantable: grantable || units.get(key)?.isGrantable === true });
    }
  return units;
}

/** Returns a list in normal form: sorted, and with one element for the columns that have the same privilege. */
function toPrivileges(units: Iterable<Unit>): Privilege[] {
  const privileges = new Map<string, Privilege>();
  for (const { name, column, isGrantable } of units) {
    const key = `${name} ${column === null ? 0 : 1} ${isGrantable ? 1 : 0}`;
    const privilege = privileges.get(key) ?? newPrivilege(name, column !== null, isGrantable);
    if (column !== null) privilege.columns?.push(column);
    privileges.set(key, privilege);
  }
  for (const { columns } of privileges.values()) columns?.sort(byName);
  return [...privileges].sort(([a], [b]) => byName(a, b)).map(([, each]) => each);
}

const newPrivilege = (name: Privilege['name'], hasColumns: boolean, isGrantable: boolean): Privilege => ({
  name,
  ...(hasColumns && { columns: [] }),
  ...(isGrantable && { grantable: true as const }),
});

/** Returns the list of privileges in the definition of a privileges object. Empty for other objects. */
export const privilegesIn = (definition: Definition | undefined): readonly Privilege[] =>
  Array.isArray(definition) ? definition : [];

/**
 * Returns the privileges that a role has. On the schema public, PostgreSQL 14 grants CREATE to PUBLIC too.
 * @param object undefined if the state contains no object with this name
 */
export function heldPrivileges(name: ObjectName, object: SchemaObject | undefined): readonly Privilege[] {
  const initial = areInitial(name) ? USAGE : revokedFromPublic(name);
  return object === undefined && initial !== null ? [{ name: initial }] : privilegesIn(object?.definition);
}

export const sortPrivileges = (privileges: readonly Privilege[]): Privilege[] =>
  toPrivileges(unitsByKey(privileges).values());

/** Returns the privileges on the given columns. */
export const selectColumns = (privileges: readonly Privilege[], columns: ReadonlySet<string>): Privilege[] =>
  toPrivileges([...unitsByKey(privileges).values()].filter(({ column }) => column !== null && columns.has(column)));

/** Returns the privileges of `before` that `after` lacks, including those that are no longer grantable. */
export function findLostPrivileges(before: readonly Privilege[], after: readonly Privilege[]): Privilege[] {
  const units = unitsByKey(after);
  const isLost = (unit: Unit): boolean => {
    const now = units.get(unitKey(unit));
    return now === undefined || (unit.isGrantable && !now.isGrantable);
  };
  return toPrivileges([...unitsByKey(before).values()].filter(isLost));
}

interface PrivilegeChange {
  /** Privileges to revoke. */
  revoked: Privilege[];
  /** Privileges that stay, but are no longer grantable. */
  restricted: Privilege[];
  /** Privileges to grant after that. */
  granted: Privilege[];
}

/**
 * Returns what REVOKE and GRANT must change. REVOKE of a privilege on the table also revokes it on all columns, so the
 * columns that keep it are among the granted ones.
 */
export function comparePrivileges(before: readonly Privilege[], after: readonly Privilege[]): PrivilegeChange {
  const [old, now] = [unitsByKey(before), unitsByKey(after)];
  const lost = (unit: Unit): boolean => !now.has(unitKey(unit));
  const restricted = (unit: Unit): boolean => unit.isGrantable && now.get(unitKey(unit))?.isGrantable === false;
  const units = [...old.values()];
  const ofTable = units.filter(({ column }) => column === null);
  const [revokedNames, restrictedNames] = [lost, restricted].map(
    (test) => new Set(ofTable.filter(test).map(({ name }) => name)),
  ) as [Set<string>, Set<string>];
  const left = units.flatMap((unit): Unit[] => {
    if (lost(unit) || (unit.column !== null && revokedNames.has(unit.name))) return [];
    const isGrantable = unit.isGrantable && !restricted(unit) && !restrictedNames.has(unit.name);
    return [{ ...unit, isGrantable }];
  });
  const rest = new Map(left.map((unit) => [unitKey(unit), unit]));
  const isCovered = (unit: Unit, names: ReadonlySet<string>): boolean => unit.column !== null && names.has(unit.name);
  const withoutOption = (list: Unit[]): Privilege[] =>
    toPrivileges(list.map((unit) => ({ ...unit, isGrantable: false })));
  return {
    revoked: withoutOption(units.filter((unit) => lost(unit) && !isCovered(unit, revokedNames))),
    restricted: withoutOption(
      units.filter((unit) => restricted(unit) && !isCovered(unit, restrictedNames) && !isCovered(unit, revokedNames)),
    ),
    granted: toPrivileges(
      [...now.values()].filter((unit) => {
        const held = rest.get(unitKey(unit));
        return held === undefined || (unit.isGrantable && !held.isGrantable);
      }),
    ),
  };
}

/** Returns the privileges that are grantable, or those that are not. */
export const privilegesWith = (privileges: readonly Privilege[], isGrantable: boolean): Privilege[] =>
  privileges.filter(({ grantable = false }) => grantable === isGrantable);

/** Returns the words of GRANT: `SELECT, UPDATE (name, age)`. @param quote writes the name of a column */
export const privilegeWords = (privileges: readonly Privilege[], quote = (name: string): string => name): string =>
  privileges.map(({ name, columns }) => withColumns(name, columns?.map(quote))).join(', ');

/** Returns the words for summaries of statements: `select, update (name, age)`. */
export const privilegeNames = (privileges: readonly Privilege[]): string =>
  privileges.map(({ name, columns }) => withColumns(name.toLowerCase(), columns)).join(', ');

const withColumns = (name: string, columns: readonly string[] | undefined): string =>
  columns === undefined ? name : `${name} (${columns.join(', ')})`;

/** Returns one line for each privilege, for people: `UPDATE (name) WITH GRANT OPTION`. */
export const privilegeLines = (privileges: readonly Privilege[]): string =>
  privileges.length === 0
    ? 'no privileges'
    : privileges
        .map((each) => `${privilegeWords([each])}${each.grantable === true ? ' WITH GRANT OPTION' : ''}`)
        .join('\n');

/** Returns the statements that grant the privileges, or revoke EXECUTE or USAGE from PUBLIC. @param quote writes names in SQL */
export function grantTexts({ kind, id, definition }: SchemaObject, quote: (name: string) => string): string[] {
  if (typeof definition === 'string') return [];
  const { name, table, target } = objectNameParts({ kind, id });
  const role = name === PUBLIC ? 'PUBLIC' : quote(name);
  const on = target === null ? `TABLE ${quoteId(table ?? '', quote)}` : targetText(target, quote);
  const revoked = revokedFromPublic({ kind, id });
  const start = target === null ? '' : defaultsText(target, quote);
  if (revoked !== null) return [`${start}REVOKE ${revoked} ON ${on} FROM ${role}`];
  const grants = [false, true].flatMap((isGrantable) => {
    const words = privilegeWords(privilegesWith(definition, isGrantable), quote);
    const option = isGrantable ? ' WITH GRANT OPTION' : '';
    return words === '' ? [] : [`${start}GRANT ${words} ON ${on} TO ${role}${option}`];
  });
  return areInitial({ kind, id }) ? [`REVOKE ALL ON ${on} FROM ${role}`, ...grants] : grants;
}

/** Returns the words before GRANT and REVOKE of default privileges. Empty for other privileges. */
function defaultsText(target: PrivilegesTarget, quote: (name: string) => string): string {
  if (!isNewType(target.type)) return '';
  const schema = namedSchema(target);
  return `ALTER DEFAULT PRIVILEGES ${schema === undefined ? '' : `IN SCHEMA ${quote(schema)} `}`;
}

/** PostgreSQL accepts the argument types of an id. */
function targetText({ type, id }: PrivilegesTarget, quote: (name: string) => string): string {
  if (isNewType(type)) return TARGETS[type].word;
  if (type === 'schema') return `${TARGETS[type].word} ${quote(id)}`;
  const { schema, name, argumentTypes } = objectNameParts({ kind: TARGETS[type].kinds[0] ?? 'function', id });
  const own = quoteId(qualifiedId({ schema, name }), quote);
  return `${TARGETS[type].word} ${own}${argumentTypes === null ? '' : `(${argumentTypes})`}`;
}

function quoteId(id: string, quote: (name: string) => string): string {
  const { schema, name } = splitQualifiedId(id);
  return schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`;
}
