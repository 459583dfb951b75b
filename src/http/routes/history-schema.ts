/** /history/snapshot, /history/diff and /history/schema: the schema at a point in time, and its changes. */
import { z } from 'zod';
import { NOW } from '../../reads/history/time-travel.js';
import type { Point } from '../../log/fold.js';
import { emptyTexts, type Texts, withCommas } from '../../kernel/bytes.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/model/order.js';
import { type CollectionNode, type State, contentOf } from '../../schema/model/state.js';
import {
  keyTarget,
  relationDocument,
  collectionDocumentOf,
  fieldDocumentsOf,
} from '../../schema/snapshot/documents.js';
import { nameList, moment } from '../request/query.js';
import { pastDocuments } from '../openapi/answers/history.js';
import { snapshotHash, snapshotOf } from '../../schema/snapshot/snapshot.js';
import type { Resumable } from '../../kernel/resumable.js';
import { runYielding } from '../../kernel/event-loop.js';
import { JSON_TYPE, jsonTextsAnswer, largeJsonAnswer, requireSendable } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { RejectedError } from '../errors.js';
import type { Problem } from '../../kernel/problem.js';
import { attachment, EXPORTS, EXPORT_TYPES, exportFile, FORMATS, stampOf } from '../answer/export.js';
import { createPointAt, type PointAt } from '../history.js';
import { representationAnswer } from '../answer/representation.js';
import { diff, snapshot } from '../openapi/answers/schema.js';
import { type Route, route } from '../route.js';
import { snapshotBytes } from '../documents/snapshot-pieces.js';

const HISTORY_EXPORTS = [...EXPORTS, 'sql'] as const;

const snapshotQuery = z.strictObject({
  at: moment.default(NOW),
  export: z.enum(HISTORY_EXPORTS, { error: `must be one of ${HISTORY_EXPORTS.join(', ')}.` }).optional(),
});
const diffQuery = z.strictObject({ from: moment.default(NOW), to: moment.default(NOW) });

/** These routes are for authors and auditors. A point in time is a position or a timestamp. */
export function historySchemaRoutes(deps: HttpDeps): Route[] {
  const pointAt = createPointAt(deps);
  return [snapshotRoute(deps, pointAt), diffRoute(deps, pointAt), documentsRoute(pointAt)];
}

function snapshotRoute({ history, rendered, config: { release, objects } }: HttpDeps, pointAt: PointAt): Route {
  const fileOf = (
    name: (typeof HISTORY_EXPORTS)[number],
    point: Point,
  ): { type: string; file: () => Resumable<Buffer> } => {
    if (name === 'sql') return { type: 'application/sql; charset=utf-8', file: () => history.script(point) };
    const { type, write } = FORMATS[name];
    return { type, file: () => exportFile(snapshotOf(point.state, release, undefined, objects), write) };
  };
  return route({
    method: 'get',
    path: '/history/snapshot',
    operationId: 'getPastSnapshot',
    summary: 'Retrieve the schema at a point in time',
    access: 'author or auditor',
    action: 'history',
    query: snapshotQuery,
    answers: { 200: [snapshot, ...EXPORT_TYPES, 'application/sql'] },
    validated: true,
    errors: ['NOT_FOUND'],
    async handle(call) {
      const { query, req } = call;
      const point = await pointAt(query.at, 'at', call);
      const { state, head } = point;
      const { position } = head;
      if (query.export === undefined) {
        const whole = await rendered.get(contentOf(state), 'history', () => snapshotBytes(state, release, { objects }));
        const etag = `"${await runYielding(snapshotHash(state, release))}"`;
        return representationAnswer({ ...whole, etag, type: JSON_TYPE, position }, req);
      }
      const name = ['Content-Disposition', attachmentOf(query.export, point)];
      const { type, file } = fileOf(query.export, point);
      const content = await rendered.get(contentOf(state), `history ${query.export}`, file);
      return representationAnswer({ ...content, type, position }, req, name);
    },
  });
}

/** Returns the file name, which contains the time of the schema and not that of the request. */
function attachmentOf(format: (typeof HISTORY_EXPORTS)[number], { head }: Point): string {
  const time = head.occurred_at === null ? new Date() : new Date(head.occurred_at);
  if (format !== 'sql') return attachment(format, time, head);
  return `attachment; filename="schema-${stampOf(time)}.sql"`;
}

