/**
 * Other names of tables and columns in a SQL text, at the places where the parser finds a reference to one; a word that
 * only looks like it stays. What becomes of the text is parsed again, and must say the same of the new names.
 */
import { scanSync } from 'libpg-query';
import { STATEMENTS, type TextKind, parseText } from './check-sql-text.js';
import { type Node, list, member, stringOf } from './expression.js';
import { quotedName } from './quoted-name.js';
import { fingerprintOf } from './same-text.js';

/** What names become in a text; a name that isn't renamed becomes itself. */
export interface TextNames {
  /** Of the text's own table, as qualifier. */
  table: (name: string) => string;
  /** Of its columns. */
  column: (name: string) => string;
  /** Whether it has a column of the name, as it is in the text: by itself the name means that, and else its table's row. */
  isColumn: (name: string) => boolean;
  /** Of a table that a foreign key points at. */
  target: (name: string) => string;
  /** Of the columns that a foreign key points at. */
  targetColumn: (name: string) => string;
}

/** @returns the same text where nothing in it is renamed; null where it can't be rewritten */
export function renamedText(kind: TextKind, text: string, names: TextNames): string | null {
  const parsed = parseText(kind, text);
  if (typeof parsed === 'string') return null;
  const desired = structuredClone(parsed);
  const found: Reference[] = [];
  walk(desired, names, found);
  if (found.length === 0) return text;
  const statement = Buffer.from(STATEMENTS[kind].replace('?', () => text));
  const written = rewritten(statement, found);
  const [before, after] = STATEMENTS[kind].split('?') as [string, string];
  const next = written?.slice(before.length, written.length - after.length);
  const again = next === undefined ? '' : parseText(kind, next);
  return next === undefined || typeof again === 'string' || fingerprintOf(again) !== fingerprintOf(desired)
    ? null
    : next;
}

/** A name that stands in the text, and what it becomes. */
interface Reference {
  /** Where its place is known by: a byte of the statement, or an item of a list in parentheses. */
  at: { byte: number; part: number } | { list: List; item: number };
  to: string;
}

/** The lists of names that a definition has, of which the parser keeps no places. */
type List = 'own' | 'target' | 'included' | 'set on delete';

/** Renames in the tree, and notes what it renames. Without recursion: texts may be nested deeper than the stack goes. */
function walk(root: Node, names: TextNames, found: Reference[]): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      RENAMERS[name]?.(inner as Node, names, found);
      open.push(inner);
    }
  }
}

type Renamer = (node: Node, names: TextNames, found: Reference[]) => void;

const RENAMERS: Readonly<Record<string, Renamer>> = {
  ColumnRef(node, { table, column, isColumn }, found) {
    const fields = list(node['fields']);
    const last = fields.length - 1;
    const isWhole = member(fields[last], 'A_Star') !== undefined;
    for (const [part, field] of fields.entries()) {
      const name = stringOf(field);
      if (name === undefined) continue;
      // `title`, `articles.title`, `public.articles.title`, `articles.*`; a table's name alone is its row.
      const isTable = part === last - 1 || (last === 0 && !isColumn(name));
      const change = isTable ? table : part === last && !isWhole ? column : undefined;
      if (change !== undefined) renameString(field, { change, at: { byte: byteOf(node), part } }, found);
    }
  },
  PartitionElem(node, { column: change }, found) {
    renameMember(node, 'name', { change, at: { byte: byteOf(node), part: 0 } }, found);
  },
  pktable(node, { target: change }, found) {
    const part = node['schemaname'] === undefined ? 0 : 1;
    renameMember(node, 'relname', { change, at: { byte: byteOf(node), part } }, found);
  },
  Constraint(node, { column, targetColumn }, found) {
    renameList(node['keys'], { change: column, of: 'own' }, found);
    renameList(node['fk_attrs'], { change: column, of: 'own' }, found);
    renameList(node['pk_attrs'], { change: targetColumn, of: 'target' }, found);
    renameList(node['including'], { change: column, of: 'included' }, found);
    renameList(node['fk_del_set_cols'], { change: column, of: 'set on delete' }, found);
    const elements = list(node['exclusions']).map((each) => list(member(each, 'List')?.['items'])[0]);
    renameList(elements, { change: column, of: 'own' }, found);
  },
  IndexStmt(node, { column: change }, found) {
    renameList(node['indexParams'], { change, of: 'own' }, found);
    renameList(node['indexIncludingParams'], { change, of: 'included' }, found);
  },
};

