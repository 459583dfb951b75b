/** Renames fields in templates: `{{ title }}`, `{{ author.name }}`, `{{ item:headings.title }}`. */
import { type Renaming, replaceNodes } from '../fold/replace-names.js';
import type { Collection } from '../model/model.js';
import { type CollectionNode, type State, getRelation, relationsTo } from '../model/state.js';
import { indexed } from '../model/indexed.js';
import type { Json } from '../../kernel/json.js';

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Names that a template would parse differently. */
const UNSAYABLE = /[.:{}()]|^\s|\s$/;

interface Templates {
  before: State;
  after: State;
  /** Receives the names whose nodes change. */
  touched: Set<string>;
}

/** Renames in all templates that use a renamed object. A template stays unchanged if it cannot contain the new name. */
export function withTemplates({ before, after, touched }: Templates, renaming: Renaming): State {
  const names = 'collections' in renaming ? renaming.collections : renaming.fields;
  if ([...names.values()].some((name) => UNSAYABLE.test(name))) return after;
  const nameOf = 'collections' in renaming ? (name: string) => names.get(name) ?? name : (name: string) => name;
  const own = 'collections' in renaming ? [] : [renaming.collection];
  const former = new Map<string, CollectionNode>();
  for (const name of [...own, ...[...names.keys()].flatMap((word) => [...reaching(before.collections, word)])]) {
    const node = before.collections.get(name);
    if (node !== undefined) former.set(nameOf(name), node);
  }
  const written = (node: CollectionNode): CollectionNode => {
    const was = former.get(node.collection.collection) as CollectionNode;
    const collection = withPaths(node.collection, (path) =>
      renamedPath(before, renaming, { collection: was.collection.collection, path }),
    );
    return collection === node.collection ? node : { ...node, collection };
  };
  return replaceNodes(after, former.keys(), written, touched);
}

/** Collections with a path through a field of that name in another collection, or into a collection. */
export const reaching = indexed(({ collection: { meta } }: CollectionNode) => {
  const { display_template, preview_url, item_duplication_fields: copied } = meta;
  const templates = [display_template ?? '', preview_url ?? ''];
  const paths = templates.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, inner = '']) => inner.trim()));
  if (Array.isArray(copied)) paths.push(...copied.filter((each) => typeof each === 'string'));
  return new Set(paths.flatMap((path) => path.split('.').flatMap(wordsOf)));
});

/** The first segment is a field of the collection itself. */
function wordsOf(segment: string, index: number): string[] {
  const [field = '', scope] = segment.split(':', 2);
  return [...(index > 0 ? [field] : []), ...(scope === undefined ? [] : [scope])];
}

function withPaths(collection: Collection, rename: (path: string) => string): Collection {
  const { meta } = collection;
  const inTemplate = (text: string | null) =>
    text &&
    text.replace(PLACEHOLDER, (whole, inner: string) => {
      const path = inner.trim();
      return whole.replace(path, () => rename(path));
    });
  const copied = meta.item_duplication_fields;
  const next = {
    display_template: inTemplate(meta.display_template),
    preview_url: inTemplate(meta.preview_url),
    item_duplication_fields: Array.isArray(copied)
      ? copied.map((each): Json => (typeof each === 'string' && each.includes('.') ? rename(each) : each))
      : copied,
  };
  const isOther =
    JSON.stringify(Object.values(next)) !== JSON.stringify([meta.display_template, meta.preview_url, copied]);
  return isOther ? { ...collection, meta: { ...meta, ...next } } : collection;
}

interface FieldPath {
  collection: string;
  path: string;
}

/** Renames in a path of fields through relations. `item:headings.title` selects one of several collections. */
function renamedPath(before: State, renaming: Renaming, { collection, path }: FieldPath): string {
  let at: string | undefined = collection;
  // Field names may contain dots.
  if (before.collections.get(at)?.fields.has(path) === true) return renamedSegment(renaming, at, path);
  const segments = path.split('.').map((segment) => {
    const [field = '', scope] = segment.split(':', 2);
    const named = at === undefined ? field : renamedSegment(renaming, at, field);
    at = at === undefined ? undefined : targetOf(before, { collection: at, field, scope });
    if (scope === undefined) return named;
    return `${named}:${'collections' in renaming ? (renaming.collections.get(scope) ?? scope) : scope}`;
  });
  return segments.join('.');
}

function renamedSegment(renaming: Renaming, collection: string, field: string): string {
  if ('collections' in renaming || renaming.collection !== collection) return field;
  return renaming.fields.get(field) ?? field;
}

/** Returns the collection that a field leads to. */
function targetOf(
  state: State,
  { collection, field, scope }: { collection: string; field: string; scope: string | undefined },
): string | undefined {
  const held = getRelation(state, collection, field);
  if (held !== undefined) return held.one_collection ?? scope;
  return relationsTo(state, collection).find((each) => each.one_field === field && each.one_collection === collection)
    ?.many_collection;
}
