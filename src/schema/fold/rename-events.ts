/* Applies rename events to a state. */
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { DocumentPatch, NewEvent, SchemaEvent } from '../model/events.js';
import type { Collection } from '../model/model.js';
import type { CollectionNode, State } from '../model/state.js';
import { replaceNodes, withCollectionNames, withFieldNames } from './replace-names.js';
import { UnreadableEventError } from './upcasting.js';
import { copyJson, isObject, jsonEqual } from '../../kernel/json.js';

/* RFC 6902 patches within a value, for `*.updated` events. */

/**
 * Returns the patch from `before` to `after`, two documents with the same members. Inner values are patched by member,
 * unless that is not possible (a member named `__proto__` must not become a step). Then the whole inner value is
 * replaced.
 */
export function patchBetween(before: object, after: object): Operation[] {
  const patch = jsonPatch.compare(before, after);
  return producesDocument(before, patch, after) ? patch : replaceMembers(before, after, '');
}

function producesDocument(before: object, patch: readonly Operation[], after: object): boolean {
  try {
    return jsonEqual(applyPatch(before, patch), after);
  } catch {
    return false;
  }
}

function replaceMembers(before: object, after: object, path: string): Operation[] {
  const patch: Operation[] = [];
  for (const [member, value] of Object.entries(after)) {
    const old = (before as Record<string, unknown>)[member];
    if (jsonEqual(old, value)) continue;
    const at = `${path}/${jsonPatch.escapePathComponent(member)}`;
    // meta and schema have fixed members. Descending one level keeps the patch small, and is safe if no member is added
    // or removed.
    if (path === '' && isObject(old) && isObject(value) && haveSameMembers(old, value))
      patch.push(...replaceMembers(old, value, at));
    else patch.push({ op: 'replace', path: at, value });
  }
  return patch;
}

function haveSameMembers(a: object, b: object): boolean {
  const members = Object.keys(a);
  return members.length === Object.keys(b).length && members.every((member) => Object.hasOwn(b, member));
}

/** Applies a patch from the log without changing `document` or the patch. Throws if the patch does not match. */
export function applyPatch<T extends object>(document: T, patch: readonly Operation[]): T {
  const [only] = patch;
  const replaced = patch.length === 1 && only?.op === 'replace' ? replaceMember(document, only) : undefined;
  if (replaced !== undefined) return replaced as T;
  return jsonPatch.applyPatch(copyAlongPatch(document, patch), patch, false, true, true).newDocument as T;
}

/**
 * Applies the most common patch, a new value for a member such as `/meta/note`, without the library. This folds a long
 * log several times faster. Undefined for other patches and for mismatches.
 */
function replaceMember(document: object, { path, value }: { path: string; value: unknown }): object | undefined {
  const slash = path.indexOf('/', 1);
  if (slash < 0 || path.includes('/', slash + 1) || path.includes('~') || path.includes('__proto__')) return undefined;
  const first = path.slice(1, slash);
  const second = path.slice(slash + 1);
  if (!path.startsWith('/') || !Object.hasOwn(document, first)) return undefined;
  const inner = (document as Record<string, unknown>)[first];
  if (!isObject(inner) || !Object.hasOwn(inner, second) || value === undefined) return undefined;
  return { ...document, [first]: { ...inner, [second]: value } };
}

/** Copies `document` along the paths of the patch and shares the rest, because copying is expensive. */
function copyAlongPatch(document: object, patch: readonly Operation[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...document };
  const opened = new Set<string>();
  for (const { path } of patch) {
    const [first, second, deeper] = path.split('/', 4).slice(1).map(jsonPatch.unescapePathComponent);
    if (first === undefined || second === undefined) continue;
    const inner = copy[first];
    if (!isObject(inner)) openMember(opened, { parent: copy, member: first, key: first, copy: copyJson });
    else {
      openMember(opened, { parent: copy, member: first, key: first, copy: (value) => ({ ...(value as object) }) });
      if (deeper !== undefined) {
        const parent = copy[first] as Record<string, unknown>;
        openMember(opened, { parent, member: second, key: `${first}/${second}`, copy: copyJson });
      }
    }
  }
  return copy;
}

