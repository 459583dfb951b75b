/** Tables that go and tables that come, most of whose fields are the same: perhaps one became the other. */
import type { Resumable } from '../../kernel/resumable.js';

export interface ShapedTable {
  name: string;
  /** A text for each field: its name and its kind. */
  fields: ReadonlySet<string>;
}

/** What more tables have than this tells nothing of them. */
const COMMON = 16;
/** Looked at closely for each table that comes. */
const CLOSEST = 3;
/** Of the fields of the larger one: more than that. */
const MOST = 0.5;

/** The names of pairs of which each has no other as similar to it: what goes, and what comes. */
export function* similarTables(
  gone: readonly ShapedTable[],
  come: readonly ShapedTable[],
): Resumable<[string, string][]> {
  if (gone.length === 0 || come.length === 0) return [];
  const holders = yield* holdersOf(gone);
  const nearest = { gone: new Map<ShapedTable, Nearest>(), come: new Map<ShapedTable, Nearest>() };
  for (const table of come) {
    for (const other of yield* closest(table, holders)) {
      const likeness = likenessOf(table, other);
      if (likeness <= MOST) continue;
      noteNearest(nearest.come, table, { table: other, likeness });
      noteNearest(nearest.gone, other, { table, likeness });
    }
    yield;
  }
  return [...nearest.come].flatMap(([table, there]): [string, string][] =>
    isMutual(table, there, nearest.gone.get(there.table)) ? [[there.table.name, table.name]] : [],
  );
}

const isMutual = (table: ShapedTable, there: Nearest, back: Nearest | undefined): boolean =>
  there.isAlone && back?.isAlone === true && back.table === table;

interface Nearest {
  table: ShapedTable;
  likeness: number;
  /** No other one is as like. */
  isAlone: boolean;
}

function noteNearest(
  found: Map<ShapedTable, Nearest>,
  of: ShapedTable,
  { table, likeness }: Omit<Nearest, 'isAlone'>,
): void {
  const best = found.get(of);
  if (best === undefined || likeness > best.likeness) found.set(of, { table, likeness, isAlone: true });
  else if (likeness === best.likeness) best.isAlone = false;
}

/** By a field, those that have it. */
function* holdersOf(tables: readonly ShapedTable[]): Resumable<ReadonlyMap<string, ShapedTable[]>> {
  const holders = new Map<string, ShapedTable[]>();
  for (const table of tables) {
    for (const field of table.fields) {
      const list = holders.get(field);
      if (list === undefined) holders.set(field, [table]);
      else if (list.length <= COMMON) list.push(table);
    }
    yield;
  }
  return holders;
}

/** Those that share the most of what only some tables have. */
function* closest(
  { fields }: ShapedTable,
  holders: ReadonlyMap<string, readonly ShapedTable[]>,
): Resumable<ShapedTable[]> {
  const shared = new Map<ShapedTable, number>();
  for (const field of fields) {
    const list = holders.get(field) ?? [];
    if (list.length <= COMMON) for (const table of list) shared.set(table, (shared.get(table) ?? 0) + 1);
  }
  yield;
  const ordered = [...shared].sort(([, a], [, b]) => b - a);
  return ordered.slice(0, CLOSEST).map(([table]) => table);
}

/** Fields that both have, of those of the larger one. */
function likenessOf({ fields: a }: ShapedTable, { fields: b }: ShapedTable): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const field of few) if (many.has(field)) shared += 1;
  return shared / many.size;
}
