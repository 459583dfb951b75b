/** Applies rename events to a state. */
import type { Operation } from 'fast-json-patch';
import type { DocumentPatch, NewEvent } from '../model/events.js';
import type { CollectionNode, State } from '../model/state.js';
import { replaceNodes, withCollectionNames, withFieldNames } from './replace-names.js';
import { applyPatch } from './patch.js';
import { UnreadableEventError } from './upcasting.js';

/* Events that cannot follow the current state. */

export type SchemaChange = NewEvent & { position: number };

/** An event that cannot follow its state, because another program wrote the log. */
export class ImpossibleEventError extends UnreadableEventError {
  constructor(event: SchemaChange, why: string) {
    const place = `${event.type} ${event.collection}${event.field ? '.' + event.field : ''}`;
    super(event.position, `${why} (${place})`);
  }
}

/** Applies the patch of an event to a document. */
export function patched<T extends object>(document: T, event: SchemaChange, patch: readonly Operation[]): T {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    throw new ImpossibleEventError(event, `its patch doesn't fit (${(error as Error).message.split('\n')[0]})`);
  }
}

export type RenameEvent = Extract<SchemaChange, { type: `${string}.renamed` }>;

export function renamed(state: State, event: RenameEvent): State {
  const reason = obstacle(state, event);
  if (reason !== null) throw new ImpossibleEventError(event, reason);
  return (event.data.patches ?? []).reduce(
    (at, patch) => {
      if (!isThere(at, patch)) throw new ImpossibleEventError(event, 'there is nothing of that name to change');
      return patchDocument(at, event, patch);
    },
    named(state, event),
  );
}

/** For a state that contains only some collections. */
export function renamedWithin(state: State, event: RenameEvent): State {
  return (event.data.patches ?? []).reduce(
    (at, patch) => (isThere(at, patch) ? patchDocument(at, event, patch) : at),
    named(state, event),
  );
}

function obstacle({ collections }: State, event: RenameEvent): string | null {
  const { to } = event.data;
  const fields = collections.get(event.collection)?.fields;
  if (fields === undefined) return 'there is no such collection';
  if (event.type === 'collection.renamed') return collections.has(to) ? 'there is a collection of the new name' : null;
  if (!fields.has(event.field ?? '')) return 'there is no such field';
  return fields.has(to) ? 'there is a field of the new name' : null;
}

function named(state: State, event: RenameEvent): State {
  const { collection, field, data } = event;
  return event.type === 'collection.renamed'
    ? withCollectionNames(state, new Map([[collection, data.to]]))
    : withFieldNames(state, { collection, fields: new Map([[field ?? '', data.to]]) });
}

function isThere({ collections }: State, { collection, field, relation }: DocumentPatch): boolean {
  const node = collections.get(collection);
  if (field !== undefined) return node?.fields.has(field) === true;
  return relation === undefined ? node !== undefined : node?.relations.has(relation) === true;
}

/** Patches an existing document. */
function patchDocument(state: State, event: RenameEvent, { collection, field, relation, patch }: DocumentPatch): State {
  const change = <T extends object>(document: T | undefined): T => patched(document as T, event, patch);
  return replaceNodes(state, [collection], (node): CollectionNode => {
    if (field !== undefined)
      return { ...node, fields: new Map(node.fields).set(field, change(node.fields.get(field))) };
    if (relation === undefined) return { ...node, collection: change(node.collection) };
    return { ...node, relations: new Map(node.relations).set(relation, change(node.relations.get(relation))) };
  });
}
