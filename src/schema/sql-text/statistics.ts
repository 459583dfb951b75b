/* Reads the parts of CREATE STATISTICS from the output of PostgreSQL's parser. */
import { type Node, list, member, nodesIn, stringOf } from './expression.js';

export interface StatisticsParts {
  /** The columns of the table that the statistics object uses, also within expressions. */
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
  if (table['inh'] !== true || table['alias'] !== undefined) return 'must name its table without ONLY and alias';
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