function unreachable({ message, ...about }: Problem): Problem {
  const reason = `The schema of that point in time can no longer be applied: ${message}.`;
  return { ...about, code: 'INVALID_QUERY', path: 'to', message: reason };
}

function diffRoute({ history, config: { maxBody } }: HttpDeps, pointAt: PointAt): Route {
  return route({
    method: 'get',
    path: '/history/diff',
    operationId: 'diffMoments',
    summary:
      'Compute the changes between two points in time. If `from` is `now`, the response can be applied to go back',
    access: 'author or auditor',
    action: 'history',
    query: diffQuery,
    answers: { 200: diff },
    errors: ['NOT_FOUND', 'CONTENT_TOO_LARGE'],
    async handle(call) {
      const { query } = call;
      const from = await pointAt(query.from, 'from', call);
      const to = await pointAt(query.to, 'to', call);
      // Only a diff from the current schema can be applied.
      const isFromNow = from.head.position === call.head;
      const obstacles = isFromNow ? await history.obstacles(from, to) : [];
      if (obstacles.length > 0) throw new RejectedError(obstacles.map(unreachable));
      const answer = await largeJsonAnswer(await history.difference(from, to, isFromNow));
      await requireSendable(
        answer.body as Buffer,
        maxBody.schema,
        'Go back in steps: request a later point in time first.',
      );
      return { ...answer, position: from.head.position };
    },
  });
}

const PARTS = ['collections', 'fields', 'relations'] as const;
type Part = (typeof PARTS)[number];

const documentsQuery = z.strictObject({
  at: moment.default(NOW),
  parts: z
    .string()
    .transform((text, context): readonly Part[] => {
      const names = text.split(',');
      if (names.every((name) => PARTS.some((part) => part === name)))
        return PARTS.filter((part) => names.includes(part));
      context.addIssue(`must be a comma-separated list of ${PARTS.join(', ')}.`);
      return z.NEVER;
    })
    .pipe(z.array(z.enum(PARTS)).readonly())
    .default(PARTS)
    .describe('A comma-separated list of the documents to return: `collections`, `fields`, `relations`'),
  collections: nameList.optional(),
});

/**
 * Returns documents at a point in time. Names that did not exist then are ignored, because clients use the same names
 * for many points.
 */
function documentsRoute(pointAt: PointAt): Route {
  return route({
    method: 'get',
    path: '/history/schema',
    operationId: 'getPastDocuments',
    summary: 'Retrieve collections, fields and relations at a point in time',
    access: 'auditor',
    query: documentsQuery,
    answers: { 200: pastDocuments },
    errors: ['NOT_FOUND'],
    async handle(call) {
      const { at, parts, collections } = call.query;
      const { state, head } = await pointAt(at, 'at', call, collections);
      const { position, occurred_at } = head;
      const names = collections && new Set(collections);
      const texts = documentsTexts(state, { parts, names, meta: { position, occurred_at } });
      return { ...(await jsonTextsAnswer(texts)), position };
    },
  });
}

interface ShownSchema {
  parts: readonly Part[];
  /** The collections in the response. Undefined for all. */
  names: ReadonlySet<string> | undefined;
  meta: object;
}

function* documentsTexts(state: State, { parts, names, meta }: ShownSchema): Generator<string, void, void> {
  const nodes = names === undefined ? collectionsInOrder(state) : nodesOf(state, names);
  yield '{"data":{';
  for (const part of parts) {
    yield `${part === parts[0] ? '' : ','}"${part}":[`;
    yield* withCommas(textsOf(part, state, nodes));
    yield ']';
  }
  yield `},"meta":${JSON.stringify(meta)}}`;
}

const nodesOf = ({ collections }: State, names: ReadonlySet<string>): CollectionNode[] =>
  [...names].flatMap((name) => collections.get(name) ?? []);

function* textsOf(part: Part, state: State, nodes: readonly CollectionNode[]): Texts & Generator<string, void, void> {
  for (const node of nodes) {
    yield '';
    if (part === 'collections') yield JSON.stringify(collectionDocumentOf(state, node));
    else if (part === 'fields') {
      for (const field of yield* emptyTexts(fieldDocumentsOf(state, node))) yield JSON.stringify(field);
    } else {
      for (const relation of relationsInOrder(node)) {
        yield JSON.stringify(relationDocument(relation, keyTarget(state, node, relation.many_field)));
      }
    }
  }
}
