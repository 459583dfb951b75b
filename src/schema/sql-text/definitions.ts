/**
 * Parts of statements that come as text (pg_get_*def, or a snapshot): each is put where it would stand, and the whole
 * must parse as exactly that statement and nothing else.
 */
import { type Node, member, only, parseStatement, scalarFault, isBareSelect } from './expression.js';
import { memoize } from '../../kernel/memoize.js';

/** Nodes that aren't scalar expressions but belong to definitions. */
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
  /** Of a foreign key: the table it points at, with its schema if that is written. */
  references?: { schema?: string; table: string };
  /** NOT VALID: existing rows are not looked at. */
  skipsRows: boolean;
  /** Of a primary key or a unique constraint: its columns and what else is said of it. */
  key?: ParsedKey;
}

export interface ParsedKey {
  columns: string[];
  included: string[];
  deferrable: boolean;
  initiallyDeferred: boolean;
  /** UNIQUE NULLS NOT DISTINCT. */
  nullsNotDistinct: boolean;
  /** WITHOUT OVERLAPS, WITH (…): what an index doesn't say by its columns. */
  more: boolean;
}

/** A constraint's definition as pg_get_constraintdef writes it; a sentence where it is anything else. */
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

/** Why `text` can't be what follows `CREATE INDEX i ON t`: `USING btree (lower(name)) WHERE …`. */
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

/** Why `text` can't be what follows PARTITION BY. */
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

/** Why `text` can't be the bounds of a partition. */
export function checkPartitionBound(text: string): string | null {
  const statement = parseStatement(`ALTER TABLE t ATTACH PARTITION p ${text}`);
  if (typeof statement === 'string') return statement;
  const command = member(only(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  const bound = member(member(member(command, 'def'), 'PartitionCmd'), 'bound');
  if (command?.['subtype'] !== 'AT_AttachPartition' || bound === undefined)
    return 'must be the bounds of a partition: FOR VALUES …, or DEFAULT';
  return definitionFault([bound['listdatums'], bound['lowerdatums'], bound['upperdatums']]);
}

/** Why `text` can't be the name of a collation. */
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

/** Expressions inside a definition are held to the same as any other; what surrounds them is taken off first. */
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
