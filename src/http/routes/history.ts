import { noQuery } from '../request/query.js';
import { z } from 'zod';
import { type Texts, withCommas } from '../../kernel/bytes.js';
import type { CollectionEvent } from '../../reads/history/changes.js';
import type { EventText } from '../../log/read.js';
import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { type Answer, jsonAnswer, streamAnswer, textAnswer, JSON_TYPE, jsonTextsAnswer } from '../answer/answer.js';
import { causeOf } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused } from '../errors.js';
import { beyond, filterOf, filters, order, positionOf, type } from '../history.js';
import { cursor, pageSize, position } from '../request/history-query.js';
import { data } from '../openapi/answers/envelopes.js';
import {
  acknowledged,
  collectionHistory,
  event,
  logPage,
  verification,
  checkpointKey,
} from '../openapi/answers/history.js';
import { type Route, route } from '../route.js';
import { goneSignal, write } from '../answer/stream.js';
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
    operationId: 'listEvents',
    summary: 'List events of the log',
    access: 'auditor',
    query: eventsQuery,
    answers: { 200: logPage(event) },
    async handle({ query: { after: location, limit, order, ...rest } }) {
      const after = await positionOf(location, history);
      const filter = await filterOf(history, rest);
      const events = await history.events(beyond(filter, order, after), order, limit);
      const page = events.slice(0, limit);
      const next = events.length > limit ? (page.at(-1)?.position ?? null) : null;
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
    operationId: 'getEvent',
    summary: 'Retrieve an event',
    access: 'auditor',
    query: noQuery,
    answers: { 200: data(event) },
    async handle({ params }) {
      const read = position.safeParse(params['position']);
      if (!read.success) throw invalidQuery('position', 'A position must be a positive integer.');
      const stored = await history.event(read.data);
      if (stored === undefined) throw refused('NOT_FOUND', `Event ${read.data} does not exist.`);
      return textAnswer(200, `{"data":${stored.text}}`, ['Content-Type', JSON_TYPE]);
    },
  });
}

function collectionHistoryRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/collections/:id',
    operationId: 'getCollectionHistory',
    summary:
      'Retrieve the history of a collection under all its names, even if it was deleted: its events with their changes',
    access: 'auditor',
    query: collectionHistoryQuery,
    answers: { 200: collectionHistory },
    async handle({ params: { id = '' }, query: { after: location, limit } }) {
      const after = (await positionOf(location, history)) ?? 0;
      const collectionEvents = await history.collection({ collection: id, after, limit });
      if (collectionEvents === undefined)
        throw refused('NOT_FOUND', `Collection ${JSON.stringify(id)} has never existed.`);
      const { events, lives } = collectionEvents;
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
    operationId: 'verifyLog',
    summary: 'Verify the hash chain of the log',
    access: 'auditor',
    query: noQuery,
    answers: { 200: data(verification) },
    async handle() {
      const { broken = null, ...verified } = await history.verify();
      const { ok, checked, erased, head, disallowed, unprotected, divergences } = verified;
      return jsonAnswer(200, { data: { ok, checked, erased, head, broken, disallowed, unprotected, divergences } });
    },
  });
}

/** Acknowledges a diverged log. */
function acknowledgeRoute({ pipeline }: HttpDeps): Route {
  return route({
    method: 'post',
    path: '/history/acknowledge',
    operationId: 'acknowledgeLog',
    summary: 'Acknowledge a fork of the log',
    access: 'admin',
    action: 'operate',
    query: noQuery,
    headers: ['X-Reason'],
    answers: { 200: data(acknowledged) },
    errors: ['LOG_DIVERGED', 'IN_USE'],
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
    operationId: 'exportLog',
    summary: 'Export the whole log, one event per line',
    access: 'auditor',
    query: noQuery,
    answers: { 200: ['application/x-ndjson'] },
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

/** Each request by an auditor signs a checkpoint. Admins rotate the key. */
function checkpointRoutes({ checkpoints }: Pick<HttpDeps, 'checkpoints'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/history/checkpoint',
      operationId: 'getCheckpoint',
      summary:
        'Retrieve a checkpoint: position, hash, time and origin of the log as a signed note, to be stored elsewhere',
      access: 'auditor',
      query: noQuery,
      answers: { 200: ['text/plain'] },
      errors: ['NOT_FOUND', 'LOG_DIVERGED'],
      async handle() {
        const { note, position } = await checkpoints.sign();
        return { ...textAnswer(200, note, ['Content-Type', 'text/plain; charset=utf-8']), position };
      },
    }),
    route({
      method: 'get',
      path: '/history/checkpoint/keys',
      operationId: 'listCheckpointKeys',
      summary: 'List all public keys of checkpoints, including former ones',
      access: 'auditor',
      query: noQuery,
      answers: { 200: data(z.array(checkpointKey)) },
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.list() });
      },
    }),
    route({
      method: 'post',
      path: '/history/checkpoint/keys',
      operationId: 'rotateCheckpointKey',
      summary: 'Create a new signing key in the database. The former public key stays valid for its checkpoints',
      access: 'admin',
      action: 'operate',
      query: noQuery,
      headers: [],
      answers: { 200: data(checkpointKey) },
      errors: ['IN_USE'],
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.rotate() });
      },
    }),
  ];
}
