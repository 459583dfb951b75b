/** /history: the log, for auditors. */
import { z } from 'zod';
import { type Texts, withCommas } from '../../kernel/bytes.js';
import type { CollectionEvent } from '../../reads/history/collection-history.js';
import type { EventText } from '../../log/event-text.js';
import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { EVENT_TYPES } from '../../reads/history/event-types.js';
import type { EventFilter } from '../../reads/history/filter.js';
import { type Answer, jsonAnswer, streamAnswer, textAnswer, JSON_TYPE } from '../answer.js';
import { causeOf } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused } from '../errors.js';
import { type Cursor, cursor, moment, pageSize, position, requireInLog } from '../history-query.js';
import { jsonTextsAnswer } from '../json-text.js';
import { type Route, route } from '../route.js';
import { goneSignal, write } from '../stream.js';
import { checkpointRoutes } from './checkpoints.js';
import { historySchemaRoutes } from './history-schema.js';
import { historyStreamRoute } from './history-stream.js';

const noQuery = z.strictObject({});

const filters = {
  collection: z.string().optional(),
  actor: z.string().optional(),
  command: z.string().optional(),
  /** `log`, or with an id `log:42`. */
  subject: z
    .string()
    .regex(/^[^:]+(?::|$)/, { error: 'must be a kind of subject (log), or one with its id (log:42).' })
    .optional(),
  since: moment.optional(),
  until: moment.optional(),
};

const batchesQuery = z.strictObject({ ...filters, after: cursor.optional(), limit: pageSize });

const eventsQuery = z.strictObject({
  ...filters,
  after: cursor.optional(),
  limit: pageSize,
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc.' }).default('asc'),
  field: z.string().optional(),
  type: z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}.` }).optional(),
  batch: z.uuid({ error: 'must be a uuid.' }).optional(),
});

const collectionHistoryQuery = z.strictObject({ after: cursor.default({ position: 0 }), limit: pageSize });

type Filters = Partial<Pick<z.output<typeof eventsQuery>, keyof typeof filters | 'field' | 'type' | 'batch'>>;

export function historyRoutes(deps: HttpDeps): Route[] {
  return [
    eventsRoute(deps),
    eventRoute(deps),
    batchesRoute(deps),
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
      const from = order === 'asc' ? { after: Math.max(after ?? 0, filter.after ?? 0) } : { before: after };
      const bounds = order === 'asc' ? from : { before: lower(from.before, filter.before) };
      const found = await history.events({ ...filter, ...bounds }, order, limit);
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.position ?? null) : null;
      return pageAnswer(page.map(textOf), next);
    },
  });
}

async function positionOf(place: Cursor | undefined, history: HttpDeps['history']): Promise<number | undefined> {
  if (place !== undefined) await requireInLog(place, history);
  return place?.position;
}

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** Times become positions: they never decrease along the log. */
async function filterOf(history: HttpDeps['history'], query: Filters): Promise<EventFilter> {
  const { since, until, subject, ...filter } = query;
  const after = since && (await boundOf(history, since, 'since'));
  const last = until && (await boundOf(history, until, 'until'));
  return {
    ...filter,
    ...subjectFilter(subject),
    ...(after !== undefined && { after }),
    ...(last !== undefined && { before: last + 1 }),
  };
}

/** An id may hold colons, a kind doesn't. */
function subjectFilter(given: string | undefined): Pick<EventFilter, 'subjectKind' | 'subjectId'> {
  const colon = given?.indexOf(':') ?? -1;
  if (given === undefined || colon < 0) return { subjectKind: given };
  return { subjectKind: given.slice(0, colon), subjectId: given.slice(colon + 1) };
}

/** The position that `since` begins after, or that `until` ends with. */
async function boundOf(
  history: HttpDeps['history'],
  given: z.output<typeof moment>,
  which: 'since' | 'until',
): Promise<number | undefined> {
  if (given.kind === 'now') return which === 'since' ? Number.MAX_SAFE_INTEGER : undefined;
  if (given.kind === 'position') return which === 'since' ? given.position - 1 : given.position;
  // A time includes the events at it, as a bound from either side.
  return history.positionBefore(which === 'since' ? given.time : new Date(given.time.getTime() + 1));
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

function batchesRoute({ history }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/history/batches',
    access: 'auditor',
    query: batchesQuery,
    async handle({ query: { after: place, limit, ...rest } }) {
      const after = await positionOf(place, history);
      const filter = await filterOf(history, rest);
      const found = await history.batches({ ...filter, before: lower(after, filter.before) }, limit);
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.first_position ?? null) : null;
      return jsonAnswer(200, { data: page, meta: { next } });
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

/** Goes on with a log that is not the one that was seen. */
function acknowledgeRoute({ pipeline }: HttpDeps): Route {
  return route({
    method: 'post',
    path: '/history/acknowledge',
    access: 'admin',
    query: noQuery,
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
