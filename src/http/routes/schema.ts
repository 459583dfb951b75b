/** Routes of /schema for snapshot, diff and apply. */
import { z } from 'zod';
import { runYielding } from '../../kernel/event-loop.js';
import { isObject } from '../../kernel/json.js';
import { invalidProblem, unknownMembers } from '../../kernel/problem.js';
import { NOW } from '../../reads/history/time-travel.js';
import { type Rendered, createJoiner } from '../../reads/rendered-cache.js';
import { compareSnapshot } from '../../schema/compare/compare-snapshot.js';
import { readOrigins } from '../../schema/diff/origins.js';
import { OBJECT_KINDS } from '../../schema/model/objects.js';
import { type State, contentOf } from '../../schema/model/state.js';
import * as taken from '../../schema/normal-form/shapes.js';
import { snapshot } from '../../schema/normal-form/shapes.js';
import { LANGUAGES, type Language, programTypes } from '../../schema/program-types.js';
import { snapshotHash, snapshotOf } from '../../schema/snapshot/snapshot.js';
import { JSON_TYPE, noContent, unwrap } from '../answer/answer.js';
import { attachment, EXPORTS, EXPORT_TYPES, exportFile, FORMATS } from '../answer/export.js';
import { representationAnswer } from '../answer/representation.js';
import { takeAcknowledgements, runChange, commandOf, schemaChangeQuery } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { createDiffAnswer, createMergeAnswer, createSnapshotBase, diffQuery, readEquality } from '../diff-answer.js';
import { snapshotBytes } from '../documents/snapshot-pieces.js';
import { invalidQuery, inManagedSchemas, RejectedError } from '../errors.js';
import { createPointAt, createMomentState } from '../history.js';
import { acknowledge, wrapped } from '../openapi/answers/envelopes.js';
import * as shown from '../openapi/answers/schema.js';
import { diff } from '../openapi/answers/schema.js';
import { moment, flag, nameList, purge } from '../request/query.js';
import { collectionScopeOf, requireUnlimited, visibleTo } from '../request/scope.js';
import { type Call, documentBody, route, type Route, withoutParsing } from '../route.js';

const snapshotQuery = z.strictObject({
  export: z
    .enum(EXPORTS, { error: `must be one of ${EXPORTS.join(', ')}.` })
    .optional()
    .describe('Sends it as a file'),
  includeCollections: nameList.optional(),
  excludeCollections: nameList.optional(),
});
const applyQuery = z.strictObject({
  ...schemaChangeQuery,
  purge,
  lossless: flag.describe('Rejects the change with 409 if it deletes rows or values of a table that is not empty'),
  prove: flag.describe(
    'Executes the change, reports effects that the plan does not contain as `proof`, and rolls everything back',
  ),
});

type SnapshotQuery = z.output<typeof snapshotQuery>;

/** These routes are for authors. Applying without `explain` is for admins. */
export function schemaRoutes(deps: HttpDeps): Route[] {
  return [snapshotRoute(deps), diffRoute(deps), applyRoute(deps)];
}

function snapshotRoute({ store, rendered, config: { release, objects } }: HttpDeps): Route {
  const join = createJoiner();
  return route({
    method: 'get',
    path: '/schema/snapshot',
    operationId: 'getSnapshot',
    summary: 'Retrieve the schema as a snapshot',
    access: 'author',
    collections: 'filtered',
    query: snapshotQuery,
    answers: { 200: [shown.snapshot, ...EXPORT_TYPES] },
    validated: true,
    async handle({ query, head, req, caller }) {
      await store.atHead(head);
      const { state: now, head: from } = store.point();
      const state = visibleTo(caller, now);
      const include = filterOf(state, query);
      const filter = JSON.stringify([query.includeCollections, query.excludeCollections]);
      const send = (rendered: Rendered, type: string, headers: string[] = []) =>
        representationAnswer({ ...rendered, type, position: state.position }, req, headers);
      if (query.export !== undefined) {
        const { type, write } = FORMATS[query.export];
        const file = () => exportFile(snapshotOf(state, release, include, objects), write);
        const content = await rendered.get(contentOf(state), `snapshot ${filter} ${query.export}`, file);
        return send(content, type, ['Content-Disposition', attachment(query.export, new Date(), from)]);
      }
      const whole = query.includeCollections === undefined && query.excludeCollections === undefined;
      // The pieces of a joined response follow one sequence of states, so only a caller who may read the whole schema
      // gets them.
      const isJoined = whole && collectionScopeOf(caller) === undefined;
      const snapshot = await rendered.get(contentOf(state), `snapshot ${filter}`, () =>
        snapshotBytes(state, release, { ...(isJoined ? { join } : { include }), objects }),
      );
      // The tag of the whole schema is its hash, which If-Match and diffs use as well.
      const hash = whole && (await runYielding(snapshotHash(state, release)));
      return send(whole ? { ...snapshot, etag: `"${hash}"` } : snapshot, JSON_TYPE);
    },
  });
}

