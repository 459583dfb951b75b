/* Reads the parts of the statements that create triggers, rules, policies and statistics objects. */
import { type QualifiedName, qualifiedId } from '../model/object-ids.js';
import { type Node, list, stringOf, member, nodesIn } from './expression.js';

/* Reads the parts of CREATE TRIGGER from the output of PostgreSQL's parser. */

export interface TriggerParts {
  isConstraint: boolean;
  /** True for INSTEAD OF, which only views can have. */
  isInsteadOf: boolean;
  isForEachRow: boolean;
}

/** TRIGGER_TYPE_INSTEAD of PostgreSQL. */
const INSTEAD_OF = 64;

export const readTriggerParts = ({ isconstraint, timing, row }: Node): TriggerParts => ({
  isConstraint: isconstraint === true,
  isInsteadOf: timing === INSTEAD_OF,
  isForEachRow: row === true,
});

/** Returns the statement without the names of the trigger and of its table. */
export function triggerRest(statement: Node): Node {
  const { trigname: _name, relation: _relation, replace: _replace, ...rest } = statement;
  return rest;
}

/** Returns the table or view of the trigger, and the table after FROM. */
export const triggerRelations = ({ relation, constrrel }: Node): QualifiedName[] =>
  [relation, constrrel].flatMap((each) => {
    const { schemaname, relname } = (each as Node | undefined) ?? {};
    return typeof relname === 'string'
      ? [{ schema: typeof schemaname === 'string' ? schemaname : undefined, name: relname }]
      : [];
  });

/** The function that the trigger calls. */
export function triggerFunction({ funcname }: Node): QualifiedName {
  const [name = '', schema] = list(funcname).map(stringOf).reverse();
  return { schema, name };
}

/* Reads the parts of CREATE RULE from the output of PostgreSQL's parser. */

export interface RuleParts {
  /**
   * The tables and views that the condition and the commands read or write, as in `qualifiedId`, without names defined in
   * WITH.
   */
  relations: readonly string[];
  /** Those that the commands write. */
  written: readonly string[];
}

/** PostgreSQL reserves this name for the query of a view. */
const OF_VIEW = '_RETURN';

const REASON = 'when the rule is created, so the text would have a different meaning after the table changes';
const COLUMNS = `must name the columns of INSERT: PostgreSQL adds them ${REASON}`;
const STAR_IN_VALUES = `must name its columns instead of * in VALUES: PostgreSQL replaces * ${REASON}`;

/** Statements whose target is in the member `relation`, without a node of its own. */
const WRITES: ReadonlySet<string> = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);

/** Returns the RangeVar of a node that reads or writes a relation. Undefined for other nodes. */
export const relationOfNode = (kind: string, node: Node): Node | undefined =>
  kind === 'RangeVar' ? node : WRITES.has(kind) ? member(node, 'relation') : undefined;

/**
 * Returns the parts, or a sentence that follows "must". The parser accepts only SELECT, INSERT, UPDATE, DELETE and NOTIFY
 * as commands.
 */
export function readRuleParts(statement: Node): RuleParts | string {
  if (statement['rulename'] === OF_VIEW) return `must not have the name ${OF_VIEW}`;
  if (statement['event'] === 'CMD_SELECT') return 'must not be ON SELECT. Create a view instead';
  const query = { when: statement['whereClause'], actions: statement['actions'] };
  const [read, written, defined] = [new Set<string>(), new Set<string>(), new Set<unknown>()];
  for (const [kind, node] of nodesIn(query)) {
    const fault = columnsFault(kind, node);
    if (fault !== null) return fault;
    if (kind === 'CommonTableExpr') defined.add(node['ctename']);
    const relation = relationOfNode(kind, node);
    if (relation === undefined) continue;
    const { schemaname, relname } = relation;
    const schema = typeof schemaname === 'string' ? schemaname : undefined;
    (kind === 'RangeVar' ? read : written).add(qualifiedId({ schema, name: String(relname) }));
  }
  const relations = new Set([...written, ...[...read].filter((name) => !defined.has(name))]);
  return { relations: [...relations], written: [...written] };
}

function columnsFault(kind: string, node: Node): string | null {
  if (kind === 'InsertStmt' && node['selectStmt'] !== undefined && node['cols'] === undefined) return COLUMNS;
  return kind === 'SelectStmt' && list(node['valuesLists']).some(hasStar) ? STAR_IN_VALUES : null;
}

const hasStar = (row: unknown): boolean =>
  list(member(row, 'List')?.['items']).some(
    (value) => member(list(member(value, 'ColumnRef')?.['fields']).at(-1), 'A_Star') !== undefined,
  );

/** Returns the statement without the names of the rule and of its table. */
export function ruleRest(statement: Node): Node {
  const { rulename: _name, relation: _relation, replace: _replace, ...rest } = statement;
  return rest;
}

/* Reads the parts of CREATE POLICY and of ALTER TABLE … ROW LEVEL SECURITY from the output of PostgreSQL's parser. */

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
  'must name its roles instead of CURRENT_USER, CURRENT_ROLE or SESSION_USER: PostgreSQL replaces them when the policy is created, so the text would have a different meaning for another role';

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

/* Reads the parts of CREATE STATISTICS from the output of PostgreSQL's parser. */

export interface StatisticsParts {
  /** The columns of the table that the statistics object uses, including within expressions. */
  columns: readonly string[];
}

/** Returns a sentence that follows "must", or null. */
export function statisticsFault(statement: Node): string | null {
  const [name, schema, database] = list(statement['defnames']).map(stringOf).reverse();
  if (statement['if_not_exists'] === true) return 'must not contain IF NOT EXISTS';
  if (name === undefined) return 'must name the statistics object';
  if (database !== undefined) return 'must not name a database';
  return tableFault(list(statement['relations']), schema);
}

function tableFault(relations: readonly unknown[], schema: string | undefined): string | null {
  const table = member(relations[0], 'RangeVar');
  if (table === undefined || relations.length > 1) return 'must name one table after FROM';
  if (table['inh'] !== true || table['alias'] !== undefined) return 'must name its table without ONLY or an alias';
  return schema === undefined || (table['schemaname'] ?? schema) === schema
    ? null
    : 'must create the statistics object in the schema of its table';
}

/** Returns the name, with the schema that is written before it, and the table. */
export function readStatisticsNames(statement: Node): { name: string; schema: string | undefined; relation: Node } {
  const [name = '', schema] = list(statement['defnames']).map(stringOf).reverse();
  return { name, schema, relation: member(list(statement['relations'])[0], 'RangeVar') ?? {} };
}

export function readStatisticsParts(statement: Node): StatisticsParts {
  const elements = list(statement['exprs']);
  const names = elements.map((each) => member(each, 'StatsElem')?.['name']);
  const references = [...nodesIn(elements)].flatMap(([kind, { fields }]) =>
    kind === 'ColumnRef' ? (stringOf(list(fields).at(-1)) ?? []) : [],
  );
  return { columns: [...new Set([...names.filter((name) => typeof name === 'string'), ...references])] };
}

/**
 * Returns the statement without the names. The order of the kinds and of the columns does not matter: PostgreSQL sorts
 * them, and puts expressions after the columns.
 */
export function statisticsRest({ stat_types: kinds, exprs }: Node): Node {
  const elements = list(exprs).map((each) => member(each, 'StatsElem') ?? {});
  return {
    kinds: [...new Set(list(kinds).map((kind) => String(stringOf(kind))))].sort(),
    columns: elements.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])).sort(),
    expressions: elements.flatMap(({ expr }) => (expr === undefined ? [] : [expr])),
  };
}
