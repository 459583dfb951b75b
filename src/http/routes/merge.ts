/** POST /schema/merge: applies the changes of a snapshot since its base to the current schema. */
import { z } from 'zod';
import { runYielding } from '../../kernel/event-loop.js';
import { isObject } from '../../kernel/json.js';
import { invalidProblem, unknownMembers } from '../../kernel/problem.js';
import { mergeSnapshot, stateOfSnapshot } from '../../schema/merge/merge-states.js';
import { type MergeConflict, describeLocation, readResolutions } from '../../schema/merge/model.js';
import { OBJECT_KINDS } from '../../schema/model/objects.js';
import type { State } from '../../schema/model/state.js';
import { type Answer, jsonBytesAnswer, unwrap, jsonBytes } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { createDiffAnswer, diffQuery, readEquality } from '../diff-answer.js';
import { RejectedError, STATUS, inManagedSchemas } from '../errors.js';
import { createMomentState } from '../history.js';
import { wrapped } from '../openapi/answers/envelopes.js';
import { diff } from '../openapi/answers/schema.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import { visibleTo } from '../request/scope.js';
import { snapshot } from '../../schema/normal-form/shapes.js';
import { type Call, documentBody, route, type Route, withoutParsing } from '../route.js';

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
  .describe('The member. Absent: the whole object');

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

const mergeRequest = z
  .strictObject({
    base: z.union([momentOrPosition, snapshot]).describe('The base of theirs'),
    ours: momentOrPosition.optional().describe('Default: the current schema'),
    theirs: snapshot,
    resolve: z
      .array(z.strictObject({ place: mergePlace, take: z.enum(['ours', 'theirs']) }))
      .optional()
      .describe('Resolutions of conflicts of an earlier response'),
  })
  .meta({ id: 'Merge' });

const MEMBERS = new Set(Object.keys(mergeRequest.shape));

type MergeCall = Call<{ force: boolean; mode: 'mirror' | 'merge' }>;

/** This route is for authors. It changes nothing, and returns a diff or the conflicts. */
export function mergeRoutes(deps: HttpDeps): Route[] {
  const { store, config } = deps;
  const { release, schemas } = config;
  const answer = createDiffAnswer(deps);
  const momentOf = createMomentState(deps);
  const baseOf = async (document: unknown, ours: State, call: MergeCall): Promise<State> => {
    if (!isObject(document)) return momentOf(document, 'base', call);
    await inManagedSchemas(document, schemas, call.query);
    const options = { ...call.query, release, ...(await readEquality(deps, document)) };
    return unwrap(await runYielding(stateOfSnapshot(document, ours, options)));
  };
  const merge = route({
    method: 'post',
    path: '/schema/merge',
    operationId: 'mergeSnapshot',
    summary: 'Compute the changes of a snapshot since its base, as a diff of the current schema',
    description:
      'A three-way merge by member: `base` is the base of the snapshot `theirs` (a position, a time, or a snapshot), `ours` is the current schema or one at another point in time. ' +
      'The response can be sent to apply. If both sides changed a member differently: 409 with every conflict, its place and the three values. `resolve` chooses a side for a place.',
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
      const resolutions = unwrap(await runYielding(readResolutions(resolve)));
      const now = await store.atHead(head);
      const whole = named === undefined ? now : await momentOf(named, 'ours', call);
      const ours = visibleTo(caller, whole, now);
      const base = visibleTo(caller, await baseOf(baseDocument, ours, call), now);
      await inManagedSchemas(theirs, schemas, query);
      const input = { base, ours, theirs, resolutions };
      const options = { ...query, release, ...(await readEquality(deps, theirs, base, ours)) };
      const outcome = unwrap(await runYielding(mergeSnapshot(input, options)));
      if (outcome.kind === 'conflicts') return conflictsAnswer(outcome.conflicts);
      // `apply` compares the hash with that of the whole schema.
      return answer(ours, { ...outcome, hash: await runYielding(snapshotHash(whole, release)) });
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

/** Returns 409 with every conflict. A list of thousands of conflicts is written in steps. */
async function conflictsAnswer(conflicts: readonly MergeConflict[]): Promise<Answer> {
  const errors = conflicts.map(({ message, ...conflict }) => ({
    message: `${describeLocation(conflict.place)}: ${message}`,
    extensions: { code: 'MERGE_CONFLICT', ...conflict },
  }));
  return jsonBytesAnswer(STATUS.MERGE_CONFLICT, await runYielding(jsonBytes({ errors })));
}
