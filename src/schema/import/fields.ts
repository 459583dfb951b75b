import { isObject } from '../../kernel/json.js';
import { FIELD_META_TABLE } from '../normal-form/field-meta.js';
import { checkName } from '../normal-form/names.js';
import { readColumn } from './columns.js';
import type { FieldDocument, Import } from './context.js';
import { documentsOf, hasCollection, isSystem, quotedPath, requiredName, warn, warnOfMember } from './reading.js';
import { readMeta } from './meta.js';

const TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'field', 'type', 'meta', 'schema']);

/** Reads the fields of a file into `into.fields`. Skips those of skipped collections. */
export function readFields(body: Record<string, unknown>, into: Import): void {
  for (const entry of documentsOf('fields', body, into)) {
    const collection = requiredName('collection', entry, into);
    const field = requiredName('field', entry, into);
    if (collection === undefined || field === undefined) continue;
    const left = reasonToLeave(collection, field, into);
    if (left !== null) {
      warn(into, left.code, { collection, field }, `The field ${quotedPath(collection, field)} ${left.reason}.`);
      continue;
    }
    into.problems.push(...checkName('field', field, [...entry.at, 'field']));
    const siblings = into.fields.get(collection) ?? new Map<string, FieldDocument>();
    siblings.set(field, readField({ collection, field }, entry.input, into));
    into.fields.set(collection, siblings);
  }
}

function reasonToLeave(collection: string, field: string, into: Import): { code: string; reason: string } | null {
  if (isSystem(collection, into)) {
    return { code: 'SYSTEM_FIELD_LEFT_OUT', reason: 'was left out: it is on a system collection' };
  }
  if (!hasCollection(collection, into)) {
    return { code: 'FIELD_LEFT_OUT', reason: 'was left out: its collection is not in the file' };
  }
  if (into.fields.get(collection)?.has(field) !== true) return null;
  return { code: 'DUPLICATE_LEFT_OUT', reason: 'is in the file twice; the first was kept' };
}

function readField(
  place: { collection: string; field: string },
  input: Record<string, unknown>,
  into: Import,
): FieldDocument {
  for (const name of Object.keys(input)) if (!TOP_LEVEL.has(name)) warnOfMember(into, 'fields', name);
  const meta = readMeta(input['meta'], { part: 'fields', table: FIELD_META_TABLE, place }, into);
  const column = readColumn(
    { ...place, type: input['type'], schema: isObject(input['schema']) ? input['schema'] : undefined },
    into,
  );
  return { ...place, ...(meta === undefined ? {} : { meta }), ...column };
}

/** Folders have no fields. */
export function dropFieldsOfFolders(isFolder: (collection: string) => boolean, into: Import): void {
  for (const [collection, fields] of into.fields) {
    if (!isFolder(collection)) continue;
    into.fields.delete(collection);
    for (const field of fields.keys()) {
      const message = `The field ${quotedPath(collection, field)} was left out: its collection is a folder.`;
      warn(into, 'FIELD_LEFT_OUT', { collection, field }, message);
    }
  }
}
