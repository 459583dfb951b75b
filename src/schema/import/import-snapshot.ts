/**
 * Converts snapshots of other vendors, releases, and Directus (9 to 12) to our documents. The result depends only on
 * the file and on `instance`. Importing the file again gives the same result, so the diff after an apply is empty.
 * Omitted members stay absent.
 */
import { isObject } from '../../kernel/json.js';
import { invalid, ok, refuse, type Result } from '../../kernel/problem.js';
import { SYSTEM_PREFIX } from '../model/system-collections.js';
import type { Warning } from '../../kernel/warning.js';
import { isFolder, readCollections, resolveKinds } from './collections.js';
import { dropFieldsOfFolders, readFields } from './fields.js';
import { type Import, EMPTY_INSTANCE, type Instance } from './context.js';
import { warn, warnOfMember } from './reading.js';
import { addPrimaryKeys, fitForeignKeys } from './keys.js';
import { resolveReferences } from './references.js';
import { readRelations } from './relations.js';
import { vendorOf } from './vendor.js';

export interface ImportedSnapshot {
  /** Undefined if the file has no such part, which then is unspecified. */
  collections: unknown[] | undefined;
  fields: unknown[] | undefined;
  relations: unknown[] | undefined;
  /** Skipped or changed parts, with reasons. */
  warnings: Warning[];
}

const PARTS = ['collections', 'fields', 'relations'] as const;
const TOP_LEVEL: ReadonlySet<string> = new Set([...PARTS, 'version', 'directus', 'service', 'vendor', 'systemFields']);

/**
 * Imports a snapshot that was accepted with force. `systemCollections`: those (by our names) that relations may
 * reference. `instance` provides what the file omits. Read the documents with `imported: true`. Only a file that is no
 * snapshot has problems.
 */
export function importSnapshot(
  body: unknown,
  systemCollections: ReadonlySet<string>,
  instance: Instance = EMPTY_INSTANCE,
): Result<ImportedSnapshot> {
  if (!isObject(body)) return refuse(invalid([], 'a snapshot is a JSON object'));
  const given = PARTS.filter((part) => body[part] !== undefined);
  const wrong = given.filter((part) => !Array.isArray(body[part]));
  if (wrong.length > 0) return refuse(...wrong.map((part) => invalid([part], `${part} must be an array`)));
  const into = start(body, { systemCollections, instance, parts: new Set<string>(given) });
  for (const name of Object.keys(body)) if (!TOP_LEVEL.has(name)) warnOfMember(into, '', name);
  warnOfSystemFields(body, into);
  readCollections(body, into);
  readFields(body, into);
  resolveKinds(body, into);
  dropFieldsOfFolders((collection) => isFolder(collection, into), into);
  // Our own snapshots contain all keys.
  if (body['service'] === undefined && into.parts.has('fields')) addPrimaryKeys(body, into);
  readRelations(body, into);
  resolveReferences(into);
  fitForeignKeys(into);
  return into.problems.length > 0 ? refuse(...into.problems) : ok(finish(into));
}

type Surroundings = Pick<Import, 'systemCollections' | 'instance' | 'parts'>;

function start(body: Record<string, unknown>, surroundings: Surroundings): Import {
  return {
    ...surroundings,
    vendor: vendorOf(body),
    prefix: body['service'] === undefined ? 'directus_' : SYSTEM_PREFIX,
    collections: new Map(),
    fields: new Map(),
    relations: new Map(),
    warnings: [],
    problems: [],
    namedMembers: new Set(),
  };
}

function warnOfSystemFields({ systemFields }: Record<string, unknown>, into: Import): void {
  if (!Array.isArray(systemFields) || systemFields.length === 0) return;
  const message = `systemFields (${systemFields.length}) were left out: the service keeps the indexes of its own tables.`;
  warn(into, 'SYSTEM_FIELDS_LEFT_OUT', {}, message);
}

function finish({ parts, collections, fields, relations, warnings }: Import): ImportedSnapshot {
  return {
    collections: parts.has('collections') ? [...collections.values()] : undefined,
    fields: parts.has('fields') ? [...fields.values()].flatMap((siblings) => [...siblings.values()]) : undefined,
    relations: parts.has('relations') ? [...relations.values()] : undefined,
    warnings,
  };
}
