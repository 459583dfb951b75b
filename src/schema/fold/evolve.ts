/**
 * Computes the state after an event. Pure, and defined for all events that the log accepts. An impossible event is a
 * bug.
 */
import { changesObjects, changesSchema } from './event-schemas.js';
import { type LogEvent, type NewEvent, type ObjectEvent, isRename } from '../model/events.js';
import { objectKey } from '../model/objects.js';
import type { Collection, Field, Relation } from '../model/model.js';
import {
  type RenameEvent,
  applyRename,
  ImpossibleEventError,
  type SchemaChange,
  applyEventPatch,
} from './rename-events.js';
import { type ChangedFields, renameIndexes, reindex } from './replace-names.js';
import {
  type CollectionNode,
  type Identities,
  type State,
  initialState,
  type Identity,
  carryIndexes,
} from '../model/state.js';

/* Assign identities to collections and fields. Every release assigns the same identities to the same log. */

type Creation = Extract<NewEvent, { type: 'collection.created' | 'collection.adopted' }>;

/**
 * Returns the identities of a new collection and its fields. A restored collection keeps the identities from before its
 * deletion.
 */
function identitiesOf({ position, data }: Creation & { position: number }): Identities {
  const restored = 'restored' in data ? data.restored : undefined;
  return {
    collection: restored?.identity ?? String(position),
    fields: new Map(
      data.fields.map(({ field }, index) => [field, restored?.fields[index] ?? `${position}.${index + 1}`]),
    ),
  };
}

/** Identities of a node's fields that a fold may change in place. They are copied at the first change. */
interface OwnIdentities {
  /** @returns the node's identities as a map that only this fold uses */
  of(node: { identities: Identities }): Map<string, Identity>;
  /** Marks the changed maps as shared, so that the next change copies them again. */
  share(): void;
}

/** Creates the copies for one fold. The identities of a node are copied once, until they are shared. */
function ownIdentities(): OwnIdentities {
  let own = new WeakSet<ReadonlyMap<string, Identity>>();
  return {
    of(node) {
      const { collection, fields } = node.identities;
      if (own.has(fields)) return fields as Map<string, Identity>;
      const copy = new Map(fields);
      own.add(copy);
      node.identities = { collection, fields: copy };
      return copy;
    },
    share() {
      own = new WeakSet();
    },
  };
}

/** An event with its position in the log. */
export type PositionedEvent = LogEvent & { position: number };

/** Applies one event. `fold` is faster for several. @throws ImpossibleEventError */
export function evolve(state: State, event: PositionedEvent): State {
  return fold([event], state);
}

/** Folds events into `from`, in order. */
export function fold(events: Iterable<PositionedEvent>, from: State = initialState()): State {
  const folding = startFolding(from);
  for (const event of events) folding.add(event);
  return folding.state();
}

/** A running fold. */
export interface RunningFold {
  /** @throws ImpossibleEventError, which makes the fold unusable */
  add(event: PositionedEvent): void;
  /** Returns the field after the events so far. */
  field(collection: string, field: string): Field | undefined;
  /** Returns the collection after the events so far. The next event may change this object in place. */
  node(collection: string): CollectionNode | undefined;
  /** Returns the state after the events so far, which later events do not change. */
  state(): State;
}

/**
 * Copies a collection only when an event first touches it. Many events about one collection therefore cost time in
 * proportion to the events and not to its fields.
 */
export function startFolding(from: State): RunningFold {
  const open = new Map<string, OpenNode | undefined>();
  const own = ownIdentities();
  let { position, collections, referencedBy, indexNames, objects } = from;

  const nodeOf = (name: string): OpenNode | undefined => {
    if (open.has(name)) return open.get(name);
    const node = collections.get(name);
    const copy = node && { ...node, fields: new Map(node.fields) };
    open.set(name, copy);
    return copy;
  };

  const nodeNow = (name: string): CollectionNode | undefined =>
    open.has(name) ? open.get(name) : collections.get(name);

  function state(): State {
    const changed: ChangedFields[] = [];
    const map = collections.asMutable();
    for (const [name, node] of open) {
      changed.push({ collection: name, before: map.get(name), after: node });
      if (node === undefined) map.delete(name);
      else map.set(name, node);
    }
    // If nothing changed, the same map is returned, so that caches remain valid.
    if (map.wasAltered()) collections = carryIndexes(collections, map.asImmutable(), new Set(open.keys()));
    open.clear();
    own.share();
    indexNames = renameIndexes(indexNames, changed);
    return { position, collections, referencedBy, indexNames, objects };
  }

  return {
    add(event) {
      position = event.position;
      if (changesObjects(event)) objects = evolveObjects(objects, event);
      // Events that do not change the schema leave all parts of the state identical, so that caches remain valid.
      if (!changesSchema(event)) return;
      if (isRename(event)) {
        // Many collections may contain the renamed object's name, so they are all changed at once and not as open
        // nodes.
        ({ collections, referencedBy, indexNames } = applyRename(state(), event));
        return;
      }
      const before = nodeOf(event.collection);
      const relations = before?.relations;
      const after = evolveNode(before, event, own);
      if (relations !== after?.relations) {
        referencedBy = reindex(referencedBy, event.collection, relations, after?.relations);
      }
      if (after !== before) open.set(event.collection, after);
    },
    field: (collection, field) => nodeNow(collection)?.fields.get(field),
    node: nodeNow,
    state,
  };
}

