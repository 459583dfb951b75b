/** evolve: state × event → state. Pure and total over the events the log accepts; an impossible one is our bug. */
import type { Operation } from 'fast-json-patch';
import type { NewEvent } from './events.js';
import type { Collection, Field, Relation } from './model.js';
import { applyPatch } from './patch.js';
import { reindex } from './reference-index.js';
import { type CollectionNode, type State, initialState } from './state.js';

/** An event with its place in the log. */
export type PlacedEvent = NewEvent & { position: number };

/** An event that can't follow the state it meets: the log was written by something that isn't this service. */
export class ImpossibleEventError extends Error {
  constructor(event: PlacedEvent, why: string) {
    super(`event ${event.position} (${event.type} ${event.collection}${event.field ? '.' + event.field : ''}): ${why}`);
    this.name = 'ImpossibleEventError';
  }
}

export function evolve(state: State, event: PlacedEvent): State {
  const before = state.collections.get(event.collection);
  const after = evolveNode(before, event);
  const collections =
    after === undefined ? state.collections.delete(event.collection) : state.collections.set(event.collection, after);
  const referencedBy =
    before?.relations === after?.relations
      ? state.referencedBy
      : reindex(state.referencedBy, event.collection, before?.relations, after?.relations);
  return { position: event.position, collections, referencedBy };
}

/** Folds events, in order, into `from`. */
export function fold(events: Iterable<PlacedEvent>, from: State = initialState()): State {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
}

function evolveNode(node: CollectionNode | undefined, event: PlacedEvent): CollectionNode | undefined {
  if (event.type === 'collection.created') return created(node, event);
  if (node === undefined) throw new ImpossibleEventError(event, 'there is no such collection');
  switch (event.type) {
    case 'collection.updated':
      return { ...node, collection: patched<Collection>(node.collection, event, event.data.patch) };
    case 'collection.deleted':
      return undefined;
    default:
      return evolveParts(node, event);
  }
}

function evolveParts(node: CollectionNode, event: FieldEvent | RelationEvent): CollectionNode {
  switch (event.type) {
    case 'field.created':
    case 'field.updated':
    case 'field.deleted':
      return { ...node, fields: evolveFields(node.fields, event) };
    case 'relation.created':
    case 'relation.updated':
    case 'relation.deleted':
      return { ...node, relations: evolveRelations(node.relations, event) };
    default:
      return event satisfies never;
  }
}

function created(node: CollectionNode | undefined, event: Placed<'collection.created'>): CollectionNode {
  if (node !== undefined) throw new ImpossibleEventError(event, 'the collection exists already');
  const { collection, fields } = event.data;
  return { collection, fields: new Map(fields.map((field) => [field.field, field])), relations: new Map() };
}

type Placed<T extends NewEvent['type']> = Extract<PlacedEvent, { type: T }>;
type FieldEvent = Extract<PlacedEvent, { type: `field.${string}` }>;
type RelationEvent = Extract<PlacedEvent, { type: `relation.${string}` }>;

function evolveFields(fields: ReadonlyMap<string, Field>, event: FieldEvent): ReadonlyMap<string, Field> {
  const name = event.field ?? '';
  const next = new Map(fields);
  if (event.type === 'field.created') next.set(name, event.data.field);
  else if (event.type === 'field.deleted') next.delete(name);
  else next.set(name, patched<Field>(present(fields.get(name), event), event, event.data.patch));
  return next;
}

function evolveRelations(
  relations: ReadonlyMap<string, Relation>,
  event: RelationEvent,
): ReadonlyMap<string, Relation> {
  const name = event.field ?? '';
  const next = new Map(relations);
  if (event.type === 'relation.created') next.set(name, { id: event.position, ...event.data.relation });
  else if (event.type === 'relation.deleted') next.delete(name);
  else next.set(name, patched<Relation>(present(relations.get(name), event), event, event.data.patch));
  return next;
}

function present<T>(value: T | undefined, event: PlacedEvent): T {
  if (value === undefined) throw new ImpossibleEventError(event, 'there is nothing of that name to change');
  return value;
}

function patched<T extends object>(document: T, event: PlacedEvent, patch: readonly Operation[]): T {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    throw new ImpossibleEventError(event, `its patch doesn't fit (${(error as Error).message.split('\n')[0]})`);
  }
}
