/** Finds removed and new tables that share most of their fields. One may have become the other. */
import type { Resumable } from '../../kernel/resumable.js';

export interface ShapedTable {
  name: string;
  /** A text per field: its name and type. */
  fields: ReadonlySet<string>;
}

/** Fields that more tables share are ignored. */
const COMMON = 16;
/** Candidates compared in detail per new table. */
const CLOSEST = 3;
/** Minimum share of the fields of the larger table. */
const MOST = 0.5;

/** Returns pairs of a removed and a new table of which neither has another as similar. */
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
  /** True if no other table is as similar. */
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

/** Maps a field to the tables that have it. */
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

/** Returns the tables that share the most rare fields. */
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

/** Returns the share of common fields in the larger table. */
function likenessOf({ fields: a }: ShapedTable, { fields: b }: ShapedTable): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const field of few) if (many.has(field)) shared += 1;
  return shared / many.size;
}
