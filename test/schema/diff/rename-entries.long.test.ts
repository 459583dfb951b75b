import { expect } from 'chai';
import { operations } from '../../../src/schema/operations/index.js';
import type { Operation } from '../../../src/schema/operations/operation.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { type SchemaDiff, diffStates } from '../../../src/schema/diff/diff.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { accept, attempt, follow, followStrictly } from '../../support/given.js';
import { createRandomCommands } from '../../support/random-commands.js';

const RELEASE = '1.0.0';

const hashOf = (state: State) => runToEnd(snapshotHash(state, RELEASE));
const renderState = (state: State) => {
  const snapshot = runToEnd(snapshotOf(state, RELEASE));
  return JSON.stringify({ ...snapshot, relations: snapshot.relations.map(relationBody) });
};
const namesOf = (...states: State[]) => new Set(states.flatMap(({ collections }) => [...collections.keys()]));
const diffBetween = (from: State, to: State): SchemaDiff => runToEnd(diffStates(from, to, namesOf(from, to)));

const table = (collection: string, ...fields: string[]) => ({
  body: {
    collection,
    schema: {},
    fields: fields.map((field) => ({ field, type: 'string', meta: { interface: 'input' } })),
  },
  concurrentIndexes: false,
});

const renamed = (state: State, collection: string, to: string) =>
  accept(state, 'rename-collection', { collection, body: { to } });
const renamedField = (state: State, collection: string, field: string, to: string) =>
  accept(state, 'rename-field', { collection, field, body: { to } });

const apply = (state: State, diff: SchemaDiff, hash = hashOf(state)) =>
  attempt(state, 'apply-diff', { release: RELEASE, body: { hash, diff } });

