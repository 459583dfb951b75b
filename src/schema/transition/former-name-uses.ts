/** Finds probable uses of a former name after a rename: in options, conditions and rules. */
import type { CollectionMeta, Field, FieldMeta } from '../model/model.js';
import { collectionsInOrder } from '../model/order.js';
import { type State, memberKey, relationsTo } from '../model/state.js';
import { isObject } from '../../kernel/json.js';
import { type Path, renderPath, type Warning } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Names } from '../fold/replace-names.js';
import type { Renames } from './renames.js';

/** Members of fields that the service stores without interpreting them. */
const LOOSE = [
  'options',
  'display_options',
  'conditions',
  'validation',
] as const satisfies readonly (keyof FieldMeta)[];

const TEMPLATES = ['display_template', 'preview_url'] as const satisfies readonly (keyof CollectionMeta)[];

/** @param state the state after the renames */
export function* warnAboutUses(state: State, { collections, fields }: Renames): Resumable<Warning[]> {
  const warnings: Warning[] = [];
  // A name that another object has now may refer to that object.
  const gone = new Map([...collections].filter(([from]) => !state.collections.has(from)));
  if (gone.size > 0) {
    for (const node of collectionsInOrder(state)) {
      for (const field of node.fields.values()) {
        warnings.push(...warnAboutField(field, gone));
        yield;
      }
    }
  }
  for (const [collection, all] of fields) {
    const there = state.collections.get(collection)?.fields;
    const names = new Map([...all].filter(([from]) => there?.has(from) !== true));
    warnings.push(...warnAboutTemplates(state, collection, names));
    for (const field of findFieldsToCheck(state, collection)) {
      warnings.push(...warnAboutField(field, names));
      yield;
    }
  }
  return warnings;
}

/** Returns the fields of a collection, and fields of other collections that show it. */
function findFieldsToCheck(state: State, collection: string): Field[] {
  const node = state.collections.get(collection);
  const fields = new Map<string, Field>();
  const note = (name: string | null, field: string | null): void => {
    const value = state.collections.get(name ?? '')?.fields.get(field ?? '');
    if (value !== undefined) fields.set(memberKey(value.collection, value.field), value);
  };
  for (const field of node?.fields.keys() ?? []) note(collection, field);
  for (const { many_collection, many_field } of relationsTo(state, collection)) note(many_collection, many_field);
  for (const { one_collection, one_field } of node?.relations.values() ?? []) note(one_collection, one_field);
  return [...fields.values()];
}

function warnAboutField({ collection, field, meta }: Field, names: Names): Warning[] {
  return LOOSE.flatMap((member) => {
    const locations = mentionsIn(meta[member], names, ['meta', member]);
    return [...locations].map(([from, location]) => ({
      ...warning(from, names.get(from) as string, renderPath(location)),
      collection,
      field,
    }));
  });
}

/** Warns about templates that contain an old name. Templates are rewritten unless they cannot contain the new name. */
function warnAboutTemplates(state: State, collection: string, names: Names): Warning[] {
  const meta = state.collections.get(collection)?.collection.meta;
  return TEMPLATES.flatMap((member) => {
    const words = wordsInTemplate(meta?.[member] ?? '').filter((word) => names.has(word));
    return [...new Set(words)].map((from) => ({
      ...warning(from, names.get(from) as string, `meta.${member}`),
      collection,
    }));
  });
}

const warning = (from: string, to: string, location: string): { code: string; message: string } => ({
  code: 'NAME_STILL_USED',
  message: `${location} contains ${JSON.stringify(from)}, which is now named ${JSON.stringify(to)}. If it means the renamed object, change it`,
});

/** Returns the first location of each name in a value: as a member, as a string, or in a path or template. */
function mentionsIn(value: unknown, names: Names, at: Path): ReadonlyMap<string, Path> {
  const mentions = new Map<string, Path>();
  const note = (word: string, path: Path): void => {
    if (names.has(word) && !mentions.has(word)) mentions.set(word, path);
  };
  const open: { value: unknown; at: Path }[] = [{ value, at }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: inner, at: path } = next;
    if (typeof inner === 'string') for (const word of listWords(inner)) note(word, path);
    if (typeof inner !== 'object' || inner === null) continue;
    if (isObject(inner)) for (const member of Object.keys(inner)) note(member, [...path, member]);
    const members = Array.isArray(inner) ? inner.entries() : Object.entries(inner);
    for (const [step, each] of [...members].reverse()) open.push({ value: each, at: [...path, step] });
  }
  return mentions;
}

const listWords = (text: string): string[] => [text, ...text.split(/[.:]/), ...wordsInTemplate(text)];

const wordsInTemplate = (text: string): string[] =>
  [...text.matchAll(/\{\{([^{}]*)\}\}/g)].flatMap(([, inner = '']) => inner.trim().split(/[.:]/));
