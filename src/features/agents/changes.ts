/* The tools that plan and propose changes, and the one that applies them. */
import { z } from 'zod';
import { CHANGE_STATES, changePlace } from '../../schema/change-requests/model.js';
import { type ToolService, ToolError, path } from './service.js';
import { type Tool, name, requestId, tool } from './tools.js';

const member = z.record(z.string(), z.unknown());

/** The changed objects have the form of a snapshot. Agents can therefore reuse responses of the tools that read. */
const change = z
  .strictObject({
    collections: z
      .array(
        z.looseObject({ collection: name, meta: member.nullable().optional(), schema: member.nullable().optional() }),
      )
      .max(50)
      .optional()
      .describe('Collections to create or update. `schema: {}` creates a table, `schema: null` a folder'),
    fields: z
      .array(
        z.looseObject({
          collection: name,
          field: name,
          type: z.string().optional().describe('Such as string, text, integer, boolean, timestamp, uuid, json'),
          meta: member.nullable().optional(),
          schema: member.nullable().optional(),
        }),
      )
      .max(500)
      .optional()
      .describe(
        'Fields to create or update, with the interface in `meta`. A new table needs one with `schema.is_primary_key`',
      ),
    relations: z
      .array(
        z.looseObject({
          collection: name,
          field: name,
          related_collection: name.nullable().optional(),
          meta: member.nullable().optional(),
          schema: member.nullable().optional(),
        }),
      )
      .max(200)
      .optional()
      .describe('Relations to create or update'),
    delete: z
      .strictObject({
        collections: z.array(name).max(50).optional(),
        fields: z
          .array(z.strictObject({ collection: name, field: name }))
          .max(200)
          .optional(),
        relations: z
          .array(z.strictObject({ collection: name, field: name }))
          .max(200)
          .optional(),
      })
      .optional(),
  })
  .describe('Objects as in a snapshot. Omitted members keep their values, and omitted objects do not change');

type Change = z.output<typeof change>;
type Deletions = NonNullable<Change['delete']>;

interface Item {
  collection: string;
  field?: string;
  related_collection?: string | null;
}

const PARTS = ['collections', 'fields', 'relations'] as const;
type Part = (typeof PARTS)[number];

interface Diff {
  hash: string;
  diff: Record<Part, object[]>;
}

/**
 * Returns the change as a diff of the current schema. The service computes the diff of new and changed objects.
 * Deletions are added here, because the change lists them separately.
 */
async function diffOf({ delete: deleted = {}, ...wanted }: Change, service: ToolService): Promise<Diff> {
  const snapshot = { version: 1, service: service.release, vendor: 'postgres', ...wanted };
  const { hash, diff } = (await service.post('/schema/diff', snapshot, { mode: 'merge' })) as Diff;
  if (PARTS.every((part) => itemsIn(part, deleted).length === 0)) return { hash, diff };
  const removed = await itemsOf(deleted, service);
  const all = PARTS.map((part) => [part, [...diff[part], ...removed[part].map(deletionOf)]] as const);
  return { hash, diff: Object.fromEntries(all) as Record<Part, object[]> };
}

/** Returns the deleted objects as diff items. @throws ToolError if one of them does not exist */
async function itemsOf(deleted: Deletions, service: ToolService): Promise<Record<Part, Item[]>> {
  const named = new Set(PARTS.flatMap((part) => itemsIn(part, deleted).map(({ collection }) => collection)));
  const includeCollections = [...named].map((each) => `"${each.replaceAll('"', '""')}"`).join(',');
  const snapshot = (await service.get('/schema/snapshot', { includeCollections })) as Record<Part, Item[]>;
  const collections = new Set(deleted.collections);
  const found = PARTS.map((part) => {
    const existing = new Map(snapshot[part].map((item) => [keyOf(item), item]));
    const missing = itemsIn(part, deleted).find((item) => !existing.has(keyOf(item)));
    if (missing !== undefined)
      throw new ToolError([{ message: `An object in delete.${part} does not exist.`, missing }]);
    const keys = new Set(itemsIn(part, deleted).map(keyOf));
    return [part, snapshot[part].filter((item) => keys.has(keyOf(item)) || collections.has(item.collection))] as const;
  });
  return Object.fromEntries(found) as Record<Part, Item[]>;
}

