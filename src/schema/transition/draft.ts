/**
 * A desired state under construction. Any change is allowed: `invariants` check the result, and `transition` orders the
 * events.
 */
import type { Collection, Field, NewRelation, Relation } from '../model/model.js';
import { type ChangedFields, renameIndexes, reindex } from '../fold/replace-names.js';
import {
  carryIndexes,
  type CollectionNode,
  type Identity,
  type ObjectNode,
  type State,
  NEW_IDENTITY,
  hasColumn,
  tableIdOf,
} from '../model/state.js';
import { isDroppedWithColumns, objectsOn, privilegesOn } from '../sql-text/object-table.js';
import { type ObjectName, isRelation, objectKey, targetOf } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { renameOnTargets, renameOnTables, renamedObject } from './objects.js';

interface OpenNode {
  identities: { collection: Identity; fields: Map<string, Identity> };
  collection: Collection;
  fields: Map<string, Field>;
  relations: Map<string, Relation>;
}

/** Copies a collection at its first change and keeps the base unchanged. */
export class Draft {
  readonly #base: State;
  /** The collections that were opened for editing. Undefined if removed. */
  readonly #open = new Map<string, OpenNode | undefined>();
  /** The fields of the base that were removed, per collection. */
  readonly #removed = new Map<string, Set<string>>();
  readonly #touched: Iterable<string>;
  #objects: State['objects'];

  /** @param touched collections in which the base differs from the original state */
  constructor(base: State, touched: Iterable<string> = []) {
    this.#base = base;
    this.#touched = touched;
    this.#objects = base.objects;
  }

  /** Returns the collection in the draft. */
  get(collection: string): CollectionNode | undefined {
    return this.#open.has(collection) ? this.#open.get(collection) : this.#base.collections.get(collection);
  }

  relationsOf(collection: string): Iterable<Relation> {
    return this.get(collection)?.relations.values() ?? [];
  }

  /** Names of all edited collections, including removed ones. */
  get touched(): ReadonlySet<string> {
    return new Set([...this.#touched, ...this.#open.keys()]);
  }

  putCollection(collection: Collection): void {
    const node = this.#edit(collection.collection);
    if (node) node.collection = collection;
    else this.#open.set(collection.collection, newNode(collection));
  }

  /** Restores a deleted collection with its fields and identities. */
  restoreCollection({ collection, fields, identities }: CollectionNode): void {
    this.#open.set(collection.collection, {
      identities: { ...identities, fields: new Map(identities.fields) },
      collection,
      fields: new Map(fields),
      relations: new Map(),
    });
  }

  /** Restores a deleted field with its identity. */
  restoreField(field: Field, identity: Identity): void {
    const { fields, identities } = this.#existing(field.collection);
    fields.set(field.field, field);
    identities.fields.set(field.field, identity);
  }

  /** Assigns the identities of a deleted collection and its fields to a new one. @param fields identities by name */
  identify(collection: string, fields: ReadonlyMap<string, Identity>, identity?: Identity): void {
    const { identities } = this.#existing(collection);
    if (identity !== undefined) identities.collection = identity;
    for (const [field, each] of fields) identities.fields.set(field, each);
  }

  /** Removes a collection and the objects of its table: triggers, policies, rules, privileges and so on. */
  removeCollection(name: string): void {
    const collection = this.get(name)?.collection;
    if (collection?.schema != null) this.#removeOnTable(tableIdOf(collection));
    this.#open.set(name, undefined);
  }

  putField(field: Field): void {
    const { fields, identities } = this.#existing(field.collection);
    fields.set(field.field, field);
    if (!identities.fields.has(field.field)) identities.fields.set(field.field, NEW_IDENTITY);
  }

  removeField(collection: string, field: string): void {
    const node = this.#existing(collection);
    node.fields.delete(field);
    node.identities.fields.delete(field);
    const removed = this.#removed.get(collection) ?? new Set();
    this.#removed.set(collection, removed.add(field));
  }

  /** True if the field was removed and added again, so that it is a different field. */
  isRecreated(collection: string, field: string): boolean {
    return this.#removed.get(collection)?.has(field) === true && this.get(collection)?.fields.has(field) === true;
  }

  /** Puts a relation into the draft. A new relation has the id 0 until `evolve` assigns one. */
  putRelation(relation: NewRelation & { id?: number }): void {
    const node = this.#existing(relation.many_collection);
    const id = relation.id ?? node.relations.get(relation.many_field)?.id ?? 0;
    node.relations.set(relation.many_field, { ...relation, id });
  }

  removeRelation(collection: string, field: string): void {
    this.#existing(collection).relations.delete(field);
  }

  /** Returns an object other than a table. */
  object(name: ObjectName): SchemaObject | undefined {
    return this.objectNode(name)?.object;
  }

  /** Returns an object other than a table with its identity. */
  objectNode(name: ObjectName): ObjectNode | undefined {
    return this.#objects.get(objectKey(name));
  }

