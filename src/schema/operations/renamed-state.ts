/** The schema as it is once tables and columns have other names, with all that the log knows of them: nothing else differs. */
import { Draft } from '../transition/draft.js';
import type { TableExtras } from '../model/extras.js';
import type { Collection, CollectionMeta, Field, NewRelation, Relation, TableSchema } from '../model/model.js';
import { type CollectionNode, type State, groupedIn, relationsTo } from '../model/state.js';
import { withExtras } from '../transition/table-extras.js';
import type { Json } from '../../kernel/json.js';

export interface Renames {
  /** A collection's new name, by the one that it had. */
  collections: ReadonlyMap<string, string>;
  /** By collection that keeps its name: a field's new name, by the one that it had. */
  fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Definitions that are SQL text keep the old names in it: they come with the tables. */
export function renamedState(state: State, { collections, fields }: Renames): Draft {
  const draft = new Draft(state);
  for (const [collection, names] of fields) {
    for (const [from, to] of names) renameField(draft, { collection, from, to });
  }
  for (const [from, to] of collections) renameCollection(draft, state, from, to);
  return draft;
}

interface FieldRename {
  collection: string;
  from: string;
  to: string;
}

function renameField(draft: Draft, { collection, from, to }: FieldRename): void {
  const node = draft.get(collection) as CollectionNode;
  const own = <T extends string | null>(name: T): T => (name === from ? to : name) as T;
  const field = node.fields.get(from) as Field;
  draft.removeField(collection, from);
  draft.putField({ ...field, field: to });
  const { collection: table } = node;
  draft.putCollection({
    ...table,
    meta: withFieldName(table.meta, from, to),
    schema: table.schema && withColumnName(table.schema, own),
  });
  const relations = [...draft.relationsOf(collection)];
  for (const relation of relations) {
    if (relation.many_field === from) draft.removeRelation(collection, from);
    putIfChanged(draft, relation, {
      ...relation,
      many_field: own(relation.many_field),
      junction_field: own(relation.junction_field),
      sort_field: own(relation.sort_field),
      one_collection_field: own(relation.one_collection_field),
    });
  }
}

function putIfChanged(draft: Draft, before: Relation, after: Relation): void {
  const members = Object.keys(before) as (keyof Relation)[];
  if (members.every((member) => before[member] === after[member])) return;
  const { id: _, ...body } = after;
  draft.putRelation(body);
}

function withFieldName(meta: CollectionMeta, from: string, to: string): CollectionMeta {
  const own = (name: string | null) => (name === from ? to : name);
  const copied: Json = meta.item_duplication_fields;
  return {
    ...meta,
    archive_field: own(meta.archive_field),
    sort_field: own(meta.sort_field),
    display_template: meta.display_template && inTemplate(meta.display_template, from, to),
    item_duplication_fields: Array.isArray(copied) ? copied.map((each) => (each === from ? to : each)) : copied,
  };
}

/** `{{title}}`, and `{{author.name}}` by its first part. */
const inTemplate = (template: string, from: string, to: string): string =>
  template.replace(/\{\{(\s*)([^{}.\s]+)/g, (whole, space: string, name: string) =>
    name === from ? `{{${space}${to}` : whole,
  );

/** What names a column by itself, and not within a definition. */
function withColumnName(schema: TableSchema, own: (name: string) => string): TableSchema {
  const { extras } = schema;
  if (extras === undefined) return schema;
  const { primary_key: key, needs, unmanaged } = extras;
  return withExtras(schema, {
    ...extras,
    ...(key && { primary_key: { ...key, columns: key.columns.map(own) } }),
    ...(needs && {
      needs: needs.map((need) =>
        need.kind === 'sequence' && need.owned_by !== undefined ? { ...need, owned_by: own(need.owned_by) } : need,
      ),
    }),
    ...(unmanaged && {
      unmanaged: unmanaged.map((each) =>
        each.kind === 'default' || each.kind === 'generated' ? { ...each, name: own(each.name) } : each,
      ),
    }),
  });
}

function renameCollection(draft: Draft, state: State, from: string, to: string): void {
  const known = draft.get(from) as CollectionNode;
  const touching = [...known.relations.values(), ...relationsTo(state, from)];
  const held = touching.flatMap(({ many_collection: many, many_field }) => {
    return draft.get(many)?.relations.get(many_field) ?? [];
  });
  draft.removeCollection(from);
  draft.putCollection({ ...known.collection, collection: to });
  for (const field of known.fields.values()) draft.putField({ ...field, collection: to });
  for (const relation of held) draft.putRelation(moved(relation, from, to));
  for (const child of groupedIn(state, from)) {
    edit(draft, child, (collection) => ({ ...collection, meta: { ...collection.meta, group: to } }));
  }
  for (const name of [to, ...state.collections.keys()]) {
    edit(draft, name, (collection) => pointingAt(collection, from, to));
  }
}

/** Puts what `change` makes of the collection, where that is another one. */
function edit(draft: Draft, name: string, change: (collection: Collection) => Collection): void {
  const collection = draft.get(name)?.collection;
  const changed = collection && change(collection);
  if (changed !== undefined && changed !== collection) draft.putCollection(changed);
}

function moved(relation: Relation, from: string, to: string): NewRelation {
  const { id: _, ...body } = relation;
  const own = <T extends string | null>(name: T): T => (name === from ? to : name) as T;
  return {
    ...body,
    many_collection: own(body.many_collection),
    one_collection: own(body.one_collection),
    one_allowed_collections: body.one_allowed_collections?.map(own) ?? null,
  };
}

/** With its foreign keys that are no relations, and its place as a partition; the same object where it has none. */
function pointingAt(collection: Collection, from: string, to: string): Collection {
  const { schema } = collection;
  if (!schema?.extras) return collection;
  const { constraints = [], partition_of: parent } = schema.extras;
  const extras: TableExtras = { ...schema.extras };
  if (parent?.table === from) extras.partition_of = { ...parent, table: to };
  if (constraints.some(({ references }) => references === from)) {
    extras.constraints = constraints.map((each) => (each.references === from ? { ...each, references: to } : each));
  }
  const same = extras.partition_of === parent && extras.constraints === schema.extras.constraints;
  return same ? collection : { ...collection, schema: withExtras(schema, extras) };
}
