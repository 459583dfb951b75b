/**
 * Parses parts of statements (pg_get_*def, or from a snapshot). Each is inserted into its statement, which must parse
 * as exactly that statement.
 */
import { type Node, member, only, parseStatement, scalarFault, isBareSelect } from './expression.js';
import { memoize } from '../../kernel/memoize.js';

/** Nodes of definitions that are no scalar expressions. */
const DEFINITION_NODES: ReadonlySet<string> = new Set(['IndexElem', 'PartitionElem', 'DefElem', 'List']);

type ConstraintKind = 'primary key' | 'unique' | 'check' | 'exclusion' | 'foreign key';

const CONSTRAINT_KINDS: ReadonlyMap<unknown, ConstraintKind> = new Map<unknown, ConstraintKind>([
  ['CONSTR_PRIMARY', 'primary key'],
  ['CONSTR_UNIQUE', 'unique'],
  ['CONSTR_CHECK', 'check'],
  ['CONSTR_EXCLUSION', 'exclusion'],
  ['CONSTR_FOREIGN', 'foreign key'],
]);

export interface ParsedConstraint {
  kind: ConstraintKind;
  /** The table that a foreign key references, with its schema if present. */
  references?: { schema?: string; table: string };
  /** NOT VALID: existing rows are not checked. */
  skipsRows: boolean;
  /** Columns and options of a primary key or unique constraint. */
  key?: ParsedKey;
}

export interface ParsedKey {
  columns: string[];
  included: string[];
  deferrable: boolean;
  initiallyDeferred: boolean;
  /** UNIQUE NULLS NOT DISTINCT. */
  nullsNotDistinct: boolean;
  /** WITHOUT OVERLAPS or WITH (…), which the columns of an index do not show. */
  more: boolean;
}

/** Parses a definition of pg_get_constraintdef. Returns a sentence if it is invalid. */
export const parseConstraint = memoize((text): Readonly<ParsedConstraint> | string => {
  const statement = parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${text}`);
  if (typeof statement === 'string') return statement;
  const constraint = addedConstraint(statement);
  const kind = CONSTRAINT_KINDS.get(constraint?.['contype']);
  if (constraint === undefined || kind === undefined) return 'must be the definition of one constraint';
  if (constraint['indexname'] !== undefined || constraint['indexspace'] !== undefined)
    return 'must not name an index or a tablespace';
  const fault = definitionFault([constraint['raw_expr'], constraint['where_clause'], constraint['exclusions']]);
  if (fault !== null) return fault;
  return { kind, skipsRows: constraint['skip_validation'] === true, ...partsOf(kind, constraint) };
});

function partsOf(kind: ConstraintKind, constraint: Node): Pick<ParsedConstraint, 'references' | 'key'> {
  const target = member(constraint, 'pktable');
  if (target !== undefined) return { references: tableName(target) };
  return kind === 'primary key' || kind === 'unique' ? { key: keyOf(constraint) } : {};
}

const keyOf = (constraint: Node): ParsedKey => ({
  columns: texts(constraint['keys']),
  included: texts(constraint['including']),
  deferrable: constraint['deferrable'] === true,
  initiallyDeferred: constraint['initdeferred'] === true,
  nullsNotDistinct: constraint['nulls_not_distinct'] === true,
  more: constraint['without_overlaps'] === true || constraint['options'] !== undefined,
});

const texts = (list: unknown): string[] =>
  Array.isArray(list) ? list.map((each) => String(member(each as Node, 'String')?.['sval'])) : [];

function addedConstraint(statement: Node): Node | undefined {
  const command = member(only(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  return command?.['subtype'] === 'AT_AddConstraint' ? member(member(command, 'def'), 'Constraint') : undefined;
}

function tableName(range: Node): { schema?: string; table: string } {
  const { schemaname, relname } = range;
  return { table: String(relname), ...(typeof schemaname === 'string' ? { schema: schemaname } : {}) };
}

/** Returns why `text` cannot follow `CREATE INDEX i ON t`, as `USING btree (lower(name)) WHERE …` does, or null. */
export const checkIndexDefinition = memoize((text): string | null => {
  const statement = parseStatement(`CREATE INDEX i ON t ${text}`);
  if (typeof statement === 'string') return statement;
  const index = member(statement, 'IndexStmt');
  const relation = member(index, 'relation');
  if (index === undefined || relation?.['relname'] !== 't' || index['tableSpace'] !== undefined)
    return 'must be the definition of one index, from USING on';
  return /^using\s/i.test(text)
    ? definitionFault([index['indexParams'], index['indexIncludingParams'], index['whereClause'], index['options']])
    : 'must start with USING';
});

/** Returns why `text` cannot follow PARTITION BY, or null. */
export function checkPartitionKey(text: string): string | null {
  const statement = parseStatement(`CREATE TABLE t () PARTITION BY ${text}`);
  if (typeof statement === 'string') return statement;
  const create = member(statement, 'CreateStmt');
  const key = member(create, 'partspec');
  const isBare = create !== undefined && Object.keys(create).every((each) => BARE_CREATE.has(each));
  if (key === undefined || !isBare || create['oncommit'] !== 'ONCOMMIT_NOOP')
    return 'must be a partition key: RANGE (a), LIST (a), HASH (a)';
  return definitionFault([key['partParams']]);
}

const BARE_CREATE: ReadonlySet<string> = new Set(['relation', 'partspec', 'oncommit']);

/** Returns why `text` cannot be the bounds of a partition, or null. */
export function checkPartitionBound(text: string): string | null {
  const statement = parseStatement(`ALTER TABLE t ATTACH PARTITION p ${text}`);
  if (typeof statement === 'string') return statement;
  const command = member(only(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  const bound = member(member(member(command, 'def'), 'PartitionCmd'), 'bound');
  if (command?.['subtype'] !== 'AT_AttachPartition' || bound === undefined)
    return 'must be the bounds of a partition: FOR VALUES …, or DEFAULT';
  return definitionFault([bound['listdatums'], bound['lowerdatums'], bound['upperdatums']]);
}

/** Returns why `text` cannot be the name of a collation, or null. */
export function checkCollation(text: string): string | null {
  const statement = parseStatement(`SELECT a COLLATE ${text}`);
  if (typeof statement === 'string') return statement;
  const select = member(statement, 'SelectStmt');
  const target = member(only(select?.['targetList']), 'ResTarget');
  const clause = member(member(target, 'val'), 'CollateClause');
  const isName =
    isBareSelect(select) && target?.['name'] === undefined && member(clause, 'arg')?.['ColumnRef'] !== undefined;
  return isName ? null : 'must be the name of a collation';
}

/** Expressions within a definition follow the same rules as others, after their wrappers are removed. */
function definitionFault(parts: readonly unknown[]): string | null {
  const open: unknown[] = [...parts];
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part !== 'object' || part === null) continue;
    if (Array.isArray(part)) open.push(...(part as unknown[]));
    else {
      const fault = wrappedFault(part as Node, open);
      if (fault !== null) return fault;
    }
  }
  return null;
}

function wrappedFault(part: Node, open: unknown[]): string | null {
  const [name = ''] = Object.keys(part);
  if (!DEFINITION_NODES.has(name)) return scalarFault(part);
  const inner = part[name] as Node;
  if (name !== 'DefElem') open.push(inner['expr'], inner['items']);
  return null;
}
