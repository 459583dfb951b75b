/** /history/batches and /history/changes: accepted commands and the documents they changed. */
import { z } from 'zod';
import type { Batch } from '../../reads/history/batches.js';
import type { ChangedBatch } from '../../reads/history/changes.js';
import { jsonAnswer, jsonTextsAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { beyond, filterOf, filters, type Order, order, positionOf, type } from '../history.js';
import { cursor, pageSize } from '../request/history-query.js';
import { listed } from '../documents/list.js';
import { batchPage, changedBatch, logPage } from '../openapi/answers/history.js';
import { type Route, route } from '../route.js';

const batchesQuery = z.strictObject({
  ...filters,
  after: cursor.optional(),
  limit: pageSize,
  order: order.default('desc'),
  field: z.string().optional(),
  type,
  q: z
    .string()
    .max(200, { error: 'must have at most 200 characters.' })
    .optional()
    .describe('Text that a reason or a name contains'),
});

/** Maximum batches per page: some seconds of a replay. */
const MOST_BATCHES = 100;

const changesQuery = z.strictObject({
  after: cursor.optional(),
  order: order.default('asc'),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, { error: `must be an integer from 1 to ${MOST_BATCHES}.` })
    .transform(Number)
    .pipe(z.int().min(1).max(MOST_BATCHES))
    .default(20)
    .describe('Maximum number of batches'),
});

/** Available to auditors. Cursors are positions. */
export const historyBatchRoutes = (deps: HttpDeps): Route[] => [batchesRoute(deps), changesRoute(deps)];

function batchesRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/batches',
    operationId: 'listBatches',
    summary: 'List accepted commands',
    access: 'auditor',
    query: batchesQuery,
    answers: { 200: batchPage },
    async handle({ query: { after: location, limit, order, q, ...rest } }) {
      const after = await positionOf(location, history);
      const filter = { ...(await filterOf(history, rest)), text: q || undefined };
      const batches = await history.batches({ filter: beyond(filter, order, after), order, limit });
      const page = batches.slice(0, limit);
      const next = batches.length > limit ? endOf(page, order) : null;
      return jsonAnswer(200, { data: page, meta: { next } });
    },
  });
}

/** The start of the next page. */
const endOf = (page: readonly Batch[], order: Order): number | null =>
  page.at(-1)?.[order === 'asc' ? 'last_position' : 'first_position'] ?? null;

function changesRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/changes',
    operationId: 'listBatchChanges',
    summary: 'List accepted commands, each with the documents that it changed, before and after',
    access: 'auditor',
    query: changesQuery,
    answers: { 200: logPage(changedBatch) },
    async handle({ query: { after: location, limit, order } }) {
      const filter = beyond({}, order, await positionOf(location, history));
      const { batches, more } = await history.changes({ filter, order, limit });
      return jsonTextsAnswer(changesTexts(batches, more ? endOf(batches, order) : null));
    },
  });
}

function* changesTexts(batches: readonly ChangedBatch[], next: number | null): Generator<string, void, void> {
  yield '{"data":[';
  for (const [index, { changes, ...batch }] of batches.entries()) {
    yield `${index > 0 ? ',' : ''}${JSON.stringify(batch).slice(0, -1)},"changes":`;
    if (changes === null) yield 'null}';
    else yield* documentTexts(changes);
  }
  yield `],"meta":${JSON.stringify({ next })}}`;
}

function* documentTexts({ collections, fields, relations }: NonNullable<ChangedBatch['changes']>) {
  for (const [part, changed] of Object.entries({ collections, fields, relations })) {
    yield `${part === 'collections' ? '{' : ','}"${part}":`;
    yield* listed<object>(changed, (batch) => JSON.stringify(batch));
  }
  yield '}}';
}
