/* Compares SQL texts. Also renames tables and columns in them where the parser finds references. Words that only look
   similar are not changed. The result is parsed again and must have the same meaning with the new names. */
import { SEARCHED } from '../model/object-ids.js';
import { hash } from 'node:crypto';
import { scanSync } from 'libpg-query';
import { STATEMENTS, type TextKind, parseText } from './check-sql-text.js';
import { type Node, list, member, stringOf } from './expression.js';
import { quotedName } from './quoted-name.js';
import { readNameKey, withoutRegclass } from './result-size.js';
import { memoize } from '../../kernel/memoize.js';

/* Compare SQL with PostgreSQL's parser. White space, quotes, letter case of keywords, parentheses and defaults
   (`MATCH SIMPLE`, `NO ACTION`) do not matter. Differences that only the server could resolve do matter: `'x'`
   differs from `'x'::text`. */

/** True if both strings have the same meaning. If one of them does not parse, they must be equal. */
export function isSameText(kind: TextKind, a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [a, b].map((text) => FINGERPRINTS[kind](text));
  return first !== null && first === second;
}

const fingerprints = (kind: TextKind) =>
  memoize((text): string | null => {
    const statement = parseText(kind, text);
    return typeof statement === 'string' ? null : fingerprintOf(statement);
  });

const FINGERPRINTS: { readonly [K in TextKind]: (text: string) => string | null } = {
  expression: fingerprints('expression'),
  constraint: fingerprints('constraint'),
  index: fingerprints('index'),
  'partition key': fingerprints('partition key'),
  'partition bound': fingerprints('partition bound'),
};

/** Members that contain locations in the text. */
const PLACE = /^(.*_)?(location|list_start|list_end)$/;

/**
 * Returns a string that is equal for equal statements. Works without recursion, because SQL may be nested deeper than
 * the stack.
 */
export function fingerprintOf(root: Node): string {
  const parts: string[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value));
    else {
      const members = Object.entries(value).filter(([name]) => !PLACE.test(name));
      // The member names define how many parts of each node follow.
      parts.push(JSON.stringify(members.map(([name]) => name)));
      for (const [, inner] of members) open.push(inner);
    }
  }
  return hash('sha256', parts.join('\n'));
}

/** Functions that map names to new names. A name that is not renamed maps to itself. */
export interface TextNames {
  /** Maps the name of the text's own table, where it qualifies a column. */
  table: (name: string) => string;
  /** Maps the columns of the text's own table. */
  column: (name: string) => string;
  /** True if the table has a column of the name. Otherwise an unqualified name means the row of its table. */
  isColumn: (name: string) => boolean;
  /** Maps a table that a foreign key references. `schema` is present if the text names it. */
  target: (name: string, schema?: string) => WrittenName;
  /** Maps the columns that a foreign key references. */
  targetColumn: (name: string) => string;
  /** Maps a sequence that a call of `nextval` names. Absent if no sequence moves. */
  sequence?: ((key: string) => WrittenName | undefined) | undefined;
  /** True if the text's own table moves to another schema, so that a text cannot name its former one. */
  isMoved?: boolean;
}

/** A name in a text, with its schema if the text must contain it. */
export interface WrittenName {
  schema?: string | undefined;
  name: string;
}

/** Returns the text with new names, or the same text if nothing is renamed. Null if the text cannot be rewritten. */
export function renamedText(kind: TextKind, text: string, names: TextNames): string | null {
  const parsed = parseText(kind, text);
  if (typeof parsed === 'string') return null;
  const desired = structuredClone(parsed);
  const references: Reference[] = [];
  walk(desired, names, references);
  if (references.length === 0) return text;
  const statement = Buffer.from(STATEMENTS[kind].replace('?', () => text));
  const written = rewriteStatement(statement, references);
  const [before, after] = STATEMENTS[kind].split('?') as [string, string];
  const next = written?.slice(before.length, written.length - after.length);
  const again = next === undefined ? '' : parseText(kind, next);
  return next === undefined || typeof again === 'string' || fingerprintOf(again) !== fingerprintOf(desired)
    ? null
    : next;
}

/** A name in the text and its replacement. */
interface Reference {
  /**
   * The location of the name: a byte of the statement, or an item of a list in parentheses. `parts` is the number of names
   * with dots between them that are replaced.
   */
  at: { byte: number; part: number; parts?: number } | { list: List; item: number };
  /** The new text, with quotes. */
  to: string;
}

/** Lists of names in a definition, for which the parser returns no locations. */
type List = 'own' | 'target' | 'included' | 'set on delete';

/**
 * Renames in the parse tree and records the changes. Works without recursion, because texts may be nested deeper than
 * the stack.
 */
