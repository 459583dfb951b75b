/** Types and collations that planned events use and the database must have. */
import { columnType, dataType, isExtensionType } from '../sql-text/data-types.js';
import { extensionsWith } from '../sql-text/allowed-functions.js';
import { parseTypeText } from '../sql-text/expression.js';
import type { Field } from '../model/model.js';
import { type LogEvent, takenFromTrash } from '../model/events.js';
import { needsOfNode } from '../model/needs.js';
import type { CollectionNode, State } from '../model/state.js';

export interface TypeUse {
  kind: 'type' | 'collation';
  /** As in the column's definition. */
  text: string;
  collection: string;
  /** The column. Absent for a domain of `needs` based on the type. */
  field?: string;
}

/** A type that does not exist, or is the row type of a relation in another PostgreSQL schema. */
export interface TypeFacts {
  isMissing: boolean;
  /** The relation whose row type it is or contains. Null if there is none in another schema. */
  relation: string | null;
}

/** Undefined if the type exists and may be used. */
export type TypeLookup = ReadonlyMap<string, TypeFacts>;

export const typeKey = ({ kind, text }: Pick<TypeUse, 'kind' | 'text'>): string => `${kind} ${text}`;

/** Returns types that an event introduces. Types of restored objects already exist. */
export function typesUsed(event: LogEvent, after: State): TypeUse[] {
  if (event.collection === null) return [];
  const node = after.collections.get(event.collection);
  if (node === undefined) return [];
  return [
    ...fieldsIn(event, node).flatMap((field) => usesOfColumn(field, node, after)),
    ...usesOfDomains(event, node, after),
  ];
}

function fieldsIn(event: LogEvent, { fields }: CollectionNode): Field[] {
  if (event.type === 'collection.created') return takenFromTrash(event.data) === undefined ? [...fields.values()] : [];
  if (event.type === 'field.created' && takenFromTrash(event.data) !== undefined) return [];
  if (event.type !== 'field.created' && event.type !== 'field.updated') return [];
  const field = fields.get(event.field ?? '');
  return field === undefined ? [] : [field];
}

function usesOfColumn({ collection, field, schema }: Field, node: CollectionNode, after: State): TypeUse[] {
  if (schema === null) return [];
  const collation = schema.extras?.collation;
  const isOrdinary = dataType(schema.data_type) !== undefined && !isExtensionType(schema.data_type);
  return [
    ...(isOrdinary ? [] : typeUse(columnType(schema), { collection, field }, { node, after })),
    ...(collation === undefined || isNeeded(node, 'collation', collation)
      ? []
      : [{ kind: 'collation' as const, text: collation, collection, field }]),
  ];
}

function usesOfDomains(event: LogEvent, node: CollectionNode, after: State): TypeUse[] {
  if (event.type !== 'collection.created' && event.type !== 'collection.updated') return [];
  if (event.type === 'collection.created' && takenFromTrash(event.data) !== undefined) return [];
  const place = { collection: node.collection.collection };
  return needsOfNode(node).flatMap((need) =>
    need.kind === 'domain' ? typeUse(need.type, place, { node, after }) : [],
  );
}

function typeUse(
  text: string,
  place: Pick<TypeUse, 'collection' | 'field'>,
  { node, after }: { node: CollectionNode; after: State },
): TypeUse[] {
  const parsed = parseTypeText(text);
  if (parsed === null || (dataType(parsed.name) !== undefined && !isExtensionType(parsed.name))) return [];
  const { name } = parsed;
  const isMade =
    isNeeded(node, 'enum', name) ||
    isNeeded(node, 'domain', name) ||
    after.collections.has(name) ||
    extensionsWith('types', name).some((extension) => isNeeded(node, 'extension', extension));
  return isMade ? [] : [{ kind: 'type', text, ...place }];
}

/** True if the change creates it when missing. */
const isNeeded = (node: CollectionNode, kind: string, name: string): boolean =>
  needsOfNode(node).some((need) => need.kind === kind && need.name === name);
