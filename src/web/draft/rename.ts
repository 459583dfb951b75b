/** Renames in documents. As in the service, every member that equals the old name is changed. */
import { foreignKeyName } from '../../schema/model/name-length.js';
import type { Collection, Field, ForeignKey, NewRelation } from '../../schema/model/model.js';

/** Maps old names to new names. */
type Names = ReadonlyMap<string, string>;

export interface Renaming {
  collections: Names;
  /** Keyed by the collection's new name. */
  fields: ReadonlyMap<string, Names>;
}

type RenameOwn = <T extends string | null>(name: T) => T;

const ownOf =
  (names: Names | undefined): RenameOwn =>
  (name) =>
    (name === null ? name : (names?.get(name) ?? name)) as typeof name;

/** Returns one function per part. Each returns a copy of a document with new names. */
export const createRenamer = (renaming: Renaming) => ({
  collections: (document: Collection): Collection => renamedCollection(document, renaming),
  fields: (document: Field): Field => renamedField(document, renaming),
  relations: (document: NewRelation): NewRelation => renamedRelation(document, renaming),
});

function renamedCollection(document: Collection, { collections, fields }: Renaming): Collection {
  const table = ownOf(collections);
  const collection = table(document.collection);
  const own = ownOf(fields.get(collection));
  const { meta } = document;
  const copied = meta.item_duplication_fields;
  return {
    ...document,
    collection,
    schema: document.schema && retargetTable(document.schema, table),
    meta: {
      ...meta,
      group: table(meta.group),
      archive_field: own(meta.archive_field),
      sort_field: own(meta.sort_field),
      item_duplication_fields: Array.isArray(copied)
        ? copied.map((each) => (typeof each === 'string' ? own(each) : each))
        : copied,
    },
  };
}

function retargetTable(schema: NonNullable<Collection['schema']>, table: RenameOwn): NonNullable<Collection['schema']> {
  const { extras } = schema;
  if (extras?.constraints === undefined && extras?.partition_of === undefined) return schema;
  const constraints = extras.constraints?.map((each) =>
    each.references === undefined ? each : { ...each, references: table(each.references) },
  );
  const parent = extras.partition_of && { ...extras.partition_of, table: table(extras.partition_of.table) };
  return {
    ...schema,
    extras: { ...extras, ...(constraints && { constraints }), ...(parent && { partition_of: parent }) },
  };
}

function renamedField(document: Field, { collections, fields }: Renaming): Field {
  const collection = ownOf(collections)(document.collection);
  const own = ownOf(fields.get(collection));
  const { meta } = document;
  return { ...document, collection, field: own(document.field), meta: { ...meta, group: own(meta.group) } };
}

function renamedRelation(document: NewRelation, { collections, fields }: Renaming): NewRelation {
  const table = ownOf(collections);
  const many_collection = table(document.many_collection);
  const one_collection = table(document.one_collection);
  const own = ownOf(fields.get(many_collection));
  const there = ownOf(one_collection === null ? undefined : fields.get(one_collection));
  const many_field = own(document.many_field);
  return {
    ...document,
    schema: document.schema && renameDefaultKey(document.schema, document, { many_collection, many_field }),
    many_collection,
    many_field,
    one_collection,
    one_field: there(document.one_field),
    one_collection_field: own(document.one_collection_field),
    one_allowed_collections: document.one_allowed_collections?.map((each) => table(each)) ?? null,
    junction_field: own(document.junction_field),
    sort_field: own(document.sort_field),
  };
}

type ManySide = Pick<NewRelation, 'many_collection' | 'many_field'>;

/** Renames a foreign key if it has a default name, which derives from its two ends. */
function renameDefaultKey(key: ForeignKey, before: ManySide, after: ManySide): ForeignKey {
  return key.constraint_name === impliedName(before) ? { ...key, constraint_name: impliedName(after) } : key;
}

const impliedName = ({ many_collection, many_field }: ManySide): string => foreignKeyName(many_collection, many_field);