function walk(root: Node, names: TextNames, references: Reference[]): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      RENAMERS[name]?.(inner as Node, names, references);
      open.push(inner);
    }
  }
}

type Renamer = (node: Node, names: TextNames, found: Reference[]) => void;

const RENAMERS: Readonly<Record<string, Renamer>> = {
  ColumnRef(node, names, references) {
    const fields = list(node['fields']);
    if (names.isMoved === true && fields.length > 2) omitSchema(node, { fields, table: names.table }, references);
    else renameColumnRef(node, names, references);
  },
  PartitionElem(node, { column: change }, references) {
    renameMember(node, 'name', { change, at: { byte: byteOf(node), part: 0 } }, references);
  },
  pktable(node, { target: change }, references) {
    const { schemaname, relname } = node;
    const schema = typeof schemaname === 'string' ? schemaname : undefined;
    const to = change(String(relname), schema);
    if (to.name === relname && to.schema === schema) return;
    const others = { ...node };
    for (const member of Object.keys(node)) delete node[member];
    // Members in the order of the parser, which the comparison of statements respects.
    if (to.schema !== undefined) node['schemaname'] = to.schema;
    delete others['schemaname'];
    Object.assign(node, { ...others, relname: to.name });
    const at = { byte: byteOf(node), part: 0, parts: schema === undefined ? 1 : 2 };
    references.push({ at, to: writeName(to) });
  },
  FuncCall(node, { sequence }, references) {
    const [argument] = list(node['args']);
    if (sequence === undefined || argument === undefined || stringOf(list(node['funcname']).at(-1)) !== 'nextval')
      return;
    const literal = member(withoutRegclass(argument), 'A_Const');
    const value = member(literal, 'sval');
    const key = typeof value?.['sval'] === 'string' ? readNameKey(value['sval']) : undefined;
    const to = key === undefined ? undefined : sequence(key);
    if (literal === undefined || value === undefined || to === undefined) return;
    value['sval'] = writeName(to);
    references.push({ at: { byte: byteOf(literal), part: 0 }, to: `'${writeName(to).replaceAll("'", "''")}'` });
  },
  Constraint(node, { column, targetColumn }, references) {
    renameList(node['keys'], { change: column, of: 'own' }, references);
    renameList(node['fk_attrs'], { change: column, of: 'own' }, references);
    renameList(node['pk_attrs'], { change: targetColumn, of: 'target' }, references);
    renameList(node['including'], { change: column, of: 'included' }, references);
    renameList(node['fk_del_set_cols'], { change: column, of: 'set on delete' }, references);
    const elements = list(node['exclusions']).map((each) => list(member(each, 'List')?.['items'])[0]);
    renameList(elements, { change: column, of: 'own' }, references);
  },
  IndexStmt(node, { column: change }, references) {
    renameList(node['indexParams'], { change, of: 'own' }, references);
    renameList(node['indexIncludingParams'], { change, of: 'included' }, references);
  },
};

const renameColumnRef: Renamer = (node, { table, column, isColumn }, references) => {
  const fields = list(node['fields']);
  const last = fields.length - 1;
  const isWhole = member(fields[last], 'A_Star') !== undefined;
  for (const [part, field] of fields.entries()) {
    const name = stringOf(field);
    if (name === undefined) continue;
    // Handles `title`, `articles.title`, `public.articles.title` and `articles.*`. The name of a table alone means
    // its row.
    const isTable = part === last - 1 || (last === 0 && !isColumn(name));
    const change = isTable ? table : part === last && !isWhole ? column : undefined;
    if (change !== undefined) renameString(field, { change, at: { byte: byteOf(node), part } }, references);
  }
};

/** `public.articles.title` becomes `articles.title`, which is valid in every schema. */
function omitSchema(
  node: Node,
  { fields, table }: { fields: unknown[]; table: TextNames['table'] },
  references: Reference[],
): void {
  const parts = fields.length - 1;
  const own = member(fields[parts - 1], 'String');
  if (own === undefined) return;
  fields.splice(0, parts - 1);
  own['sval'] = table(String(own['sval']));
  references.push({ at: { byte: byteOf(node), part: 0, parts }, to: quotedName(String(own['sval'])) });
}

/** Returns a name with its schema if PostgreSQL would write it. */
export const asWritten = (schema: string | undefined, name: string): WrittenName =>
  schema === undefined || schema === SEARCHED ? { name } : { schema, name };

export const writeName = ({ schema, name }: WrittenName): string =>
  schema === undefined ? quotedName(name) : `${quotedName(schema)}.${quotedName(name)}`;

const byteOf = (node: Node): number => (typeof node['location'] === 'number' ? node['location'] : 0);

