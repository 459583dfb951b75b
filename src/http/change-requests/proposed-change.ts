/** Determines the proposed diff: the one that was sent, or the one computed from a snapshot. */
import { runYielding } from '../../kernel/event-loop.js';
import { invalid } from '../../kernel/problem.js';
import type { Asked } from '../../pipeline/change-requests/proposals/index.js';
import { applying } from '../../pipeline/prepare/apply-restoring.js';
import { type Comparison, compareSnapshot } from '../../schema/compare/compare-snapshot.js';
import { isEmptyDiff } from '../../schema/diff/diff.js';
import { originsIn } from '../../schema/diff/origins.js';
import { mergeSnapshot } from '../../schema/merge/merge-snapshot.js';
import { describePlace } from '../../schema/merge/resolutions.js';
import { unwrap } from '../answer/answer.js';
import type { ChangeUpdate, NewChange } from './bodies.js';
import { commandOf } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { type EdgeProblem, Refused } from '../errors.js';
import { below, relocated } from './locate-part.js';
import { inManagedSchema } from '../managed-schema.js';
import { createMomentState } from '../history/moment-state.js';
import type { Call } from '../route.js';

type Body = Pick<NewChange | ChangeUpdate, 'diff' | 'snapshot' | 'base' | 'mode' | 'force'>;

export type ProposedChange = Pick<Asked, 'name' | 'input' | 'command'>;

/**
 * Undefined if the body proposes neither.
 * @throws Refused at its member
 */
export function createProposedChange(deps: HttpDeps) {
  const { store, history, config } = deps;
  const { release, schema } = config;
  const momentOf = createMomentState(deps);

  const compared = async (body: Body, call: Call<unknown>): Promise<Comparison> => {
    const { snapshot, base, mode = 'mirror', force = false } = body;
    const ours = await store.atHead(call.head);
    if (!force) await inManagedSchema(snapshot, schema);
    const how = { mode, force, release };
    if (base === undefined) return unwrap(await runYielding(compareSnapshot(ours, snapshot, how)));
    const asked = { base: await momentOf(base, 'base', call), ours, theirs: snapshot, resolutions: [] };
    const outcome = await relocated(runYielding(mergeSnapshot(asked, how)).then(unwrap), withoutTheirs);
    if (outcome.kind === 'merged') return outcome;
    const problems = outcome.conflicts.slice(0, MOST_CONFLICTS).map(({ message, ...details }) => ({
      code: 'MERGE_CONFLICT' as const,
      message: `${describePlace(details.place)}: ${message}`,
      details,
    }));
    throw new Refused(problems);
  };

  return async (body: Body, call: Call<unknown>): Promise<ProposedChange | undefined> => {
    const diff = await diffOf(body, () => below('snapshot', compared(body, call)));
    if (diff === undefined) return undefined;
    const input = { release, body: diff };
    const read = await below(
      'diff',
      inManagedSchema(diff, schema).then(() => commandOf('apply-diff', input)),
    );
    return {
      name: 'apply-diff',
      input,
      command: applying(read, await history.inTrash([...originsIn(read.diff).values()])),
    };
  };
}

/** Here the body is the snapshot itself, not an object that has it as `theirs`. */
const withoutTheirs = ({ path, ...problem }: EdgeProblem): EdgeProblem =>
  path === undefined ? problem : { ...problem, path: path.replace(/^theirs\.?/, '') };

/** /schema/merge lists all of them. */
const MOST_CONFLICTS = 100;

async function diffOf(body: Body, compared: () => Promise<Comparison>): Promise<unknown> {
  if (body.snapshot === undefined) return withoutSnapshot(body);
  if (body.diff !== undefined) throw new Refused([invalid(['snapshot'], 'propose either a diff or a snapshot')]);
  const { hash, diff } = await compared();
  if (isEmptyDiff(diff)) throw new Refused([invalid(['snapshot'], 'this changes nothing: the schema is so already')]);
  return { hash, diff };
}

function withoutSnapshot(body: Body): unknown {
  for (const member of ['base', 'mode', 'force'] as const)
    if (body[member] !== undefined) throw new Refused([invalid([member], `${member} is about a snapshot`)]);
  return body.diff;
}
