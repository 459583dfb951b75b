import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { SchemaDiff } from '../../../src/schema/diff/diff.js';
import { type ImportedSnapshot, importSnapshot } from '../../../src/schema/import/import-snapshot.js';
import { EMPTY_INSTANCE, type Instance } from '../../../src/schema/import/reading.js';
import type { State } from '../../../src/schema/model/state.js';
import { valueOf } from '../normal-form/read.js';
import type { Json } from '../../../src/kernel/json.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

export const SYSTEM: ReadonlySet<string> = new Set(['service_users']);

type Members = Record<string, unknown>;

export interface PeerFile {
  version: number;
  directus?: string;
  service?: string;
  vendor?: string;
  collections: Members[];
  fields: Members[];
  systemFields?: Members[];
  relations: Members[];
}

export interface Read {
  collections: Members[];
  fields: Members[];
  relations: Members[];
  /** `CODE collection.field` */
  warnings: string[];
}

/** `instance`: its known objects; others are unknown. */
export function read(file: object, instance: Partial<Instance> = {}): Read {
  const known = { ...EMPTY_INSTANCE, ...instance };
  const { collections, fields, relations, warnings } = valueOf(importSnapshot(file, SYSTEM, known));
  return {
    collections: documents(collections),
    fields: documents(fields),
    relations: documents(relations),
    warnings: warnings.map(({ code, collection, field }) =>
      [code, [collection, field].filter(Boolean).join('.')].join(' ').trim(),
    ),
  };
}

/** A diff without changes. */
export const NOTHING = { collections: [], fields: [], relations: [] };

/** The state after a forced import. */
export function importInto(state: State, given: object, mode: 'mirror' | 'merge'): { state: State; diff: SchemaDiff } {
  const { diff, desired } = valueOf(runToEnd(compareSnapshot(state, given, { force: true, mode, release: '1.2.3' })));
  return { state: desired.state, diff };
}

function documents(part: ImportedSnapshot['fields']): Members[] {
  return (part ?? []) as Members[];
}

/** A Directus file on PostgreSQL. */
export function file(parts: Partial<PeerFile>): PeerFile {
  return { version: 1, directus: '11.17.4', vendor: 'postgres', collections: [], fields: [], relations: [], ...parts };
}

export function table(collection: string, meta: Members = {}): Members {
  return { collection, meta: { collection, ...meta }, schema: { name: collection } };
}

export function folder(collection: string, meta: Members = {}): Members {
  return { collection, meta };
}

/** A column in Directus format with derived members: `a.x`. */
export function column(name: string, type: string, schema: Members = {}, meta: Members = {}): Members {
  const [collection = '', field = ''] = name.split('.');
  return {
    collection,
    field,
    type,
    meta: { collection, field, ...meta },
    schema: {
      name: field,
      table: collection,
      is_primary_key: false,
      is_nullable: true,
      is_generated: false,
      foreign_key_table: null,
      ...schema,
    },
  };
}

export function key(collection: string, type = 'integer', schema: Members = {}): Members {
  const sequence = `nextval('${collection}_id_seq'::regclass)`;
  const counts = { data_type: 'integer', has_auto_increment: true, default_value: sequence };
  return column(`${collection}.id`, type, {
    is_primary_key: true,
    is_nullable: false,
    is_unique: true,
    ...(type === 'integer' ? counts : {}),
    ...schema,
  });
}

export function alias(name: string, meta: Members = {}): Members {
  const [collection, field] = name.split('.');
  return { collection, field, type: 'alias', meta };
}

/** A relation in Directus format from `a.x` to `target`. */
export function relation(name: string, target: string | null, meta: Members = {}, schema: Json = {}): Members {
  const [collection, field] = name.split('.');
  const ends = { many_collection: collection, many_field: field, one_collection: target };
  return { collection, field, related_collection: target, meta: { ...ends, ...meta }, schema };
}

/** `collection` or `collection.field` of each document. */
export function names(documents: Members[]): string[] {
  return documents.map(({ collection, field }) => [collection, field].filter(isText).join('.'));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The document with that name. */
export function find(documents: Members[], name: string): Record<string, Members> {
  return documents[names(documents).indexOf(name)] as Record<string, Members>;
}
