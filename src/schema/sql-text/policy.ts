/* Reads the parts of CREATE POLICY and of ALTER TABLE … ROW LEVEL SECURITY from the output of PostgreSQL's parser. */
import { type Node, list, member } from './expression.js';

export interface PolicyParts {
  /** `all`, `select`, `insert`, `update` or `delete`. */
  command: string;
  /** False for a policy AS RESTRICTIVE. */
  isPermissive: boolean;
  /** The names of the roles in TO, sorted. Empty for a policy for all roles. */
  roles: readonly string[];
  /** True if USING or WITH CHECK is the constant true. */
  isAlwaysTrue: boolean;
}

const ROLE_WORDS =
  'must name its roles instead of CURRENT_USER, CURRENT_ROLE or SESSION_USER: PostgreSQL replaces them when the policy is created, so the text would have another meaning for another role';

/** Returns the parts, or a sentence that follows "must". */
export function readPolicyParts(statement: Node): PolicyParts | string {
  const specs = list(statement['roles']).map((each) => member(each, 'RoleSpec') ?? {});
  const types = new Set(specs.map(({ roletype }) => roletype));
  const isForAll = types.has('ROLESPEC_PUBLIC');
  if (types.size > (isForAll ? 1 : 0) + (types.has('ROLESPEC_CSTRING') ? 1 : 0)) return ROLE_WORDS;
  const names = specs.flatMap(({ rolename }) => (typeof rolename === 'string' ? [rolename] : []));
  return {
    command: String(statement['cmd_name']),
    isPermissive: statement['permissive'] === true,
    roles: isForAll ? [] : [...new Set(names)].sort(),
    isAlwaysTrue: [statement['qual'], statement['with_check']].some(isTrue),
  };
}

const isTrue = (expression: unknown): boolean =>
  (member(expression, 'A_Const')?.['boolval'] as Node | undefined)?.['boolval'] === true;

/** Returns the statement without the names of the policy and of its table. The order of the roles does not matter. */
export function policyRest(statement: Node, { roles }: Pick<PolicyParts, 'roles'>): Node {
  const { policy_name: _name, table: _table, roles: _roles, ...rest } = statement;
  return { ...rest, roles };
}

const SWITCHES: ReadonlySet<unknown> = new Set(['AT_EnableRowSecurity', 'AT_ForceRowSecurity']);

/** Returns the switches that ALTER TABLE turns on, sorted. Null if it does anything else. */
export function readRowSecurity(statement: Node): string[] | null {
  const switches = list(statement['cmds']).map((each) => member(each, 'AlterTableCmd')?.['subtype']);
  if (statement['objtype'] !== 'OBJECT_TABLE' || statement['missing_ok'] === true) return null;
  return switches.every((each) => SWITCHES.has(each)) ? [...new Set(switches.map(String))].sort() : null;
}
