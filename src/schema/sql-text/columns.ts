/** Which columns an expression or a definition names, by PostgreSQL's own parser. */
import { list, member, only, parseStatement, stringOf } from './expression.js';

/** Those that an expression reads: of `articles.title` the last part; none of a text that doesn't parse. */
export const expressionColumns = (text: string): ReadonlySet<string> => namesIn(parseStatement(`SELECT (${text})`));

/** Those in its expressions, INCLUDE and WHERE are among them; none of a text that doesn't parse. */
export const indexColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`CREATE INDEX i ON t ${definition}`));

/** The columns of an index in their order; null for an expression. INCLUDE and WHERE are not among them. */
export function indexKeys(definition: string): (string | null)[] {
  const parsed = parseStatement(`CREATE INDEX i ON t ${definition}`);
  const keys = typeof parsed === 'string' ? [] : list(member(parsed, 'IndexStmt')?.['indexParams']);
  return keys.map((key) => {
    const name = member(key, 'IndexElem')?.['name'];
    return typeof name === 'string' ? name : null;
  });
}

/** Those of the constraint's own table: what a foreign key points at is not among them. */
export const constraintColumns = (definition: string): ReadonlySet<string> =>
  namesIn(parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`));

export interface KeyDefinition {
  /** In their order. */
  keys: string[];
  /** Columns that the key's index carries along. */
  including: string[];
  /** Whether there is nothing but the columns: no INCLUDE, WITHOUT OVERLAPS, DEFERRABLE, WITH. */
  isPlain: boolean;
}

/** What the definition of a primary key says, or of a unique constraint: `PRIMARY KEY (id) INCLUDE (name)`. */
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

/** The columns of the other table that a foreign key points at. */
export function targetColumns(definition: string): string[] {
  return list(constraintOf(definition)['pk_attrs']).flatMap((name) => stringOf(name) ?? []);
}

function constraintOf(definition: string): Record<string, unknown> {
  const parsed = parseStatement(`ALTER TABLE t ADD CONSTRAINT c ${definition}`);
  const command = typeof parsed === 'string' ? undefined : only(member(parsed, 'AlterTableStmt')?.['cmds']);
  return member(member(member(command, 'AlterTableCmd'), 'def'), 'Constraint') ?? {};
}

/** Lists of plain names, where a column isn't a reference. */
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
