import { noQuery } from '../request/query.js';
import { z } from 'zod';
import { type Texts, withCommas } from '../../kernel/bytes.js';
import type { CollectionEvent } from '../../reads/history/collection-history.js';
import type { EventText } from '../../log/event-text.js';
import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { type Answer, jsonAnswer, streamAnswer, textAnswer, JSON_TYPE } from '../answer/answer.js';
import { causeOf } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused } from '../errors.js';
import { beyond, filterOf, filters, order, positionOf, type } from '../history/filter.js';
import { cursor, pageSize, position } from '../request/history-query.js';
import { jsonTextsAnswer } from '../answer/json-text.js';
import { type Route, route } from '../route.js';
import { goneSignal, write } from '../answer/stream.js';
import { checkpointRoutes } from './checkpoints.js';
import { historyBatchRoutes } from './history-batches.js';
import { historySchemaRoutes } from './history-schema.js';
import { historyStreamRoute } from './history-stream.js';

const eventsQuery = z.strictObject({
  ...filters,
  after: cursor.optional(),
  limit: pageSize,
  order: order.default('asc'),
  field: z.string().optional(),
  type,
  batch: z.uuid({ error: 'must be a uuid.' }).optional(),
});

const collectionHistoryQuery = z.strictObject({ after: cursor.default({ position: 0 }), limit: pageSize });

/** All routes below /history, including those of other files. */
export function historyRoutes(deps: HttpDeps): Route[] {
  return [
    eventsRoute(deps),
    eventRoute(deps),
    ...historyBatchRoutes(deps),
    collectionHistoryRoute(deps),
    ...historySchemaRoutes(deps),
    verifyRoute(deps),
    acknowledgeRoute(deps),
    exportRoute(deps),
    ...checkpointRoutes(deps),
    historyStreamRoute(deps),
  ];
}

function eventsRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/events',
    access: 'auditor',
    query: eventsQuery,
    async handle({ query: { after: place, limit, order, ...rest } }) {
      const after = await positionOf(place, history);
      const filter = await filterOf(history, rest);
      const found = await history.events(beyond(filter, order, after), order, limit);
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.position ?? null) : null;
      return pageAnswer(page.map(textOf), next);
    },
  });
}

const textOf = ({ text }: EventText): string => text;

function* withDiffs(page: readonly CollectionEvent[]): Generator<string, void, void> {
  for (const { text, diff } of page) yield `${text.slice(0, -1)},"diff":${JSON.stringify(diff)}}`;
}

function pageAnswer(items: Texts, next: number | null): Promise<Answer> {
  return jsonTextsAnswer(pageTexts(items, { next }));
}

function* pageTexts(items: Texts, meta: object): Generator<string, void, void> {
  yield '{"data":[';
  yield* withCommas(items);
  yield `],"meta":${JSON.stringify(meta)}}`;
}

function eventRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/events/:position',
    access: 'auditor',
    query: noQuery,
    async handle({ params }) {
      const read = position.safeParse(params['position']);
      if (!read.success) throw invalidQuery('position', 'A position is a positive integer.');
      const event = await history.event(read.data);
      if (event === undefined) throw refused('NOT_FOUND', `There is no event at position ${read.data}.`);
      return textAnswer(200, `{"data":${event.text}}`, ['Content-Type', JSON_TYPE]);
    },
  });
}

function collectionHistoryRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/collections/:id',
    access: 'auditor',
    query: collectionHistoryQuery,
    async handle({ params: { id = '' }, query: { after: place, limit } }) {
      const after = (await positionOf(place, history)) ?? 0;
      const found = await history.collection({ collection: id, after, limit });
      if (found === undefined) throw refused('NOT_FOUND', `There never was a collection ${JSON.stringify(id)}.`);
      const { events, lives } = found;
      const page = events.slice(0, limit);
      const next = events.length > limit ? (page.at(-1)?.position ?? null) : null;
      return jsonTextsAnswer(pageTexts(withDiffs(page), { next, lives }));
    },
  });
}

function verifyRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/verify',
    access: 'auditor',
    query: noQuery,
    async handle() {
      const { ok, checked, head, broken, unprotected, divergences } = await history.verify();
      return jsonAnswer(200, { data: { ok, checked, head, broken: broken ?? null, unprotected, divergences } });
    },
  });
}

/** Acknowledges a diverged log. */
function acknowledgeRoute({ pipeline }: HttpDeps): Route {
  return route({
    method: 'post',
    path: '/history/acknowledge',
    access: 'admin',
    query: noQuery,
    heeds: ['X-Reason'],
    async handle(call) {
      const { position, divergences } = await pipeline.acknowledge(causeOf(ACKNOWLEDGE, call));
      return { ...jsonAnswer(200, { data: { position, divergences } }), position };
    },
  });
}

function exportRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/export',
    access: 'auditor',
    query: noQuery,
    handle({ head }) {
      const disposition = ['Content-Disposition', `attachment; filename="log-${head}.ndjson"`];
      const answer = streamAnswer(
        'application/x-ndjson; charset=utf-8',
        async (res) => {
          const signal = goneSignal(res);
          for await (const lines of history.exported(head)) {
            await write(res, lines.map((line) => `${line}\n`).join(''), { signal });
          }
        },
        disposition,
      );
      return { ...answer, position: head };
    },
  });
}