interface Opening {
  parent: Record<string, unknown>;
  member: string;
  /** Identifies the location, so that it is copied only once. */
  key: string;
  copy: (value: unknown) => unknown;
}

/** Replaces a member by its copy, unless it was already copied. */
function openMember(opened: Set<string>, { parent, member, key, copy }: Opening): void {
  if (opened.has(key)) return;
  opened.add(key);
  parent[member] = copy(parent[member]);
}

/* Events that cannot follow the current state. */

export type SchemaChange = NewEvent & { position: number };
type AnyChange = SchemaEvent & { position: number };

/** Thrown for an event that cannot follow its state, because another program wrote the log. */
export class ImpossibleEventError extends UnreadableEventError {
  constructor(event: AnyChange, why: string) {
    const subject = event.collection ?? event.subject.id;
    const place = `${event.type} ${subject}${event.field ? '.' + event.field : ''}`;
    super(event.position, `${why} (${place})`);
  }
}

/** Applies the patch of an event to a document. */
export function applyEventPatch<T extends object>(document: T, event: AnyChange, patch: readonly Operation[]): T {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    throw new ImpossibleEventError(event, `its patch cannot be applied (${(error as Error).message.split('\n')[0]})`);
  }
}

export type RenameEvent = Extract<SchemaChange, { type: `${string}.renamed` }>;

export function applyRename(state: State, event: RenameEvent): State {
  const reason = findObstacle(state, event);
  if (reason !== null) throw new ImpossibleEventError(event, reason);
  return (event.data.patches ?? []).reduce(
    (at, patch) => {
      if (!isThere(at, patch)) throw new ImpossibleEventError(event, 'no object with that name exists');
      return patchDocument(at, event, patch);
    },
    replaceName(state, event),
  );
}

/** Applies a rename to a state that contains only some collections. */
export function applyRenameWithin(state: State, event: RenameEvent): State {
  return (event.data.patches ?? []).reduce(
    (at, patch) => (isThere(at, patch) ? patchDocument(at, event, patch) : at),
    replaceName(state, event),
  );
}

function findObstacle({ collections }: State, event: RenameEvent): string | null {
  const { to } = event.data;
  const fields = collections.get(event.collection)?.fields;
  if (fields === undefined) return 'the collection does not exist';
  // A table that moves to another schema may keep the name of its collection.
  if (event.type === 'collection.renamed')
    return collections.has(to) && to !== event.collection ? 'a collection with the new name already exists' : null;
  if (!fields.has(event.field ?? '')) return 'the field does not exist';
  return fields.has(to) ? 'a field with the new name already exists' : null;
}

function replaceName(state: State, event: RenameEvent): State {
  const { collection, field, data } = event;
  return event.type === 'collection.renamed'
    ? withCollectionNames(state, new Map([[collection, data.to]]))
    : withFieldNames(state, { collection, fields: new Map([[field ?? '', data.to]]) });
}

/** Returns the document of a renamed collection. Its table may move to another schema. */
export function renameDocument(collection: Collection, { data }: Pick<RenameEvent, 'data'>): Collection {
  const own = data.patches?.find(
    (each) => each.collection === data.to && each.field === undefined && each.relation === undefined,
  );
  const renamed = { ...collection, collection: data.to };
  return own === undefined ? renamed : applyPatch(renamed, own.patch);
}

function isThere({ collections }: State, { collection, field, relation }: DocumentPatch): boolean {
  const node = collections.get(collection);
  if (field !== undefined) return node?.fields.has(field) === true;
  return relation === undefined ? node !== undefined : node?.relations.has(relation) === true;
}

/** Patches an existing document. */
function patchDocument(state: State, event: RenameEvent, { collection, field, relation, patch }: DocumentPatch): State {
  const change = <T extends object>(document: T | undefined): T => applyEventPatch(document as T, event, patch);
  return replaceNodes(state, [collection], (node): CollectionNode => {
    if (field !== undefined)
      return { ...node, fields: new Map(node.fields).set(field, change(node.fields.get(field))) };
    if (relation === undefined) return { ...node, collection: change(node.collection) };
    return { ...node, relations: new Map(node.relations).set(relation, change(node.relations.get(relation))) };
  });
}
