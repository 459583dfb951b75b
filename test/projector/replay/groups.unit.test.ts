import { expect } from 'chai';
import { type Group, groupsOf } from '../../../src/projector/replay.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Need } from '../../../src/schema/model/extras.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { added, column, created, extended, relationCreated } from '../columns.js';

function groups(events: NewEvent[]): Group<NewEvent>[] {
  const list: Group<NewEvent>[] = [];
  const all = groupsOf(initialState(), events, 'public');
  for (;;) {
    const next = all.next();
    if (next.done === true) {
      expect([...next.value.collections.keys()].sort()).to.deep.equal(
        [...follow(initialState(), events).collections.keys()].sort(),
      );
      break;
    }
    list.push(next.value);
  }
  expect(list.flatMap((group) => group.events)).to.deep.equal(events);
  return list;
}

/** Keyed by statement: its source, and the event at that index of its group. */
const sources = ({ statements, events }: Group<NewEvent>) =>
  statements.map(({ source }) => [source.collection, events[source.event]?.collection]);

describe('groups of events', () => {
  it('are empty without events, and one for a few', () => {
    expect(groups([])).to.deep.equal([]);
    const [only, ...more] = groups([created('a'), created('b')]);
    expect(more).to.deep.equal([]);
    expect(only?.statements.map(({ summary, source }) => [summary, source.event])).to.deep.equal([
      ['create table a', 0],
      ['create table b', 1],
    ]);
    expect([...(only?.after.collections.keys() ?? [])]).to.deep.equal(['a', 'b']);
  });

  it('have statements that name their event, however many there are', () => {
    const events = Array.from({ length: 120 }, (_, index) => created(`c${index}`));
    const [only, ...more] = groups(events);
    expect(more).to.deep.equal([]);
    const named = only === undefined ? [] : sources(only);
    expect(named).to.have.length(120);
    for (const [source, event] of named) expect(source).to.equal(event);
  });

  it('end before the locks exceed the limit', () => {
    const unique = ['u', 'v', 'w'].map((name) => column(name, 'text', { is_unique: true }));
    const events = Array.from({ length: 400 }, (_, index) => created(`c${index}`, unique));
    const list = groups(events);
    expect(list.length).to.be.above(1);
    let before = 0;
    const entriesOf = ({ statements }: Group<NewEvent>, most = Infinity): number =>
      statements.filter(({ source }) => source.event < most).reduce((sum, { lock_entries }) => sum + lock_entries, 0);
    list.forEach((group, index) => {
      expect(entriesOf(group)).to.be.at.most(1_500);
      for (const [source, event] of sources(group)) expect(source).to.equal(event);
      before += group.events.length;
      expect(group.after.collections.size).to.equal(before);
      // The next fifty, which are planned together, would exceed the limit.
      const next = list[index + 1];
      if (next !== undefined) expect(entriesOf(group) + entriesOf(next, 50)).to.be.above(1_500);
    });
  });

  it('end with statements that must be committed first', () => {
    const mood = (...labels: string[]): Need[] => [{ kind: 'enum', name: 'mood', labels }];
    const events = [
      created('t', [], { extras: { needs: mood('sad') } }),
      extended('t', { needs: mood('sad', 'ok') }),
      created('u'),
      created('v'),
    ];
    expect(groups(events).map((group) => group.events.length)).to.deep.equal([2, 2]);
    expect(groups(events.slice(0, 2)).map((group) => group.events.length)).to.deep.equal([2]);
  });

  it('build deferred indexes immediately and create adopted objects', () => {
    const indexed = column('a', 'integer', { is_indexed: true });
    const adopted = { ...created('t', [indexed]), type: 'collection.adopted' } as NewEvent;
    const summaries = (event: NewEvent[]) =>
      groups(event).flatMap(({ statements }) => statements.map(({ summary }) => summary));
    const made = ['create table t', 'create index on t.a'];
    expect(summaries([created('t', [indexed])])).to.deep.equal(made);
    expect(summaries([created('t', [indexed], { concurrent: true })])).to.deep.equal(made);
    expect(summaries([adopted])).to.deep.equal(made);
    expect(summaries([created('t'), added(indexed, true)])).to.deep.equal(summaries([created('t'), added(indexed)]));
    const there = relationCreated('t.a', 'other');
    const known = { ...there, data: { ...there.data, adopted: true } } as NewEvent;
    const before = [created('other'), created('t', [indexed])];
    expect(summaries([...before, known])).to.deep.equal(summaries([...before, there]));
  });
});
