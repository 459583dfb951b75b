/* Reads options of a table and its columns, which ALTER TABLE sets, from the output of PostgreSQL's parser. */
import { type Node, list, member, stringOf } from './expression.js';

export interface TableOptions {
  /**
   * Storage parameters with their values as PostgreSQL stores them: `{ fillfactor: '70' }`. Names of parameters of the
   * TOAST table start with `toast.`.
   */
  parameters: ReadonlyMap<string, string>;
  isUnlogged: boolean;
  /** Null for the default, which is the primary key. */
  replicaIdentity: 'FULL' | 'NOTHING' | null;
  /** Settings of columns, keyed by `settingKey`. */
  columns: ReadonlyMap<string, ColumnSetting>;
}

export interface ColumnSetting {
  column: string;
  /** Other names are those of attribute options, such as `n_distinct`. */
  name: 'statistics' | 'storage' | 'compression' | (string & {});
  /** As PostgreSQL stores it: `500`, `EXTERNAL`, `lz4`. */
  value: string;
}

export const NO_OPTIONS: TableOptions = {
  parameters: new Map(),
  isUnlogged: false,
  replicaIdentity: null,
  columns: new Map(),
};

const settingKey = ({ column, name }: Pick<ColumnSetting, 'column' | 'name'>): string => `${column}\0${name}`;

/** The prefix of parameters of the TOAST table. */
export const TOAST = 'toast.';

const COMMANDS =
  'must contain only SET (parameter = value), SET UNLOGGED, REPLICA IDENTITY FULL or NOTHING, and ALTER COLUMN with SET STATISTICS, SET STORAGE, SET COMPRESSION or SET (option = value), or only ENABLE and FORCE ROW LEVEL SECURITY';

/** Returns the options that ALTER TABLE sets, or a sentence that follows "definition". */
export function readTableOptions(statement: Node): TableOptions | string {
  if (statement['objtype'] !== 'OBJECT_TABLE' || statement['missing_ok'] === true) return COMMANDS;
  let options = NO_OPTIONS;
  for (const each of list(statement['cmds'])) {
    const next = withCommand(options, member(each, 'AlterTableCmd') ?? {});
    if (typeof next === 'string') return next;
    options = next;
  }
  return options;
}

function withCommand(options: TableOptions, command: Node): TableOptions | string {
  const { subtype, def, name: column } = command;
  if (typeof column === 'string') return withSettings(options, settingsIn(command, column));
  switch (subtype) {
    case 'AT_SetUnLogged':
      return { ...options, isUnlogged: true };
    case 'AT_ReplicaIdentity': {
      const replicaIdentity = IDENTITIES.get(member(def, 'ReplicaIdentityStmt')?.['identity_type']);
      return replicaIdentity === undefined ? COMMANDS : { ...options, replicaIdentity };
    }
    case 'AT_SetRelOptions':
      return withParameters(options, list(member(def, 'List')?.['items']));
    default:
      return COMMANDS;
  }
}

function withParameters(options: TableOptions, items: readonly unknown[]): TableOptions | string {
  const parameters = new Map(options.parameters);
  for (const each of items) {
    const { defnamespace: prefix = '', defname, arg } = (member(each, 'DefElem') ?? {}) as unknown as Parameter;
    const name = prefix === '' ? defname : `${prefix}.${defname}`;
    if (prefix !== '' && prefix !== 'toast') return `must write ${name} without a prefix, or with toast`;
    if (defname.includes('.')) return `must write ${defname} without double quotes`;
    if (parameters.has(name)) return `must set ${name} only once`;
    parameters.set(name, valueOf(arg));
  }
  return { ...options, parameters };
}

/** Returns the settings that a command about a column sets. Empty for a command that is not accepted. */
function settingsIn({ subtype, def }: Node, column: string): ColumnSetting[] {
  switch (subtype) {
    case 'AT_SetStatistics':
      return def === undefined ? [] : [{ column, name: 'statistics', value: valueOf(def) }];
    case 'AT_SetStorage':
      return [{ column, name: 'storage', value: valueOf(def).toUpperCase() }];
    case 'AT_SetCompression':
      return [{ column, name: 'compression', value: valueOf(def) }];
    case 'AT_SetOptions':
      return list(member(def, 'List')?.['items']).map((each) => {
        const { defname, arg } = (member(each, 'DefElem') ?? {}) as unknown as Parameter;
        return { column, name: defname, value: valueOf(arg) };
      });
    default:
      return [];
  }
}

function withSettings(options: TableOptions, settings: readonly ColumnSetting[]): TableOptions | string {
  if (settings.length === 0) return COMMANDS;
  const columns = new Map(options.columns);
  for (const setting of settings) {
    const { column, name, value } = setting;
    if (isDefault(setting)) return `must omit ${name} of column ${column}, because ${value} is the default`;
    if (columns.has(settingKey(setting))) return `must set ${name} of column ${column} only once`;
    columns.set(settingKey(setting), setting);
  }
  return { ...options, columns };
}

const isDefault = ({ name, value }: ColumnSetting): boolean =>
  name === 'statistics' ? value === '-1' : value.toUpperCase() === 'DEFAULT';

interface Parameter {
  defnamespace?: string;
  defname: string;
  arg?: unknown;
}

const IDENTITIES: ReadonlyMap<unknown, 'FULL' | 'NOTHING'> = new Map([
  ['f', 'FULL'],
  ['n', 'NOTHING'],
]);

/** Returns the value as PostgreSQL stores it. A parameter without a value is true. */
function valueOf(arg: unknown): string {
  if (arg === undefined) return 'true';
  const integer = member(arg, 'Integer');
  if (integer !== undefined) return String((integer['ival'] as number | undefined) ?? 0);
  const float = member(arg, 'Float')?.['fval'];
  if (typeof float === 'string') return float;
  return stringOf(arg) ?? list(member(arg, 'TypeName')?.['names']).map(stringOf).join('.');
}

/** Returns the options in one form, so that their order does not matter. */
export const optionsRest = ({ parameters, isUnlogged, replicaIdentity, columns }: TableOptions): Node => ({
  parameters: [...parameters].map(([name, value]) => `${name}=${value}`).sort(),
  isUnlogged,
  replicaIdentity,
  columns: [...columns].map(([key, { value }]) => `${key}=${value}`).sort(),
});

/** True if the options are only settings of these columns. PostgreSQL drops them together with the columns. */
export const areOnlyOf = (
  { parameters, isUnlogged, replicaIdentity, columns }: TableOptions,
  of: ReadonlySet<string>,
): boolean =>
  parameters.size === 0 &&
  !isUnlogged &&
  replicaIdentity === null &&
  [...columns.values()].every(({ column }) => of.has(column));