const byteOf = (node: Node): number => (typeof node['location'] === 'number' ? node['location'] : 0);

interface Renaming {
  change: (name: string) => string;
  at: Reference['at'];
}

function renameString(node: unknown, renaming: Renaming, found: Reference[]): void {
  const text = member(node, 'String');
  if (text !== undefined) renameMember(text, 'sval', renaming, found);
}

function renameMember(node: Node, name: string, { change, at }: Renaming, found: Reference[]): void {
  const value = node[name];
  const to = typeof value === 'string' ? change(value) : value;
  if (typeof to !== 'string' || to === value) return;
  node[name] = to;
  found.push({ at, to });
}

/** Of names, or of the elements of an index, which may be expressions instead. */
function renameList(
  value: unknown,
  { change, of }: { change: Renaming['change']; of: List },
  found: Reference[],
): void {
  for (const [item, node] of list(value).entries()) {
    const renaming = { change, at: { list: of, item } };
    const element = member(node, 'IndexElem');
    if (element === undefined) renameString(node, renaming, found);
    else renameMember(element, 'name', renaming, found);
  }
}

interface Token {
  start: number;
  end: number;
  text: string;
}

const CONTROL = /\p{Cc}/gu;

/** The statement with the new names; undefined where a name isn't where it should be. */
function rewritten(statement: Buffer, found: readonly Reference[]): string | undefined {
  // The scanner's answer is broken by control characters, which matter only inside quotes: blanks take their bytes.
  const scanned = statement.toString().replaceAll(CONTROL, (each) => ' '.repeat(Buffer.byteLength(each)));
  const tokens: Token[] = scanSync(scanned).tokens;
  const lists = listsIn(tokens);
  const edits: { token: Token; to: string }[] = [];
  for (const { at, to } of found) {
    const token = 'byte' in at ? tokenAt(tokens, at) : lists.get(at.list)?.[at.item];
    if (token === undefined) return undefined;
    edits.push({ token, to });
  }
  edits.sort((a, b) => a.token.start - b.token.start);
  const parts: Buffer[] = [];
  let end = 0;
  for (const { token, to } of edits) {
    parts.push(statement.subarray(end, token.start), Buffer.from(quotedName(to)));
    end = token.end;
  }
  return Buffer.concat([...parts, statement.subarray(end)]).toString();
}

/** The n-th name of a reference that begins at a byte: names and dots take turns. */
function tokenAt(tokens: readonly Token[], { byte, part }: { byte: number; part: number }): Token | undefined {
  const first = tokens.findIndex(({ start }) => start === byte);
  return first < 0 ? undefined : tokens[first + 2 * part];
}

/** The first token of each item of the lists of names, outermost parentheses alone. */
function listsIn(tokens: readonly Token[]): ReadonlyMap<List, readonly Token[]> {
  const lists = new Map<List, Token[]>();
  for (const { before, inside } of parenthesised(tokens)) {
    const of = listAfter(before, lists);
    if (of !== undefined) lists.set(of, itemsIn(inside).flatMap(nameOf));
  }
  return lists;
}

/** What stands in outermost parentheses, with the word in front of them. */
function* parenthesised(tokens: readonly Token[]): Generator<{ before: string; inside: Token[] }> {
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

/** Which list a parenthesis opens, by the word before it; undefined: it is none of names. */
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

/** `PERIOD valid_at` is the column `valid_at`. */
function nameOf(item: readonly Token[]): Token[] {
  const [first, second] = item;
  const name = item.length === 2 && first?.text.toUpperCase() === 'PERIOD' ? second : first;
  return name === undefined ? [] : [name];
}
