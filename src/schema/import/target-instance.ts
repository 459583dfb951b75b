/** Combines the file with the target instance. */
import { isPrimary } from '../model/state.js';
import { mergeField } from '../normal-form/field.js';
import { ALIAS_TYPE } from '../normal-form/types/field-types.js';
import type { FieldDocument, Import, RelationDocument } from './context.js';

/** Returns the resulting field. An unspecified type or column stays as in the instance. */
export function completedField(document: FieldDocument, { instance }: Import): FieldDocument {
  const existing = instance.columnOf(document.collection, document.field);
  if (existing === undefined) return document;
  const merged = mergeField(existing, document, [], { imported: true });
  const { collection, field, type, schema } = merged.ok ? merged.value : existing;
  return { collection, field, type, schema: schema === null ? null : { ...schema } };
}

/** True if the field has no column. Undefined if neither the file nor the instance shows it. */
export function isAlias({ collection, field, type, schema }: FieldDocument, { instance }: Import): boolean | undefined {
  if (schema !== undefined) return schema === null;
  const known = type ?? instance.columnOf(collection, field)?.type;
  return known === undefined ? undefined : known === ALIAS_TYPE;
}

/** Undefined if neither the file nor the instance shows it. */
export function isKey({ collection, field, schema }: FieldDocument, { instance }: Import): boolean | undefined {
  if (schema === null) return false;
  const said = schema?.['is_primary_key'];
  if (typeof said === 'boolean') return said;
  const existing = instance.columnOf(collection, field);
  return existing === undefined ? undefined : isPrimary(existing);
}

/** Returns the collection that the foreign key references. Null without a foreign key. */
export function keyTarget(relation: RelationDocument, { instance }: Import): string | null {
  const { many_collection, many_field } = relation;
  const existing = instance.relationOf(many_collection, many_field);
  const schema = relation.schema === undefined ? existing?.schema : relation.schema;
  const target = relation.one_collection === undefined ? existing?.one_collection : relation.one_collection;
  return schema === null || target == null ? null : target;
}
