/** POST /schema/merge: applies the changes of a snapshot since its base to the current schema. */
import { runYielding } from '../../kernel/event-loop.js';
import { isObject } from '../../kernel/json.js';
import { invalid, unknownMembers } from '../../kernel/problem.js';
import { mergeSnapshot, stateOfSnapshot } from '../../schema/merge/merge-snapshot.js';
import type { MergeConflict } from '../../schema/merge/model.js';
import { describePlace, readResolutions } from '../../schema/merge/resolutions.js';
import type { State } from '../../schema/model/state.js';
import { type Answer, jsonBytesAnswer, unwrap } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { createDiffAnswer, diffQuery } from '../diff-answer.js';
import { Refused, STATUS } from '../errors.js';
import { jsonBytes } from '../answer/json-text.js';
import { inManagedSchema } from '../managed-schema.js';
import { createMomentState } from '../history/moment-state.js';
import { route, type Call, type Route } from '../route.js';

const MEMBERS = new Set(['base', 'ours', 'theirs', 'resolve']);

type Asked = Call<{ force: boolean; mode: 'mirror' | 'merge' }>;

/** For authors. Changes nothing: returns a diff or the conflicts. */
export function mergeRoutes(deps: HttpDeps): Route[] {
  const { store, config } = deps;
  const { release, schema } = config;
  const answer = createDiffAnswer(deps);
  const momentOf = createMomentState(deps);
  const baseOf = async (given: unknown, ours: State, call: Asked): Promise<State> => {
    if (!isObject(given)) return momentOf(given, 'base', call);
    if (!call.query.force) await inManagedSchema(given, schema);
    return unwrap(await runYielding(stateOfSnapshot(given, ours, { ...call.query, release })));
  };
  const merge = route({
    method: 'post',
    path: '/schema/merge',
    access: 'author',
    query: diffQuery,
    body: 'document',
    needsPrimary: false,
    async handle(call) {
      const { body, query, head } = call;
      const { theirs, base: given, ours: named, resolve } = membersOf(body);
      const resolutions = unwrap(await runYielding(readResolutions(resolve)));
      const ours = named === undefined ? await store.atHead(head) : await momentOf(named, 'ours', call);
      const base = await baseOf(given, ours, call);
      if (!query.force) await inManagedSchema(theirs, schema);
      const asked = { base, ours, theirs, resolutions };
      const outcome = unwrap(await runYielding(mergeSnapshot(asked, { ...query, release })));
      return outcome.kind === 'conflicts' ? conflictsAnswer(outcome.conflicts) : answer(ours, outcome);
    },
  });
  return [merge];
}

function membersOf(body: unknown): { base: unknown; ours?: unknown; theirs: unknown; resolve?: unknown } {
  if (!isObject(body)) throw new Refused([invalid([], 'the body is an object with base and theirs')]);
  const problems = unknownMembers(body, MEMBERS, []);
  for (const member of ['base', 'theirs']) {
    if (body[member] === undefined) problems.push(invalid([member], `${member} is required`));
  }
  if (problems.length > 0) throw new Refused(problems);
  return body as { base: unknown; theirs: unknown };
}

/** 409 with every conflict. A list of thousands is written in steps. */
async function conflictsAnswer(conflicts: readonly MergeConflict[]): Promise<Answer> {
  const errors = conflicts.map(({ message, ...conflict }) => ({
    message: `${describePlace(conflict.place)}: ${message}`,
    extensions: { code: 'MERGE_CONFLICT', ...conflict },
  }));
  return jsonBytesAnswer(STATUS.MERGE_CONFLICT, await runYielding(jsonBytes({ errors })));
}
