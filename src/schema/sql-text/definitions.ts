/* Parses parts of statements, from pg_get_*def or from a snapshot. Each part is inserted into its statement, which
   must then parse as exactly that statement. */
import {
  type Node,
  member,
  onlyElement,
  parseStatement,
  scalarFault,
  isBareSelect,
  list,
  stringOf,
} from './expression.js';
import { memoize } from '../../kernel/memoize.js';

/* Finds the columns that an expression or definition uses, with PostgreSQL's parser. */

/**
 * Returns the columns that an expression reads. For `articles.title` the column is the last part. Empty if the text
 * does not parse.
 */
export const expressionColumns = (text: string): ReadonlySet<string> => namesIn(parseStatement(`SELECT (${text})`));

/**
 * Returns the columns of an index, including those in expressions, INCLUDE and WHERE. Empty if the text does not parse.
 */
export const indexColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`CREATE INDEX i ON t ${definition}`));

/** Returns the key columns of an index in order, without INCLUDE or WHERE. Null for a key that is an expression. */
export function indexKeys(definition: string): (string | null)[] {
  const parsed = parseStatement(`CREATE INDEX i ON t ${definition}`);
  const keys = typeof parsed === 'string' ? [] : list(member(parsed, 'IndexStmt')?.['indexParams']);
  return keys.map((key) => {
    const name = member(key, 'IndexElem')?.['name'];
    return typeof name === 'string' ? name : null;
  });
}

/** True if the index contains an expression as a key or after WHERE. */
export function hasIndexExpression(definition: string): boolean {
  const parsed = parseStatement(`CREATE INDEX i ON t ${definition}`);
  const isPartial = typeof parsed !== 'string' && member(parsed, 'IndexStmt')?.['whereClause'] !== undefined;
  return isPartial || indexKeys(definition).includes(null);
}

/** Returns the columns of the constraint's own table. Columns that a foreign key references are not included. */
export const constraintColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`));

interface KeyDefinition {
  /** The columns of the key, in order. */
  keys: string[];
  /** The columns in INCLUDE. */
  including: string[];
  /** True if the key has no INCLUDE, WITHOUT OVERLAPS, DEFERRABLE or WITH. */
  isPlain: boolean;
}

/** Parses the definition of a primary key or unique constraint: `PRIMARY KEY (id) INCLUDE (name)`. */
export function keyDefinition(definition: string): KeyDefinition {
  const key = constraintOf(definition);
  const names = (of: string) => list(key[of]).flatMap((name) => stringOf(name) ?? []);
  return {
    keys: names('keys'),
    including: names('including'),
    isPlain: Object.keys(key).every((each) => PLAIN_KEY.has(each)),
  };
}

const PLAIN_KEY: ReadonlySet<string> = new Set(['contype', 'conname', 'keys', 'location']);

/** Returns the columns that a foreign key references. */
export function targetColumns(definition: string): string[] {
  return list(constraintOf(definition)['pk_attrs']).flatMap((name) => stringOf(name) ?? []);
}

function constraintOf(definition: string): Record<string, unknown> {
  const parsed = parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`);
  const command = typeof parsed === 'string' ? undefined : onlyElement(member(parsed, 'AlterTableStmt')?.['cmds']);
  return member(member(member(command, 'AlterTableCmd'), 'def'), 'Constraint') ?? {};
}

/** Members with lists of plain names, for which the parser returns no column references. */
const NAME_LISTS = ['keys', 'including', 'fk_attrs'] as const;

function namesIn(statement: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [statement];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const name of referencedNames(value as Record<string, unknown>)) names.add(name);
    open.push(...Object.values(value));
  }
  return names;
}

function referencedNames(node: Record<string, unknown>): string[] {
  const { IndexElem: element, ColumnRef: reference } = node as {
    IndexElem?: { name?: string };
    ColumnRef?: { fields: unknown[] };
  };
  const named = element?.name === undefined ? [] : [element.name];
  const last = textOf(reference?.fields.at(-1));
  const lists = NAME_LISTS.flatMap((list) => (Array.isArray(node[list]) ? (node[list] as unknown[]) : []));
  return [...named, ...[last, ...lists.map(textOf)].filter((name) => name !== undefined)];
}

function textOf(node: unknown): string | undefined {
  return (node as { String?: { sval?: string } } | undefined)?.String?.sval;
}

/** Nodes that occur in definitions but are not scalar expressions. */
const DEFINITION_NODES: ReadonlySet<string> = new Set(['IndexElem', 'PartitionElem', 'DefElem', 'List']);

type ConstraintKind = 'primary key' | 'unique' | 'check' | 'exclusion' | 'foreign key';

const CONSTRAINT_KINDS: ReadonlyMap<unknown, ConstraintKind> = new Map<unknown, ConstraintKind>([
  ['CONSTR_PRIMARY', 'primary key'],
  ['CONSTR_UNIQUE', 'unique'],
  ['CONSTR_CHECK', 'check'],
  ['CONSTR_EXCLUSION', 'exclusion'],
  ['CONSTR_FOREIGN', 'foreign key'],
]);

interface ParsedConstraint {
  kind: ConstraintKind;
  /** The table that a foreign key references, with its schema if present. */
  references?: { schema?: string; table: string };
  /** True for NOT VALID, which does not check existing rows. */
  skipsRows: boolean;
  /** True for a CHECK without NO INHERIT. Tables that inherit from the table also have the constraint. */
  isInherited?: true;
  /** The columns and options of a primary key or unique constraint. */
  key?: ParsedKey;
}

export interface ParsedKey {
  columns: string[];
  included: string[];
  deferrable: boolean;
  initiallyDeferred: boolean;
  /** True for UNIQUE NULLS NOT DISTINCT. */
  nullsNotDistinct: boolean;
  /** True for WITHOUT OVERLAPS or WITH (…), which the columns of an index do not show. */
  more: boolean;
}

/** Parses a definition from pg_get_constraintdef. Returns a sentence if it is invalid. */
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

function partsOf(kind: ConstraintKind, constraint: Node): Omit<ParsedConstraint, 'kind' | 'skipsRows'> {
  if (kind === 'check') return constraint['is_no_inherit'] === true ? {} : { isInherited: true };
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
  const command = member(onlyElement(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  return command?.['subtype'] === 'AT_AddConstraint' ? member(member(command, 'def'), 'Constraint') : undefined;
}

function tableName(range: Node): { schema?: string; table: string } {
  const { schemaname, relname } = range;
  return { table: String(relname), ...(typeof schemaname === 'string' ? { schema: schemaname } : {}) };
}

/**
 * Returns why `text` cannot follow `CREATE INDEX i ON t`, or null. A valid text is `USING btree (lower(name)) WHERE …`.
 */
export const checkIndexDefinition = memoize((text): string | null => {
  const statement = parseStatement(`CREATE INDEX i ON t ${text}`);
  if (typeof statement === 'string') return statement;
  const index = member(statement, 'IndexStmt');
  const relation = member(index, 'relation');
  if (index === undefined || relation?.['relname'] !== 't' || index['tableSpace'] !== undefined)
    return 'must be the definition of one index, starting with USING';
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
  const command = member(onlyElement(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
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
  const target = member(onlyElement(select?.['targetList']), 'ResTarget');
  const clause = member(member(target, 'val'), 'CollateClause');
  const isName =
    isBareSelect(select) && target?.['name'] === undefined && member(clause, 'arg')?.['ColumnRef'] !== undefined;
  return isName ? null : 'must be the name of a collation';
}

/**
 * Checks the expressions within a definition. They follow the same rules as other expressions, after their wrappers are
 * removed.
 */
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
