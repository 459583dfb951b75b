/** Where a name that something had is still said after a rename, as far as can be seen: options, conditions, rules. */
import type { CollectionMeta, Field, FieldMeta } from '../model/model.js';
import { collectionsInOrder } from '../model/order.js';
import { type State, memberKey, relationsTo } from '../model/state.js';
import { isObject } from '../../kernel/json.js';
import { type Path, renderPath } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import type { Renames } from './renames.js';

/** Of fields: what the service keeps without knowing what it says. */
const LOOSE = [
  'options',
  'display_options',
  'conditions',
  'validation',
] as const satisfies readonly (keyof FieldMeta)[];

const TEMPLATES = ['display_template', 'preview_url'] as const satisfies readonly (keyof CollectionMeta)[];

/** @param state after the renames */
export function* stillUsed(state: State, { collections, fields }: Renames): Resumable<Warning[]> {
  const warnings: Warning[] = [];
  for (const [from, to] of collections) warnings.push(...(yield* ofCollection(state, from, to)));
  for (const [collection, names] of fields) {
    const around = fieldsAround(state, collection);
    for (const [from, to] of names) {
      if (state.collections.get(collection)?.fields.has(from) === true) continue;
      warnings.push(...ofTemplates(state, collection, { from, to }));
      for (const field of around) warnings.push(...ofField(field, from, to));
      yield;
    }
  }
  return warnings;
}

function* ofCollection(state: State, from: string, to: string): Resumable<Warning[]> {
  // What has the name now may be meant.
  if (state.collections.has(from)) return [];
  const warnings: Warning[] = [];
  for (const node of yield* collectionsInOrder(state)) {
    for (const field of node.fields.values()) warnings.push(...ofField(field, from, to));
    yield;
  }
  return warnings;
}

/** The fields of a collection, and those that show it elsewhere. */
function fieldsAround(state: State, collection: string): Field[] {
  const node = state.collections.get(collection);
  const found = new Map<string, Field>();
  const note = (name: string | null, field: string | null): void => {
    const value = state.collections.get(name ?? '')?.fields.get(field ?? '');
    if (value !== undefined) found.set(memberKey(value.collection, value.field), value);
  };
  for (const field of node?.fields.keys() ?? []) note(collection, field);
  for (const { many_collection, many_field } of relationsTo(state, collection)) note(many_collection, many_field);
  for (const { one_collection, one_field } of node?.relations.values() ?? []) note(one_collection, one_field);
  return [...found.values()];
}

function ofField({ collection, field, meta }: Field, from: string, to: string): Warning[] {
  return LOOSE.flatMap((member) => {
    const place = mentionIn(meta[member], from, ['meta', member]);
    return place === undefined ? [] : [{ ...warning(from, to, renderPath(place)), collection, field }];
  });
}

/** Templates are rewritten, unless the new name can't be said in one. */
function ofTemplates(state: State, collection: string, { from, to }: { from: string; to: string }): Warning[] {
  const meta = state.collections.get(collection)?.collection.meta;
  return TEMPLATES.flatMap((member) =>
    inTemplate(meta?.[member] ?? '', from) ? [{ ...warning(from, to, `meta.${member}`), collection }] : [],
  );
}

const warning = (from: string, to: string, place: string): { code: string; message: string } => ({
  code: 'NAME_STILL_USED',
  message: `${place} mentions ${JSON.stringify(from)}, which is ${JSON.stringify(to)} now; look whether it is meant, and change it`,
});

/** The first place where a value says the name: as a member, a text, or part of a path or a template. */
function mentionIn(value: unknown, name: string, at: Path): Path | undefined {
  const open: { value: unknown; at: Path }[] = [{ value, at }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: inner, at: path } = next;
    if (typeof inner === 'string' && says(inner, name)) return path;
    if (isObject(inner) && Object.hasOwn(inner, name)) return [...path, name];
    if (typeof inner !== 'object' || inner === null) continue;
    const members = Array.isArray(inner) ? inner.entries() : Object.entries(inner);
    for (const [step, each] of [...members].reverse()) open.push({ value: each, at: [...path, step] });
  }
  return undefined;
}

const says = (text: string, name: string): boolean =>
  text === name || text.split(/[.:]/).includes(name) || inTemplate(text, name);

function inTemplate(text: string, name: string): boolean {
  return [...text.matchAll(/\{\{([^{}]*)\}\}/g)].some(([, inner = '']) => inner.trim().split(/[.:]/).includes(name));
}
