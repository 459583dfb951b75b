/**
 * Finds removed and new objects that look alike. They may have been renamed in the database that the snapshot came
 * from.
 */
import { columnType } from '../normal-form/index.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Field } from '../model/model.js';
import { type CollectionNode, type State, byName, isFolder } from '../model/state.js';
import type { Warning } from '../../kernel/problem.js';

/* Finds removed and new tables that share most of their fields. The new table may be the removed one under another
   name. */

interface ShapedTable {
  name: string;
  /** One text per field, made of its name and type. */
  fields: ReadonlySet<string>;
}

/** A field that more than this number of tables have says little about likeness, so it is ignored. */
const COMMON = 16;
/** Maximum number of candidates that are compared in detail for each new table. */
const CLOSEST = 3;
/** A pair must share more than this fraction of the fields of the larger table. */
const MOST = 0.5;

/** Returns pairs of a removed and a new table that resemble each other more than any other table. */
export function* similarTables(
  oldOnly: readonly ShapedTable[],
  newOnly: readonly ShapedTable[],
): Resumable<[string, string][]> {
  if (oldOnly.length === 0 || newOnly.length === 0) return [];
  const holders = holdersOf(oldOnly);
  const nearest = { oldOnly: new Map<ShapedTable, Nearest>(), newOnly: new Map<ShapedTable, Nearest>() };
  for (const table of newOnly) {
    for (const other of findClosest(table, holders)) {
      const likeness = likenessOf(table, other);
      if (likeness <= MOST) continue;
      noteNearest(nearest.newOnly, table, { table: other, likeness });
      noteNearest(nearest.oldOnly, other, { table, likeness });
    }
    yield;
  }
  return [...nearest.newOnly].flatMap(([table, there]): [string, string][] =>
    isMutual(table, there, nearest.oldOnly.get(there.table)) ? [[there.table.name, table.name]] : [],
  );
}

const isMutual = (table: ShapedTable, there: Nearest, back: Nearest | undefined): boolean =>
  there.isAlone && back?.isAlone === true && back.table === table;

interface Nearest {
  table: ShapedTable;
  likeness: number;
  /** True if no other table has the same likeness. */
  isAlone: boolean;
}

function noteNearest(
  nearest: Map<ShapedTable, Nearest>,
  of: ShapedTable,
  { table, likeness }: Omit<Nearest, 'isAlone'>,
): void {
  const best = nearest.get(of);
  if (best === undefined || likeness > best.likeness) nearest.set(of, { table, likeness, isAlone: true });
  else if (likeness === best.likeness) best.isAlone = false;
}

/** Maps a field to the tables that have it. */
function holdersOf(tables: readonly ShapedTable[]): ReadonlyMap<string, ShapedTable[]> {
  const holders = new Map<string, ShapedTable[]>();
  for (const table of tables) {
    for (const field of table.fields) {
      const list = holders.get(field);
      if (list === undefined) holders.set(field, [table]);
      else if (list.length <= COMMON) list.push(table);
    }
  }
  return holders;
}

/** Returns the tables that share the most rare fields. */
function findClosest({ fields }: ShapedTable, holders: ReadonlyMap<string, readonly ShapedTable[]>): ShapedTable[] {
  const shared = new Map<ShapedTable, number>();
  for (const field of fields) {
    const list = holders.get(field) ?? [];
    if (list.length <= COMMON) for (const table of list) shared.set(table, (shared.get(table) ?? 0) + 1);
  }
  const ordered = [...shared].sort(([, a], [, b]) => b - a);
  return ordered.slice(0, CLOSEST).map(([table]) => table);
}

/** Returns the number of common fields, divided by the number of fields of the larger table. */
function likenessOf({ fields: a }: ShapedTable, { fields: b }: ShapedTable): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const field of few) if (many.has(field)) shared += 1;
  return shared / many.size;
}

/** @param touched the collections that may differ */
export function* warnAboutLikelyRenames(from: State, to: State, touched: Iterable<string>): Resumable<Warning[]> {
  const names = [...touched].sort(byName);
  const tables: Shapes = new Map();
  const shaped: Record<Side, ShapedTable[]> = { oldOnly: [], newOnly: [] };
  const fields: Warning[] = [];
  for (const name of names) {
    yield;
    const [before, after] = [from.collections.get(name), to.collections.get(name)];
    if (before === after) continue;
    if (before === undefined || after === undefined) {
      const node = (before ?? after) as CollectionNode;
      const columns = columnsOf(node);
      const side = before === undefined ? 'newOnly' : 'oldOnly';
      note(tables, side, [name, `${isFolder(node)} ${[...columns].sort(byName).join()}`]);
      if (!isFolder(node)) shaped[side].push({ name, fields: new Set(columns) });
    } else if (before.fields !== after.fields) fields.push(...warnAboutSimilarFields(before, after));
  }
  const same = pairs(tables);
  const paired = new Set(same.flat());
  const alone = (side: Side): ShapedTable[] => shaped[side].filter((table) => !paired.has(table.name));
  const similar = yield* similarTables(alone('oldOnly'), alone('newOnly'));
  const candidates = [...same, ...similar].sort(([a], [b]) => byName(a, b));
  return [...candidates.map(([old, now]) => ({ ...warning('collection', old, now), collection: now })), ...fields];
}

function warnAboutSimilarFields(before: CollectionNode, after: CollectionNode): Warning[] {
  const { collection } = after.collection;
  const shapes: Shapes = new Map();
  for (const [side, fields, others] of [
    ['oldOnly', before.fields, after.fields],
    ['newOnly', after.fields, before.fields],
  ] as const) {
    for (const [name, field] of fields) {
      if (others.has(name)) continue;
      note(shapes, side, [name, columnShape(field)]);
    }
  }
  const candidates = pairs(shapes).sort(([a], [b]) => byName(a, b));
  return candidates.map(([old, now]) => ({ ...warning('field', old, now), collection, field: now }));
}

const warning = (kind: 'collection' | 'field', old: string, now: string): { code: string; message: string } => ({
  code: 'LOOKS_RENAMED',
  message:
    `${kind} ${JSON.stringify(old)} is deleted, and ${JSON.stringify(now)}, which looks like it, is created. If you renamed it, ` +
    `add this line to ${JSON.stringify(now)} in the snapshot to keep its data: "renamed_from": ${JSON.stringify(old)}`,
});

/** Names of removed and new objects, keyed by a string that describes their shape. */
type Shapes = Map<string, Record<Side, string[]>>;
type Side = 'oldOnly' | 'newOnly';

function note(shapes: Shapes, side: Side, [name, shape]: [string, string]): void {
  const there = shapes.get(shape) ?? { oldOnly: [], newOnly: [] };
  there[side].push(name);
  shapes.set(shape, there);
}

/** Pairs removed and new objects whose shape occurs once on each side. */
function pairs(shapes: Shapes): [string, string][] {
  return [...shapes.values()].flatMap(({ oldOnly, newOnly }): [string, string][] =>
    oldOnly.length === 1 && newOnly.length === 1 ? [[oldOnly[0] as string, newOnly[0] as string]] : [],
  );
}

/** Returns one text per field, made of its name and type. */
function columnsOf(node: CollectionNode): string[] {
  const columns: string[] = [];
  for (const field of node.fields.values()) {
    columns.push(JSON.stringify([field.field, columnShape(field)]));
  }
  return columns;
}

function columnShape({ type, meta, schema }: Field): string {
  if (schema === null) return JSON.stringify([type, meta.special]);
  const { is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression } = schema;
  const members = [is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression];
  return JSON.stringify([type, columnType(schema), ...members]);
}
