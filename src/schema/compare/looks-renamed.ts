/** Finds removed and new objects that look alike. They may have been renamed where the snapshot was made. */
import { columnType } from '../normal-form/index.js';
import type { Resumable } from '../../kernel/resumable.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import type { Field } from '../model/model.js';
import { type CollectionNode, type State, byName, isFolder } from '../model/state.js';
import type { Warning } from '../../kernel/warning.js';
import { type ShapedTable, similarTables } from './similar-tables.js';

/** @param touched the collections that may differ */
export function* looksRenamed(from: State, to: State, touched: Iterable<string>): Resumable<Warning[]> {
  const names = yield* sortedInSteps(touched, byName);
  const tables: Shapes = new Map();
  const shaped: Record<Side, ShapedTable[]> = { gone: [], come: [] };
  const fields: Warning[] = [];
  for (const name of names) {
    yield;
    const [before, after] = [from.collections.get(name), to.collections.get(name)];
    if (before === after) continue;
    if (before === undefined || after === undefined) {
      const node = (before ?? after) as CollectionNode;
      const columns = yield* columnsOf(node);
      const side = before === undefined ? 'come' : 'gone';
      note(tables, side, [name, `${isFolder(node)} ${(yield* sortedInSteps(columns, byName)).join()}`]);
      if (!isFolder(node)) shaped[side].push({ name, fields: new Set(columns) });
    } else if (before.fields !== after.fields) fields.push(...(yield* fieldsLikeOthers(before, after)));
  }
  const same = pairs(tables);
  const paired = new Set(same.flat());
  const alone = (side: Side): ShapedTable[] => shaped[side].filter((table) => !paired.has(table.name));
  const similar = yield* similarTables(alone('gone'), alone('come'));
  const found = [...same, ...similar].sort(([a], [b]) => byName(a, b));
  return [...found.map(([old, now]) => ({ ...warning('collection', old, now), collection: now })), ...fields];
}

function* fieldsLikeOthers(before: CollectionNode, after: CollectionNode): Resumable<Warning[]> {
  const { collection } = after.collection;
  const shapes: Shapes = new Map();
  for (const [side, fields, others] of [
    ['gone', before.fields, after.fields],
    ['come', after.fields, before.fields],
  ] as const) {
    for (const [name, field] of fields) {
      if (others.has(name)) continue;
      note(shapes, side, [name, columnShape(field)]);
      yield;
    }
  }
  const found = pairs(shapes).sort(([a], [b]) => byName(a, b));
  return found.map(([old, now]) => ({ ...warning('field', old, now), collection, field: now }));
}

const warning = (kind: 'collection' | 'field', old: string, now: string): { code: string; message: string } => ({
  code: 'LOOKS_RENAMED',
  message:
    `the ${kind} ${JSON.stringify(old)} is deleted, and ${JSON.stringify(now)}, which looks like it, is created; if it was renamed, ` +
    `add this line to ${JSON.stringify(now)} in the snapshot, and its data stays: "renamed_from": ${JSON.stringify(old)}`,
});

/** Names by shape. */
type Shapes = Map<string, Record<Side, string[]>>;
type Side = 'gone' | 'come';

function note(shapes: Shapes, side: Side, [name, shape]: [string, string]): void {
  const there = shapes.get(shape) ?? { gone: [], come: [] };
  there[side].push(name);
  shapes.set(shape, there);
}

/** Pairs removed and new objects whose shape occurs once on each side. */
function pairs(shapes: Shapes): [string, string][] {
  return [...shapes.values()].flatMap(({ gone, come }): [string, string][] =>
    gone.length === 1 && come.length === 1 ? [[gone[0] as string, come[0] as string]] : [],
  );
}

/** Returns a text per field: its name and type. */
function* columnsOf(node: CollectionNode): Resumable<string[]> {
  const columns: string[] = [];
  for (const field of node.fields.values()) {
    columns.push(JSON.stringify([field.field, columnShape(field)]));
    yield;
  }
  return columns;
}

function columnShape({ type, meta, schema }: Field): string {
  if (schema === null) return JSON.stringify([type, meta.special]);
  const { is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression } = schema;
  const members = [is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression];
  return JSON.stringify([type, columnType(schema), ...members]);
}
