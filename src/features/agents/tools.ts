/* The tools that read. Each sends requests to routes of the service, which check the permissions of the agent. */
import { z } from 'zod';
import { RULES } from '../../schema/findings/rules/index.js';
import type { TokenAction } from '../../schema/model/token-scope.js';
import type { Access } from '../accounts/caller.js';
import { type ToolService, ToolError, path } from './service.js';

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The role that the routes of the tool require. Callers with other roles do not see the tool. */
  access: Exclude<Access, 'anyone'>;
  /** The action that the routes of the tool require. Null if the tool sends no request. */
  action: TokenAction | null;
  /** True if the routes of the tool accept tokens with a scope of collections. */
  isLimited: boolean;
  /** Absent for a tool that changes nothing. */
  writes?: true;
  /**
   * True if the tool is available only to tokens whose scope lists the action. Without a scope, no tool may apply
   * changes.
   */
  needsScope?: true;
  input: z.ZodObject;
  run(input: unknown, service: ToolService): Promise<unknown>;
}

interface Spec<Shape extends z.ZodRawShape> extends Omit<Tool, 'input' | 'run'> {
  input: Shape;
  run: (input: z.output<z.ZodObject<Shape, z.core.$strict>>, service: ToolService) => Promise<unknown>;
}

export function tool<Shape extends z.ZodRawShape>({ input, run, ...about }: Spec<Shape>): Tool {
  const shape = z.strictObject(input);
  return {
    ...about,
    input: shape,
    run: (given, service) => run(shape.parse(given), service),
  };
}

/** A name must not be empty, because the path would then reach the route of the list. */
export const name = z.string().min(1).max(200);
const text = z.string().min(1).max(200);
const offset = z.int().min(0).max(10_000_000).default(0).describe('Number of items to skip');
const limitOf = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe('Maximum number of items');
export const requestId = z.uuid().describe('The id of the change request');
const position = z.int().min(1).describe('The value of "next" in the previous answer, to continue');

interface Document {
  collection: string;
  field?: string;
  type?: string;
  meta: ({ note?: string | null; system?: true } & Record<string, unknown>) | null;
  schema?: { comment?: string | null } | null;
}

interface Page<T> {
  data: T[];
  meta?: { total_count?: number; next?: number | null };
}

/** Removes members that are null to shorten the response. An absent member means null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}

const listCollections = tool({
  name: 'list_collections',
  title: 'List collections',
  description: 'Lists the collections (tables and folders) with their notes, in order.',
  access: 'reader',
  action: 'read',
  isLimited: true,
  input: { offset, limit: limitOf(200, 100) },
  async run(page, service) {
    const found = (await service.get('/collections', { ...page, meta: 'total_count' })) as Page<Document>;
    const collections = found.data.map(({ collection, meta, schema }) => ({
      collection,
      kind: schema === null ? 'folder' : 'table',
      ...(meta?.system === true && { system: true }),
      ...(meta?.note && { note: meta.note }),
      ...(schema?.comment && { comment: schema.comment }),
    }));
    return { total: found.meta?.total_count, collections };
  },
});

const describeCollection = tool({
  name: 'describe_collection',
  title: 'Describe a collection',
  description: 'Returns a collection with its fields and relations. Members without a value are omitted.',
  access: 'reader',
  action: 'read',
  isLimited: true,
  input: { collection: name, offset: offset.describe('Number of fields to skip'), limit: limitOf(100, 50) },
  async run({ collection, ...page }, service) {
    const [document, fields, relations] = (await Promise.all([
      service.get(path`/collections/${collection}`),
      service.get(path`/fields/${collection}`, { ...page, meta: 'total_count' }),
      service.get(path`/relations/${collection}`, { limit: 100, meta: 'total_count' }),
    ])) as [{ data: Document }, Page<Document>, Page<unknown>];
    return withoutNulls({
      ...document.data,
      fields: fields.data,
      total_fields: fields.meta?.total_count,
      relations: relations.data,
      total_relations: relations.meta?.total_count,
    });
  },
});

/** `page` is the number of items per request, and `pages` the number of requests per search. */
const SEARCHED = { page: 500, pages: 20 } as const;

const search = tool({
  name: 'search',
  title: 'Search collections and fields',
  description:
    'Finds collections and fields by part of their name, note or comment, ignoring case. If "next" is not null, continue with it as the offset.',
  access: 'reader',
  action: 'read',
  isLimited: true,
  input: { text, offset, limit: limitOf(100, 30) },
  run: ({ text: wanted, offset: start, limit }, service) =>
    searchDocuments({ wanted: wanted.toLowerCase(), start, limit }, service),
});

interface Search {
  wanted: string;
  start: number;
  limit: number;
}

/** Searches collections and then fields. The offset counts both in this order. */
async function searchDocuments({ wanted, start, limit }: Search, service: ToolService): Promise<unknown> {
  const [collections, fields] = await Promise.all(['/collections', '/fields'].map((list) => totalOf(list, service)));
  const counts = { collections: collections ?? 0, total: (collections ?? 0) + (fields ?? 0) };
  const found: object[] = [];
  let at = start;
  for (let page = 0; page < SEARCHED.pages && at < counts.total && found.length < limit; page += 1) {
    const { hits, read } = hitsIn(await documentsAt(at, counts.collections, service), wanted, limit - found.length);
    found.push(...hits);
    at += read;
  }
  return { found, next: at < counts.total ? at : null };
}