  /** Puts an object into the draft. If an object of that name exists, its identity stays. */
  putObject(object: SchemaObject, identity?: Identity): void {
    const key = objectKey(object);
    const existing = this.#objects.get(key);
    this.#objects = this.#objects.set(key, { identity: identity ?? existing?.identity ?? NEW_IDENTITY, object });
  }

  /** Removes an object with the triggers, rules and privileges of a view, or the privileges of a function, sequence or type. */
  removeObject(name: ObjectName): void {
    this.#removeObjects([name]);
    if (isRelation(name)) this.#removeOnTable(name.id);
    const target = targetOf(name);
    if (target !== undefined) this.#removeObjects(privilegesOn(this.#objects, target));
  }

  /** @param table as in `qualifiedId` */
  #removeOnTable(table: string): void {
    this.#removeObjects(objectsOn(this.#objects, table));
  }

  /** Updates the indexes, because rebuilding them for each removed object would take quadratic time. */
  #removeObjects(names: readonly ObjectName[]): void {
    const keys = names.map(objectKey);
    this.#objects = carryIndexes(this.#objects, this.#objects.deleteAll(keys), new Set(keys));
  }

  /** Puts extracted objects under other names. Objects of views, functions, sequences and types follow. Objects may exchange names. */
  putRenamed(renames: readonly { node: ObjectNode; to: string }[]): void {
    for (const { node, to } of renames) this.putObject(renamedObject(node.object, to), node.identity);
    const views = renames.flatMap(({ node: { object }, to }): [string, string][] =>
      isRelation(object) ? [[object.id, to]] : [],
    );
    const targets = renames.flatMap(({ node: { object }, to }) => {
      const from = targetOf(object);
      return from === undefined ? [] : [{ from, to }];
    });
    this.#objects = renameOnTargets(renameOnTables(this.#objects, new Map(views)), targets);
  }

  /** Removes the object and returns it, so that it can be put under another name. */
  extractObject(name: ObjectName): ObjectNode | undefined {
    const node = this.#objects.get(objectKey(name));
    this.#objects = this.#objects.delete(objectKey(name));
    return node;
  }

  /** Returns the draft as a state. Its position is that of the base. */
  toState(): State {
    const { position, ...base } = this.#base;
    const changed: ChangedFields[] = [];
    const referencedBy = base.referencedBy.withMutations((index) => {
      for (const [name, node] of this.#open) {
        const before = base.collections.get(name);
        reindex(index, name, before?.relations, node?.relations);
        changed.push({ collection: name, before, after: node });
      }
    });
    const edited = base.collections.withMutations((map) => {
      for (const [name, node] of this.#open)
        if (node === undefined) map.delete(name);
        else map.set(name, node);
    });
    const collections = carryIndexes(base.collections, edited, new Set(this.#open.keys()));
    const indexNames = renameIndexes(base.indexNames, changed);
    return { position, collections, referencedBy, indexNames, objects: this.#withoutDropped() };
  }

  /** Returns the objects without those that PostgreSQL drops together with a column. Objects that changed stay. */
  #withoutDropped(): State['objects'] {
    const objects = this.#objects;
    if (objects.isEmpty()) return objects;
    const isUnchanged = (object: SchemaObject): boolean => this.#base.objects.get(objectKey(object))?.object === object;
    const dropped = [...this.#open].flatMap(([collection, after]) => {
      const before = this.#base.collections.get(collection);
      const columns = new Set(findLostColumns(before, after));
      if (before === undefined || columns.size === 0) return [];
      return objectsOn(objects, tableIdOf(before.collection)).filter(
        (object) => isUnchanged(object) && isDroppedWithColumns(object, columns),
      );
    });
    return objects.deleteAll(dropped.map(objectKey));
  }

  #edit(name: string): OpenNode | undefined {
    if (this.#open.has(name)) return this.#open.get(name);
    const node = this.#base.collections.get(name);
    if (node === undefined) return undefined;
    const open = {
      identities: { ...node.identities, fields: new Map(node.identities.fields) },
      collection: node.collection,
      fields: new Map(node.fields),
      relations: new Map(node.relations),
    };
    this.#open.set(name, open);
    return open;
  }

  #existing(name: string): OpenNode {
    const node = this.#edit(name);
    if (node === undefined) throw new Error(`draft: collection ${JSON.stringify(name)} does not exist`);
    return node;
  }
}

/** Creates the node of a collection that the log does not contain yet. */
function newNode(collection: Collection): OpenNode {
  return {
    identities: { collection: NEW_IDENTITY, fields: new Map() },
    collection,
    fields: new Map(),
    relations: new Map(),
  };
}

/** Returns the columns of a table that exist under no name afterwards. */
function findLostColumns(before: CollectionNode | undefined, after: OpenNode | undefined): string[] {
  if (before?.collection.schema == null || after === undefined) return [];
  const kept = new Set([...after.fields].flatMap(([name, field]) => (hasColumn(field) ? [name] : [])));
  const identities = new Set([...kept].map((name) => after.identities.fields.get(name)));
  return [...before.fields].flatMap(([name, field]) =>
    hasColumn(field) && !kept.has(name) && !identities.has(before.identities.fields.get(name)) ? [name] : [],
  );
}
