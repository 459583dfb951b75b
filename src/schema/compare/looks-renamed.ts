/** What goes and what comes, and looks the same: perhaps it was renamed where the snapshot was made. */
import { columnType } from '../normal-form/index.js';
import type { Field } from '../model/model.js';
import { type CollectionNode, type State, byName, isFolder } from '../model/state.js';
import type { Warning } from '../../kernel/warning.js';

/** @param touched the collections that may differ */
export function looksRenamed(from: State, to: State, touched: Iterable<string>): Warning[] {
  const names = [...touched].sort(byName);
  const gone = names.filter((name) => from.collections.has(name) && !to.collections.has(name));
  const come = names.filter((name) => !from.collections.has(name) && to.collections.has(name));
  const shapes = (state: State, all: readonly string[]) =>
    all.map((name): [string, string] => [name, tableShape(state.collections.get(name) as CollectionNode)]);
  const tables = pairs(shapes(from, gone), shapes(to, come)).map(([old, now]) => ({
    ...warning('collection', old, now),
    collection: now,
  }));
  return [...tables, ...names.flatMap((name) => fieldsLikeOthers(from, to, name))];
}

function fieldsLikeOthers(from: State, to: State, collection: string): Warning[] {
  const [before, after] = [from.collections.get(collection), to.collections.get(collection)];
  if (before === undefined || after === undefined || before.fields === after.fields) return [];
  const gone = [...before.fields.values()].filter(({ field }) => !after.fields.has(field));
  const come = [...after.fields.values()].filter(({ field }) => !before.fields.has(field));
  const shapes = (all: readonly Field[]) => all.map((each): [string, string] => [each.field, columnShape(each)]);
  return pairs(shapes(gone), shapes(come)).map(([old, now]) => ({
    ...warning('field', old, now),
    collection,
    field: now,
  }));
}

const warning = (kind: 'collection' | 'field', old: string, now: string): { code: string; message: string } => ({
  code: 'LOOKS_RENAMED',
  message:
    `the ${kind} ${JSON.stringify(old)} is deleted, and ${JSON.stringify(now)}, which looks like it, is created; if it was renamed, ` +
    `add this line to ${JSON.stringify(now)} in the snapshot, and its data stays: "renamed_from": ${JSON.stringify(old)}`,
});

/** Of what goes and what comes, those of a shape that only one of each has. */
function pairs(gone: readonly [string, string][], come: readonly [string, string][]): [string, string][] {
  return gone.flatMap(([old, shape]): [string, string][] => {
    const alike = come.filter(([, other]) => other === shape);
    const rivals = gone.filter(([, other]) => other === shape);
    return alike.length === 1 && rivals.length === 1 ? [[old, (alike[0] as [string, string])[0]]] : [];
  });
}

function tableShape(node: CollectionNode): string {
  const columns = [...node.fields.values()].map((field) => [field.field, columnShape(field)]);
  return JSON.stringify([isFolder(node), columns.sort(([a = ''], [b = '']) => byName(a, b))]);
}

function columnShape({ type, meta, schema }: Field): string {
  if (schema === null) return JSON.stringify([type, meta.special]);
  const { is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression } = schema;
  const members = [is_nullable, is_unique, is_primary_key, has_auto_increment, default_value, generation_expression];
  return JSON.stringify([type, columnType(schema), ...members]);
}