/** Reads documents until `most` hits are found. */
function hitsIn(documents: readonly Document[], wanted: string, most: number): { hits: object[]; read: number } {
  const hits: object[] = [];
  for (const [index, document] of documents.entries()) {
    if (hits.length === most) return { hits, read: index };
    if (matches(document, wanted)) hits.push(hitOf(document));
  }
  return { hits, read: documents.length };
}

async function totalOf(list: string, service: ToolService): Promise<number> {
  const { meta } = (await service.get(list, { limit: 0, meta: 'total_count' })) as Page<Document>;
  return meta?.total_count ?? 0;
}

async function documentsAt(at: number, collections: number, service: ToolService): Promise<Document[]> {
  const query =
    at < collections
      ? { offset: at, limit: Math.min(SEARCHED.page, collections - at) }
      : { offset: at - collections, limit: SEARCHED.page };
  return ((await service.get(at < collections ? '/collections' : '/fields', query)) as Page<Document>).data;
}

const matches = ({ collection, field, meta, schema }: Document, wanted: string): boolean =>
  [field ?? collection, meta?.note, schema?.comment].some(
    (each) => typeof each === 'string' && each.toLowerCase().includes(wanted),
  );

const hitOf = ({ collection, field, type, meta, schema }: Document): object => ({
  collection,
  ...(field !== undefined && { field, type }),
  ...(meta?.note && { note: meta.note }),
  ...(schema?.comment && { comment: schema.comment }),
});

const history = tool({
  name: 'history',
  title: 'Search the history',
  description:
    'Lists accepted commands, newest first: who changed what, when, and why. With "batch", returns the events of one command.',
  access: 'auditor',
  action: 'history',
  isLimited: false,
  input: {
    collection: name.optional(),
    field: name.optional(),
    text: text.optional().describe('Part of a reason or name'),
    since: text.optional().describe('A position, or a time with its time zone'),
    until: text.optional().describe('A position, or a time with its time zone'),
    batch: z.uuid().optional(),
    after: position.optional(),
    limit: limitOf(100, 20),
  },
  run: ({ text: q, batch, ...filter }, service) =>
    batch === undefined
      ? service.get('/history/batches', { ...filter, q })
      : service.get('/history/events', { batch, after: filter.after, limit: filter.limit }),
});

interface LifeEvent {
  position: number;
  type: string;
  actor: { name: string | null };
  reason: string | null;
  occurred_at: string;
  diff: { collections?: object[]; fields?: { field: string }[]; relations?: { field: string }[] } | null;
}

const PAGES = 10;

const blame = tool({
  name: 'blame',
  title: 'Find who changed a collection last',
  description:
    'Returns the last event that changed a collection itself, each of its fields and each of its relations, with its author and reason. Deleted fields are included. If "next" is not null, continue with it as "after".',
  access: 'auditor',
  action: 'history',
  isLimited: false,
  input: { collection: name, after: position.optional() },
  async run({ collection, after }, service) {
    const last = new Map<string, object>();
    let next: number | null | undefined = after;
    for (let page = 0; page < PAGES && next !== null; page += 1) {
      const query = { after: next, limit: 200 };
      const { data, meta } = (await service.get(path`/history/collections/${collection}`, query)) as Page<LifeEvent>;
      for (const event of data)
        for (const changed of describeChangedObjects(event)) last.set(changed, summarizeEvent(event));
      next = meta?.next ?? null;
    }
    return { changed: [...last].map(([what, event]) => ({ what, ...event })), next };
  },
});

function describeChangedObjects({ diff }: LifeEvent): string[] {
  const { collections = [], fields = [], relations = [] } = diff ?? {};
  return [
    ...(collections.length > 0 ? ['the collection'] : []),
    ...fields.map(({ field }) => `field ${JSON.stringify(field)}`),
    ...relations.map(({ field }) => `relation ${JSON.stringify(field)}`),
  ];
}

const summarizeEvent = ({ position: at, type, actor, reason, occurred_at }: LifeEvent) => ({
  position: at,
  type,
  by: actor.name,
  at: occurred_at,
  reason,
});

const findings = tool({
  name: 'findings',
  title: 'Explain findings',
  description:
    'Explains a finding of a plan by its code: what it is, why it matters, and a safer alternative. Without a code, lists all codes.',
  access: 'reader',
  action: null,
  isLimited: true,
  input: { code: z.string().max(100).optional() },
  run({ code }) {
    if (code === undefined)
      return Promise.resolve(RULES.map(({ code: each, title, level }) => ({ code: each, title, level })));
    const rule = RULES.find((each) => each.code === code);
    if (rule === undefined)
      throw new ToolError([{ message: 'No finding has this code. Call the tool without a code to list all codes.' }]);
    const { title, level, what, why, safer } = rule;
    return Promise.resolve({ code, title, level, what, why, safer });
  },
});

const verify = tool({
  name: 'verify',
  title: 'Verify the log and the database',
  description:
    'Verifies the hash chain of the event log, and compares the log with the metadata rows and the PostgreSQL catalog.',
  access: 'auditor',
  action: 'history',
  isLimited: false,
  input: {},
  async run(_, service) {
    const [log, projections] = (await Promise.all([
      service.get('/history/verify'),
      service.get('/projections/verify'),
    ])) as [{ data: unknown }, { data: unknown }];
    return { log: log.data, projections: projections.data };
  },
});

export const READING_TOOLS: readonly Tool[] = [
  listCollections,
  describeCollection,
  search,
  history,
  blame,
  findings,
  verify,
];
