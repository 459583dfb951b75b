import { noQuery, cursor, pageSize, position, type Cursor, requireInLog } from '../request/query.js';
import { z } from 'zod';
import { type Texts, withCommas } from '../../kernel/bytes.js';
import type { CollectionEvent, CollectionHistory, ChangedBatch } from '../../reads/history/changes.js';
import type { EventText } from '../../log/read.js';
import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { type Answer, jsonAnswer, streamAnswer, textAnswer, JSON_TYPE, jsonTextsAnswer } from '../answer/answer.js';
import { causeOf } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused, RejectedError } from '../errors.js';
import {
  afterCursor,
  filterOf,
  filters,
  order,
  positionOf,
  type,
  type Order,
  subject,
  subjectFilter,
} from '../history.js';
import { data } from '../openapi/answers/envelopes.js';
import {
  acknowledged,
  collectionHistory,
  event,
  logPage,
  verification,
  checkpointKey,
  batchPage,
  changedBatch,
} from '../openapi/answers/history.js';
import { type Route, route } from '../route.js';
import { disconnectSignal, write, writeEventStream } from '../answer/stream.js';
import { historySchemaRoutes } from './history-schema.js';
import type { Batch } from '../../reads/history/batches.js';
import { arrayTexts } from '../documents/list.js';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { allows } from '../../features/accounts/caller.js';
import { CHANGE } from '../../schema/change-requests/model.js';
import type { StoredEvent } from '../../schema/model/events.js';
import { type ObjectName, objectLabel } from '../../schema/model/objects.js';
import { authorize } from '../serve.js';

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

/** Returns all routes below /history, including those of other files. */
export function historyRoutes(deps: HttpDeps): Route[] {
  return [
    eventsRoute(deps),
    eventRoute(deps),
    ...historyBatchRoutes(deps),
    collectionHistoryRoute(deps),
    objectHistoryRoute(deps),
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
    summary: 'List the events in the log',
    access: 'auditor',
    query: eventsQuery,
    answers: { 200: logPage(event) },
    async handle({ query: { after: location, limit, order, ...rest } }) {
      const after = await positionOf(location, history);
      const filter = await filterOf(history, rest);
      const events = await history.events(afterCursor(filter, order, after), order, limit);
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
      return livesAnswer(collectionEvents, limit);
    },
  });
}

function objectHistoryRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/objects/:kind/:id',
    operationId: 'getObjectHistory',
    summary:
      'Retrieve the history of a view, a function or another object under all its names, even if it was deleted: its events with their changes',
    access: 'auditor',
    query: collectionHistoryQuery,
    answers: { 200: collectionHistory },
    async handle({ params: { kind = '', id = '' }, query: { after: location, limit } }) {
      const after = (await positionOf(location, history)) ?? 0;
      const objectEvents = await history.object({ object: { kind, id }, after, limit });
      if (objectEvents === undefined)
        throw refused('NOT_FOUND', `No ${objectLabel({ kind, id } as ObjectName)} has ever existed.`);
      return livesAnswer(objectEvents, limit);
    },
  });
}

function livesAnswer({ events, lives }: CollectionHistory, limit: number): Promise<Answer> {
  const page = events.slice(0, limit);
  const next = events.length > limit ? (page.at(-1)?.position ?? null) : null;
  return jsonTextsAnswer(pageTexts(withDiffs(page), { next, lives }));
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
    action: 'personal',
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
          const signal = disconnectSignal(res);
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

/** Routes for checkpoints. Each request by an auditor signs a checkpoint, and admins rotate the key. */
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
      summary: 'List all public checkpoint keys, including former ones',
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
      action: 'personal',
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

/* /history/batches and /history/changes: accepted commands and the documents they changed. */

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

/** Maximum number of batches per page. Replaying them takes some seconds. */
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

/** These routes are for auditors. Cursors are positions. */
const historyBatchRoutes = (deps: HttpDeps): Route[] => [batchesRoute(deps), changesRoute(deps)];

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
      const batches = await history.batches({ filter: afterCursor(filter, order, after), order, limit });
      const page = batches.slice(0, limit);
      const next = batches.length > limit ? endOf(page, order) : null;
      return jsonAnswer(200, { data: page, meta: { next } });
    },
  });
}