function evolveObjects(objects: State['objects'], event: ObjectEvent & { position: number }): State['objects'] {
  const key = objectKey(event.subject);
  const node = objects.get(key);
  if (event.type === 'object.created') {
    if (node !== undefined) throw new ImpossibleEventError(event, 'the object already exists');
    return objects.set(key, { identity: String(event.position), object: event.data.object });
  }
  if (node === undefined) throw new ImpossibleEventError(event, 'no object with that name exists');
  if (event.type === 'object.deleted') return objects.delete(key);
  if (event.type === 'object.updated')
    return objects.set(key, { ...node, object: applyEventPatch(node.object, event, event.data.patch) });
  const object = applyEventPatch({ ...node.object, id: event.data.to }, event, event.data.patch);
  if (objects.has(objectKey(object))) throw new ImpossibleEventError(event, 'the new name already exists');
  return objects.delete(key).set(objectKey(object), { ...node, object });
}

/** A node owned by the fold. It and its fields are changed in place. Its few relations are replaced as a whole. */
interface OpenNode extends CollectionNode {
  identities: Identities;
  collection: Collection;
  readonly fields: Map<string, Field>;
  relations: ReadonlyMap<string, Relation>;
}

/** @returns the node after the event. This is `node` itself unless it is created or deleted. */
function evolveNode(node: OpenNode | undefined, event: ChangeInPlace, own: OwnIdentities): OpenNode | undefined {
  if (event.type === 'collection.created' || event.type === 'collection.adopted') return createNode(node, event);
  if (node === undefined) throw new ImpossibleEventError(event, 'the collection does not exist');
  if (event.type === 'collection.deleted') return undefined;
  if (event.type === 'collection.updated') node.collection = applyEventPatch(node.collection, event, event.data.patch);
  else evolveParts(node, event, own);
  return node;
}

function evolveParts(node: OpenNode, event: FieldEvent | RelationEvent, own: OwnIdentities): void {
  switch (event.type) {
    case 'field.created':
    case 'field.updated':
    case 'field.deleted':
      return evolveFields(node, event, own);
    case 'relation.created':
    case 'relation.updated':
    case 'relation.deleted':
      node.relations = evolveRelations(node.relations, event);
      return;
    default:
      event satisfies never;
  }
}

function createNode(
  node: CollectionNode | undefined,
  event: PlacedChange<'collection.created' | 'collection.adopted'>,
): OpenNode {
  if (node !== undefined) throw new ImpossibleEventError(event, 'the collection already exists');
  const { collection, fields } = event.data;
  return {
    identities: identitiesOf(event),
    collection,
    fields: new Map(fields.map((field) => [field.field, field])),
    relations: new Map(),
  };
}

type PlacedChange<T extends NewEvent['type']> = Extract<SchemaChange, { type: T }>;
type ChangeInPlace = Exclude<SchemaChange, RenameEvent>;
type FieldEvent = Extract<ChangeInPlace, { type: `field.${string}` }>;
type RelationEvent = Extract<SchemaChange, { type: `relation.${string}` }>;

function evolveFields(node: OpenNode, event: FieldEvent, own: OwnIdentities): void {
  const { fields } = node;
  const name = event.field ?? '';
  if (event.type === 'field.created') {
    fields.set(name, event.data.field);
    own.of(node).set(name, event.data.restored?.identity ?? String(event.position));
  } else if (event.type === 'field.deleted') {
    fields.delete(name);
    own.of(node).delete(name);
  } else fields.set(name, applyEventPatch(requireExisting(fields.get(name), event), event, event.data.patch));
}

function evolveRelations(
  relations: ReadonlyMap<string, Relation>,
  event: RelationEvent,
): ReadonlyMap<string, Relation> {
  const name = event.field ?? '';
  const next = new Map(relations);
  if (event.type === 'relation.created') next.set(name, { id: event.position, ...event.data.relation });
  else if (event.type === 'relation.deleted') next.delete(name);
  else next.set(name, applyEventPatch(requireExisting(relations.get(name), event), event, event.data.patch));
  return next;
}

function requireExisting<T>(value: T | undefined, event: SchemaChange): T {
  if (value === undefined) throw new ImpossibleEventError(event, 'no object with that name exists');
  return value;
}