/**
 * Returns the filter of the export. Unknown names are rejected, because a misspelled name would silently export too
 * little or too much.
 */
function filterOf(state: State, query: SnapshotQuery): (collection: string) => boolean {
  for (const parameter of ['includeCollections', 'excludeCollections'] as const) {
    const unknown = query[parameter]?.find((name) => !state.collections.has(name));
    if (unknown !== undefined) throw invalidQuery(parameter, `Collection ${JSON.stringify(unknown)} does not exist.`);
  }
  const included = query.includeCollections && new Set(query.includeCollections);
  const excluded = new Set(query.excludeCollections);
  return (name) => (included?.has(name) ?? true) && !excluded.has(name);
}

function diffRoute(deps: HttpDeps): Route {
  const { store, config } = deps;
  const { release, schemas } = config;
  const answer = createDiffAnswer(deps);
  return route({
    method: 'post',
    path: '/schema/diff',
    operationId: 'diffSnapshot',
    summary: 'Compute the diff from the schema to a snapshot',
    description:
      'You can send the response to `/schema/apply`. With `force`, snapshots from other services are accepted too.',
    access: 'author',
    action: 'read',
    collections: 'filtered',
    query: diffQuery,
    body: withoutParsing(
      documentBody(wrapped(taken.snapshot), {
        example: { version: 1, vendor: 'postgres', collections: [], fields: [], relations: [] },
      }),
    ),
    answers: { 200: shown.diff },
    errors: ['IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
    needsPrimary: false,
    async handle({ query, head, body, caller }) {
      const whole = await store.atHead(head);
      const state = visibleTo(caller, whole);
      await inManagedSchemas(body, schemas, query);
      const options = { ...query, release, ...(await readEquality(deps, body, state)) };
      const comparison = unwrap(await runYielding(compareSnapshot(state, body, options)));
      // `apply` compares the hash with that of the whole schema.
      return answer(state, { ...comparison, hash: await runYielding(snapshotHash(whole, release)) });
    },
  });
}

const DIFF = {
  hash: '0'.repeat(64),
  diff: {
    collections: [{ collection: 'drafts', diff: [{ kind: 'N', rhs: { collection: 'drafts', schema: {} } }] }],
  },
};

function applyRoute(deps: HttpDeps): Route {
  const {
    history,
    config: { release, schemas, objects },
  } = deps;
  return route({
    method: 'post',
    path: '/schema/apply',
    operationId: 'applyDiff',
    summary: 'Apply a diff, as a whole or not at all',
    // Authors may see the plan of their own proposal.
    access: 'author',
    collections: 'judged',
    stricter: { access: 'admin', where: ({ explain }) => !explain, words: 'without `explain`' },
    query: applyQuery,
    body: withoutParsing(documentBody(wrapped(taken.diff.extend({ acknowledge })), { example: DIFF })),
    answers: { 204: null },
    changes: true,
    errors: ['NOT_FOUND'],
    async handle(submitted) {
      const call = takeAcknowledgements(submitted);
      requireProvable(call);
      if (call.query.lossless && call.query.online)
        throw invalidQuery('lossless', 'lossless cannot be combined with online.');
      const body = await inManagedSchemas(call.body, schemas);
      const input = { release, body, ...(objects && { objects: true }) };
      const read = await commandOf('apply-diff', input);
      const again = readOrigins(read.diff);
      const command = { ...read, kept: await history.inTrash([...again.values()]) };
      return runChange(deps, call, {
        name: 'apply-diff',
        command,
        render: ({ position }) => noContent(position),
        online: call.query.online ? input : undefined,
        beside: () => ({ again }),
      });
    },
  });
}

/** A proof executes the change as a whole, and shows all of the database. */
function requireProvable({ query, caller }: Pick<Call<z.output<typeof applyQuery>>, 'query' | 'caller'>): void {
  if (!query.prove) return;
  requireUnlimited(caller, 'Proofs');
  const other = (['explain', 'online'] as const).find((each) => query[each]);
  if (other !== undefined) throw invalidQuery('prove', `prove cannot be combined with ${other}.`);
}

/* GET /schema/types: the schema as type definitions of programming languages. */

const typesQuery = z.strictObject({
  lang: z
    .enum(LANGUAGES, { error: `must be one of ${LANGUAGES.join(', ')}.` })
    .default('ts')
    .describe('`ts`: the schema type of `@directus/sdk`. `zod`: Zod schemas. `json-schema`: JSON Schema 2020-12'),
  at: moment.default(NOW),
});

const MEDIA_TYPES: Readonly<Record<Language, string>> = {
  ts: 'text/plain; charset=utf-8',
  zod: 'text/plain; charset=utf-8',
  'json-schema': 'application/schema+json; charset=utf-8',
};

/** This route is for admins. Types are rendered once per language and state. */
export function typesRoutes(deps: HttpDeps): Route[] {
  const { rendered, config } = deps;
  const pointAt = createPointAt(deps);
  const types = route({
    method: 'get',
    path: '/schema/types',
    operationId: 'getTypes',
    summary: 'Generate type definitions for the schema',
    description: 'The first line contains the hash of the schema. The same schema always produces the same bytes.',
    access: 'admin',
    action: 'read',
    collections: 'filtered',
    query: typesQuery,
    answers: { 200: ['text/plain', 'application/schema+json'] },
    validated: true,
    errors: ['NOT_FOUND'],
    async handle(call) {
      const { lang, at } = call.query;
      const { state: whole, head } = await pointAt(at, 'at', call);
      const state = visibleTo(call.caller, whole);
      const file = () => programTypes(state, lang, config.release);
      const content = await rendered.get(state.collections, `types ${lang}`, file);
      return representationAnswer({ ...content, type: MEDIA_TYPES[lang], position: head.position }, call.req);
    },
  });
  return [types];
}

/* POST /schema/merge: applies the changes of a snapshot since its base to the current schema. */

const text = z.string();

const momentOrPosition = z.union([
  z.int().min(0),
  text.describe(
    'A position (`42`, or `42-3f9a…` with the hash of its event), a time with its time zone, a day, or `now`',
  ),
]);

const path = z
  .array(z.union([text, z.int()]))
  .optional()
  .describe('The member. Absent for the whole object');

/** A location in the form that conflicts contain. */
const mergePlace = z
  .union([
    z.strictObject({
      part: z.enum(['collections', 'fields', 'relations']),
      collection: text,
      field: text.optional(),
      path,
    }),
    z.strictObject({ part: z.literal('objects'), kind: z.enum(OBJECT_KINDS), id: text, path }),
  ])
  .meta({ id: 'MergePlace' });

export const mergeRequest = z
  .strictObject({
    base: z.union([momentOrPosition, snapshot]).describe('The base of theirs'),
    ours: momentOrPosition.optional().describe('Default: the current schema'),
    theirs: snapshot,
    resolve: z
      .array(z.strictObject({ place: mergePlace, take: z.enum(['ours', 'theirs']) }))
      .optional()
      .describe('Resolutions of the conflicts in an earlier response'),
  })
  .meta({ id: 'Merge' });

const MEMBERS = new Set(Object.keys(mergeRequest.shape));

/** This route is for authors. It changes nothing, and returns a diff or the conflicts. */
export function mergeRoutes(deps: HttpDeps): Route[] {
  const { store } = deps;
  const answer = createMergeAnswer(deps);
  const snapshotBase = createSnapshotBase(deps);
  const momentOf = createMomentState(deps);
  const merge = route({
    method: 'post',
    path: '/schema/merge',
    operationId: 'mergeSnapshot',
    summary: 'Compute the changes in a snapshot since its base, as a diff from the current schema',
    description:
      'A three-way merge by member: `base` is the base of the snapshot `theirs` (a position, a time, or a snapshot), `ours` is the current schema or one at another point in time. ' +
      'You can send the response to `/schema/apply`. If both sides changed a member differently, the response is 409 with every conflict, its place and the three values. `resolve` chooses a side for a place.',
    access: 'author',
    action: 'read',
    collections: 'filtered',
    query: diffQuery,
    body: withoutParsing(
      documentBody(wrapped(mergeRequest), {
        example: { base: 0, theirs: { version: 1, vendor: 'postgres', collections: [], fields: [], relations: [] } },
      }),
    ),
    answers: { 200: diff },
    errors: ['NOT_FOUND', 'MERGE_CONFLICT', 'IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
    needsPrimary: false,
    async handle(call) {
      const { body, query, head, caller } = call;
      const { theirs, base: baseDocument, ours: named, resolve } = membersOf(body);
      const now = await store.atHead(head);
      const whole = named === undefined ? now : await momentOf(named, 'ours', call);
      const ours = visibleTo(caller, whole, now);
      const base = isObject(baseDocument)
        ? await snapshotBase(baseDocument, ours, query)
        : await momentOf(baseDocument, 'base', call);
      return answer({ base: visibleTo(caller, base, now), ours, whole, theirs, resolve }, query);
    },
  });
  return [merge];
}

function membersOf(body: unknown): { base: unknown; ours?: unknown; theirs: unknown; resolve?: unknown } {
  if (!isObject(body)) throw new RejectedError([invalidProblem([], 'the body must be an object with base and theirs')]);
  const problems = unknownMembers(body, MEMBERS, []);
  for (const member of ['base', 'theirs']) {
    if (body[member] === undefined) problems.push(invalidProblem([member], `${member} is required`));
  }
  if (problems.length > 0) throw new RejectedError(problems);
  return body as { base: unknown; theirs: unknown };
}