/** Returns the start of the next page. */
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
      const filter = afterCursor({}, order, await positionOf(location, history));
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
    yield* arrayTexts<object>(changed, (batch) => JSON.stringify(batch));
  }
  yield '}}';
}

/* /history/stream sends events as they are accepted. Everyone who may read change requests receives their events. */

/** `after` is for the first connection of a client that has already read the log up to that position. */
const streamQuery = z.strictObject({ after: cursor.optional(), subject });

const isAboutChanges = (subject: string | undefined): boolean => subjectFilter(subject).subjectKind === CHANGE;

/** Permission is checked repeatedly, so that the stream ends when the token expires. */
function historyStreamRoute({ history, store, freshness, auth, watch }: HttpDeps): Route {
  /** Checks the permission. This also notices a new head without a notification. */
  const allowed = async (req: Request, requirement: Pick<Route, 'access' | 'action'>): Promise<boolean> => {
    const { head, authEpoch } = await freshness.check();
    void store.atHead(head).catch(() => undefined);
    return authorize(req, { ...requirement, collections: null }, (token) => auth.identify(token, authEpoch)).then(
      () => true,
      (error: unknown) => !(error instanceof RejectedError),
    );
  };
  return route({
    method: 'get',
    path: '/history/stream',
    operationId: 'streamEvents',
    summary: 'Stream accepted events as server-sent events',
    description:
      '`subject` filters as in /history/events: `change` for all change requests, `change:ID` for one. Authors do not see the addresses of requests.',
    access: 'author or auditor',
    stricter: {
      access: 'auditor',
      where: ({ subject: about }) => !isAboutChanges(about),
      words: 'without `subject=change`',
    },
    query: streamQuery,
    answers: { 200: ['text/event-stream'] },
    errors: ['NOT_FOUND'],
    async handle({ req, query, head, caller }) {
      const from = lastEventId(req) ?? query.after ?? { position: head };
      await requireInLog(from, history);
      const after = from.position;
      if (after > head) throw refused('NOT_FOUND', `The position does not exist. The log ends at ${head}.`);
      await store.atHead(head);
      const answer = streamAnswer(
        'text/event-stream; charset=utf-8',
        (res) => {
          const action = isAboutChanges(query.subject) ? 'read' : 'history';
          const isAuditor = allows(caller.role, 'auditor');
          return writeEventStream(res, {
            tail: history.tail,
            after,
            // An auditor keeps receiving the events for auditors as long as the role and the scope of the token allow
            // that.
            allowed: () => allowed(req, { access: isAuditor ? 'auditor' : 'author or auditor', action }),
            shown: createEventFilter(query.subject, isAuditor),
            watch,
          });
        },
        // Proxies would otherwise buffer events in order to compress or combine them.
        ['X-Accel-Buffering', 'no'],
      );
      return { ...answer, position: after };
    },
  });
}

/** Selects the events of the subject. Only auditors see the source address. */
function createEventFilter(about: string | undefined, isAuditor: boolean): (event: EventText) => string | null {
  const { subjectKind: kind, subjectId: id } = subjectFilter(about);
  return ({ text, subject: eventSubject }) => {
    if (kind !== undefined && (eventSubject?.kind !== kind || (id !== undefined && eventSubject.id !== id)))
      return null;
    return isAuditor ? text : withoutOrigin(text);
  };
}

/** Removes the source address. The salt is removed too, because it would let clients check guesses of the address. */
function withoutOrigin(text: string): string {
  const { context: _, ...event } = JSON.parse(text) as StoredEvent;
  return JSON.stringify({ ...event, request_id: null, ip: null, user_agent: null, salt: null });
}

function lastEventId(req: IncomingMessage): Cursor | undefined {
  const lastId = req.headers['last-event-id'];
  if (lastId === undefined || lastId === '') return undefined;
  const read = cursor.safeParse(lastId);
  if (!read.success) throw invalidQuery('Last-Event-ID', 'Last-Event-ID must be an id from the stream, or a position.');
  return read.data;
}
