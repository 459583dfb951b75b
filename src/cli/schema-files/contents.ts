/* Converts a snapshot to one document per collection (with its fields and relations) and one text per object, and
   back. */
import { DERIVED_MEMBERS } from '../../schema/model/model.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { byName } from '../../schema/model/state.js';
import { parseYaml, writeYaml, YamlError } from '../../http/formats.js';
import { OperatorError } from '../../kernel/problem.js';

type Document = { [member: string]: unknown };

/** The parts of a snapshot without its origin. */
export interface SnapshotParts {
  collections: Document[];
  fields: Document[];
  relations: Document[];
  /** Absent if the snapshot has no part for objects other than tables. */
  objects?: SchemaObject[];
}

/** Returns the documents by collection name, in order. */
export function documentsOf({ collections, fields, relations }: SnapshotParts): ReadonlyMap<string, Document> {
  const fieldsOf = grouped(fields, 'collection');
  const relationsOf = grouped(relations, 'many_collection');
  const documents = new Map<string, Document>();
  for (const each of [...collections].sort((a, b) => byName(a['collection'] as string, b['collection'] as string))) {
    const name = each['collection'] as string;
    documents.set(name, {
      ...without(each, [], isElsewhere(each) ? { meta: DERIVED_MEMBERS.collection.meta } : DERIVED_MEMBERS.collection),
      fields: (fieldsOf.get(name) ?? []).map((field) => without(field, ['collection'], DERIVED_MEMBERS.field)),
      relations: (relationsOf.get(name) ?? []).map((relation) => without(relation, ['id', 'many_collection'], {})),
    });
  }
  return documents;
}

/**
 * True if the table is outside the default schema. The name of such a table does not follow from that of its
 * collection.
 */
const isElsewhere = ({ schema }: Document): boolean =>
  typeof schema === 'object' && schema !== null && 'schema' in schema;

function grouped(documents: readonly Document[], member: string): Map<string, Document[]> {
  const groups = new Map<string, Document[]>();
  for (const document of documents) {
    const name = document[member] as string;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [document]);
    else group.push(document);
  }
  return groups;
}

function without(document: Document, members: readonly string[], inner: Readonly<Record<string, readonly string[]>>) {
  const rest = omitMembers(document, members);
  for (const [part, derived] of Object.entries(inner)) {
    const value = rest[part];
    if (typeof value === 'object' && value !== null) rest[part] = omitMembers(value as Document, derived);
  }
  return rest;
}

const omitMembers = (document: Document, members: readonly string[]): Document =>
  Object.fromEntries(Object.entries(document).filter(([member]) => !members.includes(member)));

/**
 * The origin of a document in a snapshot: its collection and its location in the file. Objects have no origin.
 */
interface Origin {
  collection: string;
  /** The location, such as `['fields', 3]`. Empty for the whole file. */
  at: readonly (string | number)[];
}

export interface AssembledSnapshot {
  parts: SnapshotParts;
  origins: Record<'collections' | 'fields' | 'relations', Origin[]>;
}

/**
 * Returns the snapshot that the files describe together.
 * @param files documents, each of which contains the name of its collection
 */
export function assemble(files: Iterable<Document>): AssembledSnapshot {
  const parts: SnapshotParts = { collections: [], fields: [], relations: [] };
  const origins: AssembledSnapshot['origins'] = { collections: [], fields: [], relations: [] };
  for (const { fields, relations, ...document } of files) {
    const collection = document['collection'] as string;
    parts.collections.push(document);
    origins.collections.push({ collection, at: [] });
    for (const [index, field] of (fields as Document[]).entries()) {
      parts.fields.push({ collection, ...field });
      origins.fields.push({ collection, at: ['fields', index] });
    }
    for (const [index, relation] of (relations as Document[]).entries()) {
      parts.relations.push({ many_collection: collection, ...relation });
      origins.relations.push({ collection, at: ['relations', index] });
    }
  }
  return { parts, origins };
}

/* Read and write dps.lock, which describes the schema from which the files were written. */

export const LOCK = 'dps.lock';

export interface Lock {
  hash: string;
  /** A position with the hash of its event: `42-3f9a…`. `0` before the first event. */
  position: string;
  release: string;
  /** True if the files contain all managed objects other than tables. */
  objects?: true;
}

const REMARK = '# Written by "dps pull": the base of these files. Keep it with them.\n';

/** Returns the text of the file, with a comment for readers. */
export const writeLock = ({ hash, position, release, objects }: Lock): string =>
  REMARK + writeYaml({ hash, position, release, ...(objects && { objects }) });

/** @throws OperatorError if the lock is invalid */
export function readLock(text: string, file: string): Lock {
  const lock = parsed(text, file) as Partial<Record<keyof Lock, unknown>> | null;
  const { hash, position, release, objects } = lock ?? {};
  const location = typeof position === 'number' ? String(position) : position;
  if (typeof hash === 'string' && typeof location === 'string' && typeof release === 'string') {
    if (/^\d{1,15}(?:-[0-9a-f]{8,64})?$/.test(location))
      return { hash, position: location, release, ...(objects === true && { objects }) };
  }
  throw new OperatorError(`${file} was not written by "dps pull". Run "dps pull" again.`);
}

function parsed(text: string, file: string): unknown {
  try {
    return parseYaml(text, { values: 100, characters: 10_000 });
  } catch (cause) {
    if (cause instanceof YamlError) throw new OperatorError(`${file} is not valid YAML: ${cause.message}.`, { cause });
    throw cause;
  }
}
