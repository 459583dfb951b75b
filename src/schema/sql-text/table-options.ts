/* Reads options of a table, which ALTER TABLE sets, from the output of PostgreSQL's parser. */
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
}

export const NO_OPTIONS: TableOptions = { parameters: new Map(), isUnlogged: false, replicaIdentity: null };

/** The prefix of parameters of the TOAST table. */
export const TOAST = 'toast.';

const COMMANDS =
  'must contain only SET (parameter = value), SET UNLOGGED, and REPLICA IDENTITY FULL or NOTHING, or only ENABLE and FORCE ROW LEVEL SECURITY';

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

function withCommand(options: TableOptions, { subtype, def }: Node): TableOptions | string {
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
export const optionsRest = ({ parameters, isUnlogged, replicaIdentity }: TableOptions): Node => ({
  parameters: [...parameters].map(([name, value]) => `${name}=${value}`).sort(),
  isUnlogged,
  replicaIdentity,
});
