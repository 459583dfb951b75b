/** Permanent identities of collections and fields: assigned by the fold, whichever release wrote the log. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type PositionedEvent, fold } from '../../../src/schema/fold/evolve.js';
import { readEvent } from '../../../src/schema/fold/upcasting.js';
import { type CollectionNode, type State, NEW_IDENTITY, initialState } from '../../../src/schema/model/state.js';
import { readState, writeState } from '../../../src/reads/stored-folds.js';
import { Draft } from '../../../src/schema/transition/draft.js';
import { accept, attempt, follow } from '../../support/given.js';
import { createRandomCommands } from '../../support/random-commands.js';
import { fileOf, parseLog } from '../../support/release-log.js';
import { operations } from '../../../src/schema/operations/index.js';
import type { Operation } from '../../../src/schema/operations/operation.js';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';

const node = (state: State, name: string) => state.collections.get(name) as CollectionNode;

const identityOf = ({ identities }: CollectionNode, name: string) => identities.fields.get(name);

const table = (collection: string, ...fields: string[]) => ({
  body: {
    collection,
    schema: {},
    fields: fields.map((field) => ({ field, type: 'string', meta: { interface: 'input' } })),
  },
  concurrentIndexes: false,
});

const field = (collection: string, name: string) => ({
  collection,
  body: { field: name, type: 'string', meta: { interface: 'input' } },
  concurrentIndexes: false,
});

/** Every identity of a state with its owner. */
function listIdentities({ collections }: State): Map<string, string> {
  const names = new Map<string, string>();
  const note = (identity: string, owner: string) => {
    if (names.has(identity)) throw new Error(`${identity} is that of ${names.get(identity)} and of ${owner}`);
    names.set(identity, owner);
  };
  for (const [name, { identities, fields }] of collections) {
    note(identities.collection, name);
    if ([...identities.fields.keys()].sort().join() !== [...fields.keys()].sort().join()) throw new Error(name);
    for (const [member, identity] of identities.fields) note(identity, `${name}.${member}`);
  }
  return names;
}

describe('identities', () => {
  const created = accept(initialState(), 'create-collection', table('articles', 'title', 'body'));

  it('are the position of the creating event', () => {
    expect(node(created, 'articles').identities.collection).to.equal('1');
    expect(Object.fromEntries(node(created, 'articles').identities.fields)).to.deep.equal({
      id: '1.1',
      title: '1.2',
      body: '1.3',
    });
    const more = accept(created, 'create-field', field('articles', 'lead'));
    expect(identityOf(node(more, 'articles'), 'lead')).to.equal('2');
    expect(identityOf(node(more, 'articles'), 'nothing')).to.equal(undefined);
  });

  it('return with a restored object under any name, and are stored', async () => {
    const gone = accept(created, 'delete-collection', { collection: 'articles' });
    const other = accept(gone, 'create-collection', table('articles', 'title'));
    const back = accept(other, 'restore-collection', {
      position: gone.position,
      identity: '1',
      name: 'articles',
      past: created,
      as: 'posts',
      without: [],
    });
    expect(node(back, 'posts').identities).to.deep.equal(node(created, 'articles').identities);
    expect(node(back, 'articles').identities.collection).to.equal('3');
    listIdentities(back);
    const stored = await readState(await writeState(back), back.position);
    expect(node(stored, 'posts').identities).to.deep.equal(node(back, 'posts').identities);
  });

  it('stay through changes, and end with the object', () => {
    const changed = accept(created, 'update-fields', {
      collection: 'articles',
      field: 'title',
      body: { meta: { note: 'n' } },
      concurrentIndexes: false,
    });
    expect(identityOf(node(changed, 'articles'), 'title')).to.equal('1.2');
    const without = accept(changed, 'delete-field', { collection: 'articles', field: 'title' });
    expect(identityOf(node(without, 'articles'), 'title')).to.equal(undefined);
    const again = accept(without, 'create-field', field('articles', 'title'));
    expect(identityOf(node(again, 'articles'), 'title')).to.equal('4');
    expect(identityOf(node(created, 'articles'), 'title'), 'an older state').to.equal('1.2');
  });

  it('do not exist in a draft', () => {
    const draft = new Draft(created);
    draft.removeField('articles', 'title');
    const { identities } = draft.get('articles') as CollectionNode;
    expect([...identities.fields.keys()]).to.deep.equal(['id', 'body']);
    expect(identities.collection).to.equal('1');
    draft.putCollection({ ...node(created, 'articles').collection, collection: 'other' });
    expect(draft.get('other')?.identities.collection).to.equal(NEW_IDENTITY);
  });

  it('are unique, however the log is folded', async () => {
    for (const seed of [1, 2, 3]) {
      const next = createRandomCommands(seed);
      const events: PositionedEvent[] = [];
      const input = new Set<string>();
      let [state, known] = [initialState(), new Set<string>()];
      while (events.length < 300) {
        const { name, command } = next(state);
        const { decide } = operations[name] as unknown as Operation<string, unknown, unknown>;
        const decided = runToEnd(stepsTo(decide(state, command)));
        if (!decided.ok) continue;
        for (const event of decided.value) events.push({ ...event, position: events.length + 1 });
        state = follow(state, decided.value);
        const now = new Set(listIdentities(state).keys());
        const back = [...now].find((each) => input.has(each) && !known.has(each));
        if (back !== undefined) throw new Error(`${back} came back`);
        for (const each of now) input.add(each);
        known = now;
      }
      expect([...listIdentities(fold(events))]).to.deep.equal([...listIdentities(state)]);
      const half = fold(events.slice(0, 200));
      const stored = await readState(await writeState(half), half.position);
      expect([...listIdentities(fold(events.slice(200), stored))]).to.have.deep.members([...listIdentities(state)]);
    }
  });

  it('are assigned to old logs', () => {
    const events = parseLog(readFileSync(fileOf('0.1.0', 'ndjson'), 'utf8')).map((event) => readEvent(event));
    const names = listIdentities(fold(events as PositionedEvent[]));
    const positions = new Set(events.map(({ position }) => String(position)));
    expect(names.size).to.be.greaterThan(20);
    for (const identity of names.keys()) expect(positions.has(identity.replace(/\.\d+$/, ''))).to.equal(true);
  });

  it('are known before the events are in the log', () => {
    const decided = attempt(created, 'create-collection', table('tags'));
    expect(decided.ok && node(follow(created, decided.value), 'tags').identities.collection).to.equal('2');
  });
});
