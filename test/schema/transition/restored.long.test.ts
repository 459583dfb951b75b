/**
 * The events of restoring each collection and field of a library after each single later change, and the omitted parts
 * with reasons. Compared with `test/fixtures/restored.txt`.
 */
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { Problem } from '../../../src/kernel/problem.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { type RestoreCollection, planRestoration } from '../../../src/schema/transition/restore-collection.js';
import { type RestoreField, fieldRestoration } from '../../../src/schema/transition/restore-field.js';
import { shownProblem } from '../../support/answers.js';
import { attempt, follow } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';
import { LIBRARY, without } from './trashed.js';

const nodeOf = (name: string): CollectionNode => LIBRARY.collections.get(name) as CollectionNode;

/** Keyed by name: other changes of the library. */
function* listChanges(): Generator<[what: string, apply: (state: State) => State | null]> {
  yield ['nothing else', (state) => state];
  const tried =
    (name: OperationName, input: object) =>
    (state: State): State | null => {
      const result = attempt(state, name, input as never);
      return result.ok ? follow(state, result.value) : null;
    };
  for (const [name, node] of LIBRARY.collections) {
    yield [`no ${name}`, tried('delete-collection', { collection: name })];
    yield [`${name} is things`, tried('rename-collection', { collection: name, body: { to: 'things' } })];
    for (const field of node.fields.keys()) {
      if (field === 'id') continue;
      yield [`no ${name}.${field}`, tried('delete-field', { collection: name, field })];
      yield [`${name}.${field} is other`, tried('rename-field', { collection: name, field, body: { to: 'other' } })];
    }
  }
}

describe('restoring after later changes', () => {
  it('matches the recorded result', async () => {
    const transcript = createTranscript('restored.txt');
    for (const [name, { fields }] of LIBRARY.collections) {
      if (nodeOf(name).collection.schema === null) continue;
      transcript.add(
        [`${name} comes back`, ...sections(without(LIBRARY, name), (now) => collection(now, name))].join('\n'),
      );
      for (const field of fields.keys()) {
        // Nothing else could block a collection's name.
        if (field === 'id' || field === 'kind') continue;
        const now = without(LIBRARY, name, field);
        transcript.add(
          [`${name}.${field} comes back`, ...sections(now, (each) => fieldOf(each, name, field))].join('\n'),
        );
      }
    }
    await transcript.expectAsBefore();
  });

  /** Results equal to those without a later change are omitted. */
  function sections(now: State, restored: (state: State) => string[]): string[] {
    const usual = restored(now).join('\n    ');
    return [...listChanges()].flatMap(([what, apply]) => {
      const state = apply(now);
      const text = state === null ? undefined : restored(state).join('\n    ');
      return text === undefined || (text === usual && what !== 'nothing else') ? [] : [`  ${what}\n    ${text}`];
    });
  }
});

function collection(now: State, name: string): string[] {
  const { identities } = nodeOf(name);
  const command: RestoreCollection = { position: 9, identity: identities.collection, name, past: LIBRARY, without: [] };
  const result = runToEnd(planRestoration(now, command));
  if (!result.ok) return describeProblems(result.problems);
  const left = result.value.left.map(
    ({ kind, reason, ...place }) => `${kind} ${Object.values(place).join('.')}: ${reason}`,
  );
  return messagesOf(attempt(now, 'restore-collection', command), left);
}

function fieldOf(now: State, name: string, field: string): string[] {
  const node = nodeOf(name);
  const identity = node.identities.fields.get(field) ?? '';
  const command: RestoreField = {
    position: 9,
    identity,
    name: field,
    collection: name,
    past: LIBRARY,
    node,
    without: [],
  };
  const result = runToEnd(fieldRestoration(now, command));
  return result.ok
    ? messagesOf(attempt(now, 'restore-field', command), result.value.left)
    : describeProblems(result.problems);
}

const describeProblems = (problems: readonly Problem[]): string[] =>
  problems.map((problem) => `! ${shownProblem(problem)}`);

function messagesOf(result: ReturnType<typeof attempt>, left: readonly string[]): string[] {
  const events = result.ok ? result.value.map(describeEvent) : describeProblems(result.problems);
  return [...events, ...left.map((each) => `- ${each}`)];
}

/** Created objects are named; changes are shown. */
function describeEvent({ type, collection: name, field, data }: SchemaEvent): string {
  const what = 'patch' in data ? ` ${JSON.stringify(data.patch)}` : '';
  const restored = 'restored' in data ? ` ${JSON.stringify(data.restored)}` : '';
  return `+ ${type} ${name}${field === null ? '' : `.${field}`}${what}${restored}`;
}