interface Renaming {
  change: (name: string) => string;
  at: Reference['at'];
}

function renameString(node: unknown, renaming: Renaming, references: Reference[]): void {
  const text = member(node, 'String');
  if (text !== undefined) renameMember(text, 'sval', renaming, references);
}

function renameMember(node: Node, name: string, { change, at }: Renaming, references: Reference[]): void {
  const value = node[name];
  const to = typeof value === 'string' ? change(value) : value;
  if (typeof to !== 'string' || to === value) return;
  node[name] = to;
  references.push({ at, to: quotedName(to) });
}

/** Renames in a list of names or index elements. Index elements may be expressions. */
function renameList(
  value: unknown,
  { change, of }: { change: Renaming['change']; of: List },
  references: Reference[],
): void {
  for (const [item, node] of list(value).entries()) {
    const renaming = { change, at: { list: of, item } };
    const element = member(node, 'IndexElem');
    if (element === undefined) renameString(node, renaming, references);
    else renameMember(element, 'name', renaming, references);
  }
}

interface Token {
  start: number;
  end: number;
  text: string;
}

const CONTROL = /\p{Cc}/gu;

/** Returns the statement with new names. Undefined if a name is not at its expected location. */
function rewriteStatement(statement: Buffer, references: readonly Reference[]): string | undefined {
  // Control characters corrupt the result of the scanner, so blanks of the same byte length replace them. Control
  // characters matter only within quotes.
  const scanned = statement.toString().replaceAll(CONTROL, (each) => ' '.repeat(Buffer.byteLength(each)));
  const tokens: Token[] = scanSync(scanned).tokens;
  const lists = listsIn(tokens);
  const edits: { first: Token; last: Token; to: string }[] = [];
  for (const { at, to } of references) {
    const first = 'byte' in at ? tokenAt(tokens, at) : lists.get(at.list)?.[at.item];
    const last = 'byte' in at ? tokenAt(tokens, { ...at, part: at.part + (at.parts ?? 1) - 1 }) : first;
    if (first === undefined || last === undefined) return undefined;
    edits.push({ first, last, to });
  }
  edits.sort((a, b) => a.first.start - b.first.start);
  const parts: Buffer[] = [];
  let end = 0;
  for (const { first, last, to } of edits) {
    parts.push(statement.subarray(end, first.start), Buffer.from(to));
    end = last.end;
  }
  return Buffer.concat([...parts, statement.subarray(end)]).toString();
}

/** Returns the n-th name of a reference that begins at a byte. Names and dots alternate. */
function tokenAt(tokens: readonly Token[], { byte, part }: { byte: number; part: number }): Token | undefined {
  const first = tokens.findIndex(({ start }) => start === byte);
  return first < 0 ? undefined : tokens[first + 2 * part];
}

/** Returns the first token of each item in outermost lists of names. */
function listsIn(tokens: readonly Token[]): ReadonlyMap<List, readonly Token[]> {
  const lists = new Map<List, Token[]>();
  for (const { before, inside } of readParentheses(tokens)) {
    const of = listAfter(before, lists);
    if (of !== undefined) lists.set(of, itemsIn(inside).flatMap(nameOf));
  }
  return lists;
}

/** Yields the content of outermost parentheses and the word before them. */
function* readParentheses(tokens: readonly Token[]): Generator<{ before: string; inside: Token[] }> {
  let [depth, start] = [0, 0];
  for (const [index, { text }] of tokens.entries()) {
    if (text === '(' && ++depth === 1) start = index;
    if (text === ')' && --depth === 0)
      yield { before: tokens[start - 1]?.text ?? '', inside: tokens.slice(start + 1, index) };
  }
}

function itemsIn(tokens: readonly Token[]): Token[][] {
  const items: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (token.text === ',' && depth === 0) items.push([]);
    else items.at(-1)?.push(token);
  }
  return items;
}

/** Returns the list that a parenthesis opens, by the preceding word. Undefined if it is not a list of names. */
function listAfter(word: string, lists: ReadonlyMap<List, unknown>): List | undefined {
  switch (word.toUpperCase()) {
    case 'INCLUDE':
      return 'included';
    case 'NULL':
    case 'DEFAULT':
      return 'set on delete';
    case 'WITH':
    case 'WHERE':
    case 'CHECK':
      return undefined;
    default:
      return lists.has('own') ? 'target' : 'own';
  }
}

/** Returns the tokens of a name. In `PERIOD valid_at`, the name is `valid_at`. */
function nameOf(item: readonly Token[]): Token[] {
  const [first, second] = item;
  const name = item.length === 2 && first?.text.toUpperCase() === 'PERIOD' ? second : first;
  return name === undefined ? [] : [name];
}
