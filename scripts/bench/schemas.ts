/** Schemas for measurements: collections of nine fields, each with a foreign key to the previous collection. */
import type { Service } from './servers.js';

const COLUMNS: [string, string, object][] = [
  ['title', 'string', { is_nullable: false, default_value: 'untitled' }],
  ['body', 'text', {}],
  ['status', 'string', { max_length: 20, default_value: 'draft' }],
  ['price', 'decimal', {}],
  ['views', 'integer', { default_value: 0 }],
  ['published', 'timestamp', { default_value: 'now()' }],
  ['options', 'json', {}],
];

const field = (name: string, type: string, schema: object, sort: number) => ({
  field: name,
  type,
  meta: { interface: 'input', sort, note: `The ${name} of an item`, options: { placeholder: name } },
  schema,
});

/** The body of a request that creates a collection with seven fields. */
export function createBody(collection: string): object {
  const columns = COLUMNS.slice(0, 6).map(([name, type, schema], index) => field(name, type, schema, index + 2));
  const id = field('id', 'integer', { is_primary_key: true, has_auto_increment: true }, 1);
  return { collection, schema: {}, meta: { note: 'measured' }, fields: [id, ...columns] };
}

/** A snapshot of `count` collections with nine fields and one foreign key each. */
export function snapshotOf(count: number, release: string) {
  const names = Array.from({ length: count }, (_, index) => `collection_${String(index).padStart(5, '0')}`);
  return {
    version: 1,
    service: release,
    vendor: 'postgres',
    collections: names.map((collection) => ({ collection, meta: { icon: 'box', note: 'measured' }, schema: {} })),
    fields: names.flatMap((collection) => [
      { collection, ...field('id', 'integer', { is_primary_key: true, has_auto_increment: true }, 1) },
      ...COLUMNS.map(([name, type, schema], index) => ({ collection, ...field(name, type, schema, index + 2) })),
      { collection, ...field('previous', 'integer', {}, 9) },
    ]),
    relations: names.map((collection, index) => ({
      many_collection: collection,
      many_field: 'previous',
      one_collection: names[Math.max(0, index - 1)],
      schema: { on_delete: 'SET NULL' },
    })),
  };
}

export const emptySnapshot = (release: string): object => ({
  version: 1,
  service: release,
  vendor: 'postgres',
  collections: [],
  fields: [],
  relations: [],
});

/** A snapshot of `count` collections with 1,500 columns each, nullable or not. */
export function wideSnapshot(count: number, isNullable: boolean, release: string): object {
  const names = Array.from({ length: count }, (_, index) => `wide_${index}`);
  const column = (name: string, index: number) => field(name, 'integer', { is_nullable: isNullable }, index + 1);
  return {
    ...emptySnapshot(release),
    collections: names.map((collection) => ({ collection, meta: {}, schema: {} })),
    fields: names.flatMap((collection) =>
      Array.from({ length: 1_500 }, (_, index) => ({ collection, ...column(`field_${index}`, index) })),
    ),
  };
}

export interface DiffAnswer {
  hash: string;
  diff: unknown;
}

export async function diffTo(service: Service, snapshot: object): Promise<DiffAnswer> {
  const { hash, diff } = await service.call<DiffAnswer>('POST', '/schema/diff', snapshot);
  return { hash, diff };
}

export async function applySnapshot(service: Service, snapshot: object, query = ''): Promise<void> {
  await service.call('POST', `/schema/apply${query}`, await diffTo(service, snapshot));
}
