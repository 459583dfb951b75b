/** Finds the columns that an expression or definition uses, with PostgreSQL's parser. */
import { list, member, only, parseStatement, stringOf } from './expression.js';

/** Columns that an expression reads. For `articles.title` the last part. Empty if the text does not parse. */
export const expressionColumns = (text: string): ReadonlySet<string> => namesIn(parseStatement(`SELECT (${text})`));

/** Includes columns in expressions, INCLUDE and WHERE. Empty if the text does not parse. */
export const indexColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`CREATE INDEX i ON t ${definition}`));

/** The key columns of an index in order, without INCLUDE and WHERE. Null for an expression. */
export function indexKeys(definition: string): (string | null)[] {
  const parsed = parseStatement(`CREATE INDEX i ON t ${definition}`);
  const keys = typeof parsed === 'string' ? [] : list(member(parsed, 'IndexStmt')?.['indexParams']);
  return keys.map((key) => {
    const name = member(key, 'IndexElem')?.['name'];
    return typeof name === 'string' ? name : null;
  });
}

/** Columns of the constraint's own table, without those that a foreign key references. */
export const constraintColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`));

export interface KeyDefinition {
  /** In order. */
  keys: string[];
  /** Columns that the key's index includes. */
  including: string[];
  /** True without INCLUDE, WITHOUT OVERLAPS, DEFERRABLE and WITH. */
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

/** The columns that a foreign key references. */
export function targetColumns(definition: string): string[] {
  return list(constraintOf(definition)['pk_attrs']).flatMap((name) => stringOf(name) ?? []);
}

function constraintOf(definition: string): Record<string, unknown> {
  const parsed = parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`);
  const command = typeof parsed === 'string' ? undefined : only(member(parsed, 'AlterTableStmt')?.['cmds']);
  return member(member(member(command, 'AlterTableCmd'), 'def'), 'Constraint') ?? {};
}

/** Lists of plain names, where the parser returns no column references. */
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