const keyOf = ({ collection, field }: Item): string => JSON.stringify([collection, field]);

const itemsIn = (part: Part, deleted: Deletions): readonly Item[] =>
  part === 'collections' ? (deleted.collections ?? []).map((collection) => ({ collection })) : (deleted[part] ?? []);

const deletionOf = (item: Item): object => ({
  collection: item.collection,
  ...(item.field !== undefined && { field: item.field }),
  ...(item.related_collection !== undefined && { related_collection: item.related_collection }),
  diff: [{ kind: 'D', lhs: item }],
});

const planChange = tool({
  name: 'plan_change',
  title: 'Plan a change',
  description:
    'Returns what a change would do: statements with their locks, data loss and findings. Nothing is locked, read or changed.',
  access: 'author',
  action: 'propose',
  isLimited: true,
  input: { change },
  async run({ change: wanted }, service) {
    return { plan: await service.post('/schema/apply', await diffOf(wanted, service), { explain: true }) };
  },
});

const proposeChange = tool({
  name: 'propose_change',
  title: 'Propose a change',
  description:
    'Opens a change request for people to review. It does not change the schema. Plan the change first. If the policy requires it, acknowledge findings of the plan.',
  access: 'author',
  action: 'propose',
  isLimited: true,
  writes: true,
  input: {
    title: z.string().min(1).max(200),
    reason: z.string().min(1).max(1_000),
    change,
    online: z.boolean().default(false).describe('Prepare slow steps while the tables stay in use'),
    acknowledge: z
      .array(z.strictObject({ code: z.string().max(100), place: z.string().max(500) }))
      .max(100)
      .optional(),
  },
  async run({ change: wanted, ...about }, service) {
    return service.post('/changes', { ...about, diff: await diffOf(wanted, service) });
  },
});

const listChangeRequests = tool({
  name: 'list_change_requests',
  title: 'List change requests',
  description: 'Lists change requests with their states, newest first.',
  access: 'author or auditor',
  action: 'read',
  isLimited: true,
  input: {
    state: z.enum(CHANGE_STATES).optional(),
    collection: name.optional(),
    offset: z.int().min(0).max(10_000_000).default(0),
    limit: z.int().min(1).max(100).default(20),
  },
  run: (query, service) => service.get('/changes', { ...query, meta: 'filter_count' }),
});

const getChangeRequest = tool({
  name: 'get_change_request',
  title: 'Follow a change request',
  description:
    'Returns a change request with its state, plan, findings, comments, approvals and result. Call it again to follow it.',
  access: 'author or auditor',
  action: 'read',
  isLimited: true,
  input: { id: requestId },
  run: ({ id }, service) => service.get(path`/changes/${id}`),
});

const commentChangeRequest = tool({
  name: 'comment_change_request',
  title: 'Comment on a change request',
  description: 'Adds a comment to a change request, or to one of its changes.',
  access: 'author',
  action: 'propose',
  isLimited: true,
  writes: true,
  input: {
    id: requestId,
    comment: z.string().min(1).max(10_000),
    place: changePlace
      .optional()
      .describe('The change that the comment is about, by its names in the diff. Default: the whole request'),
  },
  run: ({ id, ...comment }, service) => service.post(path`/changes/${id}/comment`, comment),
});

const applyChangeRequest = tool({
  name: 'apply_change_request',
  title: 'Apply a change request',
  description:
    'Applies a change request as a whole or not at all. Only do this if your user asked for it. The policy can require approvals from people.',
  access: 'admin',
  action: 'apply',
  isLimited: true,
  writes: true,
  needsScope: true,
  input: { id: requestId },
  run: ({ id }, service) => service.post(path`/changes/${id}/apply`, {}),
});

export const CHANGE_TOOLS: readonly Tool[] = [
  planChange,
  proposeChange,
  listChangeRequests,
  getChangeRequest,
  commentChangeRequest,
  applyChangeRequest,
];
