/**
 * The merge of every pair of a set of changes: its conflicts with all values, or the resulting change of ours.
 * Compared with `test/fixtures/merges.txt`.
 */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { mergeSnapshot } from '../../../src/schema/merge/merge-states.js';
import { describeLocation } from '../../../src/schema/merge/model.js';
import type { State } from '../../../src/schema/model/state.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { exampleSchema, shownProblem } from '../../support/answers.js';
import { attempt, follow } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';

type Step = { [N in OperationName]: [N, InputOf<N>] }[OperationName];

const FLOW = { concurrentIndexes: false };
const field = (name: string, type: string, schema: object = {}) => ({ field: name, type, interface: 'input', schema });

const CHANGES: Record<string, Step> = {
  'a note': ['update-collection', { collection: 'posts', body: { meta: { note: 'a' } } }],
  'another note': ['update-collection', { collection: 'posts', body: { meta: { note: 'b', hidden: true } } }],
  'a longer title': [
    'update-fields',
    { collection: 'posts', field: 'title', body: { schema: { max_length: 200 } }, ...FLOW },
  ],
  'a title as text': [
    'update-fields',
    { collection: 'posts', field: 'title', body: { type: 'text', schema: { max_length: null } }, ...FLOW },
  ],
  'no title': ['delete-field', { collection: 'posts', field: 'title' }],
  'a headline': ['rename-field', { collection: 'posts', field: 'title', body: { to: 'headline' } }],
  'a caption': ['rename-field', { collection: 'posts', field: 'title', body: { to: 'caption' } }],
  'a new headline': ['create-field', { collection: 'posts', body: field('headline', 'string'), ...FLOW }],
  'a headline of integers': ['create-field', { collection: 'posts', body: field('headline', 'integer'), ...FLOW }],
  articles: ['rename-collection', { collection: 'posts', body: { to: 'articles' } }],
  'no posts': ['delete-collection', { collection: 'posts' }],
  'new articles': ['create-collection', { body: { collection: 'articles', schema: {} }, ...FLOW }],
  'a folder of articles': ['create-collection', { body: { collection: 'articles', schema: null }, ...FLOW }],
  'no users': ['delete-collection', { collection: 'users' }],
  people: ['rename-collection', { collection: 'users', body: { to: 'people' } }],
  'a relation that cascades': [
    'update-relation',
    { collection: 'posts', field: 'author', body: { schema: { on_delete: 'CASCADE' } } },
  ],
  'no relation': ['delete-relation', { collection: 'posts', field: 'author' }],
  'another relation': [
    'create-relation',
    { body: { collection: 'users', field: 'favourite', related_collection: 'posts' } },
  ],
  'no group': ['delete-collection', { collection: 'group' }],
};

describe('merges of pairs of changes', () => {
  const base = exampleSchema();
  const options = { force: false, mode: 'mirror', release: '0.1.0' } as const;
  const after = (name: string): State => {
    const [operation, input] = CHANGES[name] as Step;
    const result = attempt(base, operation, input as never);
    if (!result.ok) throw new Error(`${name}: ${result.problems.map(shownProblem).join('; ')}`);
    return follow(base, result.value);
  };

  it('match the recorded results', async () => {
    const transcript = createTranscript('merges.txt');
    const states = new Map(Object.keys(CHANGES).map((name) => [name, after(name)]));
    const documents = new Map(
      [...states].map(([name, state]) => [
        name,
        JSON.parse(JSON.stringify(runToEnd(snapshotOf(state, '0.1.0')))) as object,
      ]),
    );
    for (const [one, ours] of states) {
      const lines = [`here: ${one}`];
      for (const [other, theirs] of documents) {
        lines.push(`  there: ${other}`, ...mergeOutcome(ours, theirs).map((line) => `    ${line}`));
      }
      transcript.add(lines.join('\n'));
    }
    await transcript.expectAsBefore();
  });

  function mergeOutcome(ours: State, theirs: object): string[] {
    const result = runToEnd(mergeSnapshot({ base, ours, theirs, resolutions: [] }, options));
    if (!result.ok) return result.problems.map(shownProblem);
    if (result.value.kind === 'conflicts') {
      return result.value.conflicts.map(({ kind, place, message, ...values }) => {
        const shown = Object.entries(values).map(([side, value]) => `${side} ${short(value)}`);
        return `conflict ${kind} at ${describeLocation(place)}: ${message} | ${shown.join(' | ')}`;
      });
    }
    const { diff, warnings } = result.value;
    const entries = Object.entries(diff).flatMap(([part, all]) =>
      (all as { collection: string; field?: string; diff: unknown[] }[]).map(
        (entry) => `${part} ${entry.collection}.${entry.field ?? ''} ${entry.diff.map(short).join(', ')}`,
      ),
    );
    return [...entries, ...warnings.map(({ code, message }) => `${code}: ${message}`)];
  }

  const short = (value: unknown): string => {
    const text = JSON.stringify(value);
    return text.length > 300 ? `${text.slice(0, 300)}…` : text;
  };
});
