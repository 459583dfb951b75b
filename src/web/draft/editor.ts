/** Edits the draft. Deletions have the same consequences as in the service. */
import type { TableExtras } from '../../schema/model/extras.js';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import type { ObjectName } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { type MarkedDocument, byKey, withDraftMarks } from './marked-documents.js';
import { discard, put, remove } from './edits.js';
import { type Documents, type Draft, type Part, keyOf, memberKey } from './model.js';

/** The part of the head that the edit was given. */
export interface Source {
  collections: readonly Collection[];
  /** Fields of the collections that an edit may affect. */
  fields: readonly Field[];
  relations: readonly NewRelation[];
  /** All objects of the schema. */
  objects: readonly SchemaObject[];
}

type DraftedDocuments = { [P in Part]: ReadonlyMap<string, MarkedDocument<Documents[P]>> };

/**
 * Edits a copy of the draft, which is then in `draft`. Its getters return the schema with the draft applied, without
 * removed objects. The caller stores the result.
 */
export class DraftEditor {
  draft: Draft;
  readonly #source: Source;
  #known: DraftedDocuments | null = null;

  constructor(draft: Draft, source: Source) {
    this.draft = draft;
    this.#source = source;
  }

  get #now(): DraftedDocuments {
    const { collections, fields, relations, objects } = this.#source;
    this.#known ??= {
      collections: byKey('collections', withDraftMarks(this.draft, 'collections', collections)),
      fields: byKey('fields', withDraftMarks(this.draft, 'fields', fields)),
      relations: byKey('relations', withDraftMarks(this.draft, 'relations', relations)),
      objects: byKey('objects', withDraftMarks(this.draft, 'objects', objects)),
    };
    return this.#known;
  }

  #all<P extends Part>(part: P): Documents[P][] {
    const edits = this.#now[part] as ReadonlyMap<string, MarkedDocument<Documents[P]>>;
    return [...edits.values()].flatMap(({ document, mark }) => (mark === 'removed' ? [] : [document]));
  }

  #become(draft: Draft): void {
    if (draft !== this.draft) this.#known = null;
    this.draft = draft;
  }

  collection(name: string): Collection | undefined {
    return this.#all('collections').find(({ collection }) => collection === name);
  }

  field(collection: string, name: string): Field | undefined {
    return this.fields(collection).find(({ field }) => field === name);
  }

  fields(collection: string): Field[] {
    return this.#all('fields').filter((field) => field.collection === collection);
  }

  relation(collection: string, field: string): NewRelation | undefined {
    return this.relations().find(
      ({ many_collection, many_field }) => many_collection === collection && many_field === field,
    );
  }

  relations(): NewRelation[] {
    return this.#all('relations');
  }

  object({ kind, id }: ObjectName): SchemaObject | undefined {
    return this.#all('objects').find((object) => object.kind === kind && object.id === id);
  }

  put<P extends Part>(part: P, after: Documents[P]): void {
    const edits = this.#now[part] as ReadonlyMap<string, MarkedDocument<Documents[P]>>;
    const was = edits.get(keyOf[part](after));
    this.#become(put(this.draft, part, { before: was?.mark === 'removed' ? null : (was?.before ?? null), after }));
  }

  /**
   * Replaces the extras of a table, which the source does not contain.
   * @param at the extras at the head
   */
  putExtras(name: string, at: TableExtras, extras: TableExtras): void {
    const table = this.collection(name);
    if (table === undefined) return;
    const edit = this.draft.collections.get(name);
    if (edit?.before != null && edit.before.schema?.extras === undefined) {
      const known = { ...edit, before: withExtras(edit.before, at) };
      this.#become({ ...this.draft, collections: new Map(this.draft.collections).set(name, known) });
    }
    this.#become(put(this.draft, 'collections', { before: withExtras(table, at), after: withExtras(table, extras) }));
  }

  /** Applies an edit to the draft. */
  change(edit: (draft: Draft) => Draft): void {
    this.#become(edit(this.draft));
  }

  #remove<P extends Part>(part: P, document: Documents[P]): void {
    const key = keyOf[part](document);
    const isMade = (this.#now[part] as ReadonlyMap<string, MarkedDocument<Documents[P]>>).get(key)?.before === null;
    this.#become(isMade ? discard(this.draft, part, key) : remove(this.draft, part, document));
  }

  /** Removes a relation, the alias field on the one side, and its use in the junction. The column stays. */
  dropRelation(relation: NewRelation): void {
    const { many_collection, many_field, one_collection, one_field } = relation;
    this.#remove('relations', relation);
    if (one_collection !== null && one_field !== null) this.#dropAlias(one_collection, one_field);
    for (const other of this.relations()) {
      if (other.many_collection === many_collection && other.junction_field === many_field)
        this.put('relations', { ...other, junction_field: null });
    }
  }

  #dropAlias(collection: string, name: string): void {
    const alias = this.field(collection, name);
    if (alias === undefined || alias.schema !== null) return;
    this.#release(collection, alias);
    this.#remove('fields', alias);
  }

  /** Removes a field, its relation and all its uses. */
  dropField(field: Field): void {
    const { collection, field: name } = field;
    const own = this.relation(collection, name);
    if (own !== undefined) this.dropRelation(own);
    const unless = (other: string | null) => (other === name ? null : other);
    for (const other of this.relations()) {
      if (other.many_collection === collection && (other.junction_field === name || other.sort_field === name))
        this.put('relations', {
          ...other,
          junction_field: unless(other.junction_field),
          sort_field: unless(other.sort_field),
        });
      if (other.one_collection === collection && other.one_field === name)
        this.put('relations', { ...other, one_field: null });
    }
    this.#release(collection, field);
    this.#remove('fields', field);
  }

  /** Moves the members of a group to the parent group, and clears sort_field and archive_field. */
  #release(collection: string, { field: name, meta: { group } }: Field): void {
    for (const other of this.fields(collection)) {
      if (other.meta.group === name) this.put('fields', { ...other, meta: { ...other.meta, group } });
    }
    const table = this.collection(collection);
    if (table === undefined || (table.meta.archive_field !== name && table.meta.sort_field !== name)) return;
    const unless = (field: string | null) => (field === name ? null : field);
    const { archive_field, sort_field } = table.meta;
    const meta = { ...table.meta, archive_field: unless(archive_field), sort_field: unless(sort_field) };
    this.put('collections', { ...table, meta });
  }

  /**
   * Removes a collection and its relations. Columns that referenced it stay, and its group members move to the parent
   * group.
   */
  dropCollection(table: Collection): void {
    const { collection: name, meta } = table;
    for (const relation of this.relations()) {
      const allowed = relation.one_allowed_collections;
      if (relation.many_collection === name || relation.one_collection === name) this.dropRelation(relation);
      else if (allowed?.includes(name) === true)
        this.put('relations', { ...relation, one_allowed_collections: allowed.filter((each) => each !== name) });
    }
    for (const other of this.#all('collections')) {
      if (other.meta.group === name) this.put('collections', { ...other, meta: { ...other.meta, group: meta.group } });
    }
    this.#remove('collections', this.collection(name) ?? table);
  }

  dropObject(object: SchemaObject): void {
    this.#remove('objects', object);
  }

  isTaken(collection: string, field?: string): boolean {
    return field === undefined
      ? this.#now.collections.get(collection)?.mark !== 'removed' && this.#now.collections.has(collection)
      : this.#now.fields.get(memberKey(collection, field))?.mark !== 'removed' &&
          this.#now.fields.has(memberKey(collection, field));
  }
}

/**
 * Returns the extras of a table with the draft applied.
 * @param at the extras at the head. A draft that does not change them does not contain them
 */
export function draftedExtras({ collections }: Draft, name: string, at: TableExtras): TableExtras {
  const edit = collections.get(name);
  const [before, after] = [edit?.before?.schema?.extras, edit?.after?.schema?.extras];
  return before === undefined && after === undefined ? at : (after ?? {});
}

/** A table without extras has no such member, as in a snapshot. */
function withExtras(document: Collection, extras: TableExtras): Collection {
  if (document.schema === null) return document;
  const { extras: _, ...schema } = document.schema;
  const members = Object.entries(extras).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return { ...document, schema: { ...schema, ...(members.length > 0 && { extras: Object.fromEntries(members) }) } };
}