/** Both as events and as an applied diff. */
function expectWay(from: State, to: State): void {
  const events = runToEnd(transition(from, to, namesOf(from, to)));
  expect(renderState(followStrictly(from, events))).to.equal(renderState(to));
  const diff = JSON.parse(JSON.stringify(diffBetween(from, to))) as SchemaDiff;
  const result = apply(from, diff);
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)} of ${JSON.stringify(diff)}`);
  expect(renderState(followStrictly(from, result.value)), JSON.stringify(diff)).to.equal(renderState(to));
}

describe('renames in diffs', () => {
  const start = [table('articles', 'title', 'body'), table('authors', 'name')].reduce(
    (state, input) => accept(state, 'create-collection', input),
    initialState(),
  );
  const related = accept(start, 'create-field', {
    collection: 'articles',
    body: { field: 'author', type: 'integer', meta: { interface: 'input' } },
    concurrentIndexes: false,
  });
  const schema = accept(related, 'create-relation', {
    body: { many_collection: 'articles', many_field: 'author', one_collection: 'authors', schema: {} },
  });

  it('are one entry each, without entries for their effects', () => {
    const after = renamedField(
      renamed(renamed(schema, 'articles', 'posts'), 'authors', 'people'),
      'posts',
      'title',
      'headline',
    );
    expect(diffBetween(schema, after)).to.deep.equal({
      collections: [
        { collection: 'people', diff: [{ kind: 'E', path: ['collection'], lhs: 'authors', rhs: 'people' }] },
        { collection: 'posts', diff: [{ kind: 'E', path: ['collection'], lhs: 'articles', rhs: 'posts' }] },
      ],
      fields: [
        {
          collection: 'posts',
          field: 'headline',
          diff: [{ kind: 'E', path: ['field'], lhs: 'title', rhs: 'headline' }],
        },
      ],
      relations: [],
    });
    expectWay(schema, after);
    expectWay(after, schema);
  });

  it('support swaps and cycles', () => {
    let swapped = renamed(renamed(renamed(schema, 'articles', 'x'), 'authors', 'articles'), 'x', 'authors');
    swapped = renamedField(swapped, 'authors', 'title', 'x');
    swapped = renamedField(swapped, 'authors', 'body', 'title');
    swapped = renamedField(swapped, 'authors', 'author', 'body');
    swapped = renamedField(swapped, 'authors', 'x', 'author');
    const diff = diffBetween(swapped, schema);
    expect(diff.collections.map(({ collection }) => collection)).to.deep.equal(['articles', 'authors']);
    expect(diff.fields).to.have.length(3);
    expect(diff.relations).to.deep.equal([]);
    expectWay(swapped, schema);
    expectWay(schema, swapped);
  });

  it('support chains with one rename each', () => {
    let after = renamed(renamed(schema, 'authors', 'people'), 'articles', 'authors');
    after = renamedField(renamedField(after, 'authors', 'title', 'headline'), 'authors', 'body', 'title');
    const events = runToEnd(transition(schema, after, namesOf(schema, after)));
    expect(
      events.map(({ collection, field, data }) => [collection, field, (data as { to?: string }).to]),
    ).to.deep.equal([
      ['authors', null, 'people'],
      ['articles', null, 'authors'],
      ['authors', 'title', 'headline'],
      ['authors', 'body', 'title'],
    ]);
    expectWay(after, schema);
  });

  it('support taking the name of a removed object', () => {
    let after = accept(schema, 'delete-collection', { collection: 'authors' });
    after = renamed(after, 'articles', 'authors');
    after = accept(after, 'delete-field', { collection: 'authors', field: 'body' });
    after = renamedField(after, 'authors', 'title', 'body');
    after = accept(after, 'create-collection', table('articles', 'other'));
    after = accept(after, 'create-field', {
      collection: 'authors',
      body: { field: 'title', type: 'text', meta: { interface: 'input' } },
      concurrentIndexes: false,
    });
    const diff = diffBetween(schema, after);
    expect(diff.collections.map(({ collection, diff: [first] }) => [collection, first?.kind])).to.deep.equal([
      ['authors', 'D'],
      ['articles', 'N'],
      ['authors', 'E'],
    ]);
    expectWay(schema, after);
    expectWay(after, schema);
  });

  it('combine with other changes to the same object', () => {
    let after = renamed(schema, 'articles', 'posts');
    after = accept(after, 'update-collection', { collection: 'posts', body: { meta: { note: 'n' } } });
    after = renamedField(after, 'posts', 'title', 'headline');
    after = accept(after, 'update-fields', {
      collection: 'posts',
      field: 'headline',
      body: { type: 'text', schema: { data_type: 'text' } },
      concurrentIndexes: false,
    });
    after = accept(after, 'delete-field', { collection: 'posts', field: 'body' });
    expectWay(schema, after);
    expectWay(after, schema);
  });

  it('describe any history between two points in time', () => {
    for (const seed of [11, 12, 13, 14]) {
      const next = createRandomCommands(seed);
      const states = [initialState()];
      while (states.length < 120) {
        const state = states.at(-1) as State;
        const { name, command } = next(state);
        const { decide } = operations[name] as unknown as Operation<string, unknown, unknown>;
        const decided = runToEnd(stepsTo(decide(state, command)));
        if (decided.ok && decided.value.length > 0) states.push(follow(state, decided.value));
      }
      for (const [a, b] of [
        [119, 60],
        [119, 20],
        [60, 100],
        [90, 30],
        [100, 99],
        [70, 69],
        [119, 1],
      ] as const) {
        expectWay(states[a] as State, states[b] as State);
      }
    }
  }).timeout(120_000);

  describe('are rejected', () => {
    const rename = (lhs: unknown, rhs: unknown) => ({ kind: 'E', path: ['collection'], lhs, rhs });
    const cases: [string, object[], string, string | undefined][] = [
      ['of what is not there', [{ collection: 'x', diff: [rename('nothing', 'x')] }], 'SCHEMA_CHANGED', undefined],
      [
        'onto what is there',
        [{ collection: 'authors', diff: [rename('articles', 'authors')] }],
        'SCHEMA_CHANGED',
        undefined,
      ],
      [
        'that say another name than their item',
        [{ collection: 'x', diff: [rename('articles', 'y')] }],
        'INVALID_PAYLOAD',
        'diff.collections[0].diff[0].rhs',
      ],
      [
        'that are none',
        [{ collection: 'articles', diff: [rename('articles', 'articles')] }],
        'INVALID_PAYLOAD',
        'diff.collections[0].diff[0].rhs',
      ],
      [
        'that are not texts',
        [{ collection: 'x', diff: [rename(7, 'x')] }],
        'INVALID_PAYLOAD',
        'diff.collections[0].diff[0].lhs',
      ],
      [
        'to a name that can not be',
        [{ collection: 'x'.repeat(64), diff: [rename('articles', 'x'.repeat(64))] }],
        'INVALID_PAYLOAD',
        'diff.collections[0].diff[0].rhs',
      ],
      [
        'of one thing twice',
        [
          { collection: 'x', diff: [rename('articles', 'x')] },
          { collection: 'y', diff: [rename('articles', 'y')] },
        ],
        'INVALID_PAYLOAD',
        'diff.collections[1].diff[0].lhs',
      ],
    ];
    for (const [what, collections, code, path] of cases) {
      it(what, () => {
        const result = apply(schema, { collections, fields: [], relations: [] } as unknown as SchemaDiff);
        expect(result.ok).to.equal(false);
        const problem = result.ok ? undefined : result.problems[0];
        expect(problem?.code).to.equal(code);
        if (path !== undefined) expect(problem?.path).to.equal(path);
      });
    }
  });
});
