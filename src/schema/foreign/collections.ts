import { isObject } from '../json.js';
import { COLLECTION_META_TABLE } from '../normal-form/collection.js';
import { commentText } from '../normal-form/column.js';
import { Wrong } from '../normal-form/checks.js';
import { checkName } from '../normal-form/names.js';
import {
  type CollectionDocument,
  documentsOf,
  type Import,
  isSystem,
  quoted,
  requiredName,
  warn,
  warnOfMember,
} from './import.js';
import { readMeta, warnOfValue } from './meta.js';

const TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'meta', 'schema']);

/** Reads the collections of a file into `into.collections`; system collections are left out. */
export function readCollections(body: Record<string, unknown>, into: Import): void {
  for (const entry of documentsOf('collections', body, into)) {
    const collection = requiredName('collection', entry, into);
    if (collection === undefined) continue;
    into.problems.push(
      ...(isSystem(collection, into) ? [] : checkName('collection', collection, [...entry.at, 'collection'])),
    );
    if (isSystem(collection, into)) {
      const message = `The system collection ${quoted(collection)} was left out: system collections are the service's own.`;
      warn(into, 'SYSTEM_COLLECTION_LEFT_OUT', { collection }, message);
    } else if (into.collections.has(collection)) {
      warn(
        into,
        'DUPLICATE_LEFT_OUT',
        { collection },
        `The collection ${quoted(collection)} is in the file twice; the first was kept.`,
      );
    } else into.collections.set(collection, readCollection(collection, entry.input, into));
  }
}

function readCollection(collection: string, input: Record<string, unknown>, into: Import): CollectionDocument {
  for (const name of Object.keys(input)) if (!TOP_LEVEL.has(name)) warnOfMember(into, 'collections', name);
  const place = { collection };
  const meta = readMeta(input['meta'], { part: 'collections', table: COLLECTION_META_TABLE, place }, into);
  const schema = readSchema(collection, input['schema'], into);
  return { collection, ...(meta === undefined ? {} : { meta }), ...(schema === undefined ? {} : { schema }) };
}

/** name, sql, schema and the like follow from the rest; the comment is all that a table has of its own. */
function readSchema(collection: string, given: unknown, into: Import): CollectionDocument['schema'] {
  if (!isObject(given)) return given === null ? null : undefined;
  if (given['comment'] === undefined) return {};
  const comment = commentText(given['comment'], true);
  if (!(comment instanceof Wrong)) return { comment };
  warnOfValue(into, { collection }, 'schema.comment', comment);
  return {};
}

/**
 * The peer leaves `schema` out of folders, and people trim it off tables: a collection with columns is a table. About
 * the others the file says nothing, and a new one becomes a folder.
 */
export function settleKinds(into: Import): void {
  for (const document of into.collections.values()) {
    const fields = [...(into.fields.get(document.collection)?.values() ?? [])];
    const hasColumns = fields.some(({ schema, type }) => schema != null || (type !== undefined && type !== 'alias'));
    if (document.schema === undefined && hasColumns) document.schema = {};
  }
}

/** Whether a collection of the file has no table, as far as the file and the instance tell. */
export function isFolder(collection: string, into: Import): boolean {
  const document = into.collections.get(collection);
  if (document === undefined || document.schema != null) return false;
  return document.schema === null || !into.exists(collection);
}
