/* Reads the parts of CREATE RULE from the output of PostgreSQL's parser. */
import { type Node, list, member, nodesIn } from './expression.js';

export interface RuleParts {
  /** The tables and views that the condition and the commands read or write, without names defined in WITH. */
  relations: readonly string[];
  /** Those that the commands write. */
  written: readonly string[];
}

/** PostgreSQL reserves this name for the query of a view. */
const OF_VIEW = '_RETURN';

const REASON = 'when the rule is created, so the text would have another meaning after the table changes';
const COLUMNS = `must name the columns of INSERT: PostgreSQL adds them ${REASON}`;
const STAR_IN_VALUES = `must name its columns instead of * in VALUES: PostgreSQL replaces * ${REASON}`;
const SCHEMA =
  'must write the tables of its condition and its commands without a schema, because they must be in the schema of its table';

/** Statements whose target is in the member `relation`, without a node of its own. */
const WRITES: ReadonlySet<string> = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);

/** Returns the RangeVar of a node that reads or writes a relation. Undefined for other nodes. */
export const relationOfNode = (kind: string, node: Node): Node | undefined =>
  kind === 'RangeVar' ? node : WRITES.has(kind) ? member(node, 'relation') : undefined;

/**
 * Returns the parts, or a sentence that follows "must". The parser accepts only SELECT, INSERT, UPDATE, DELETE and NOTIFY
 * as commands. They run with the privileges of the owner of the table, which is usually the service. They can therefore
 * name no table of another schema, such as one of the service.
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
    if (relation['schemaname'] !== undefined) return SCHEMA;
    (kind === 'RangeVar' ? read : written).add(String(relation['relname']));
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
