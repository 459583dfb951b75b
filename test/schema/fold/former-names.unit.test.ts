import { expect } from 'chai';
import { collectionsNamed, formerNames } from '../../../src/schema/fold/former-names.js';
import type { LogEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { accept } from '../../support/given.js';

const table = (collection: string) => ({ body: { collection, schema: {} }, concurrentIndexes: false });

const event = (type: string, collection: string, data: object) =>
  ({ type, version: 1, collection, field: null, data }) as LogEvent;
const rename = (from: string, to: string) => event('collection.renamed', from, { to });
const restore = (identity: string, name: string, as: string) =>
  event('collection.created', as, { restored: { position: 3, identity, name, fields: [] } });

describe('the names of collections in a batch', () => {
  const before = accept(accept(initialState(), 'create-collection', table('a')), 'create-collection', table('b'));

  const namesAfter = (...events: LogEvent[]) => {
    const called = collectionsNamed(before, events);
    return (name: string) => called(name).map(({ identity, names }) => `${identity}: ${[...names].sort().join()}`);
  };

  it('follow two tables that exchange their names', () => {
    const called = namesAfter(rename('a', 'x'), rename('b', 'a'), rename('x', 'b'));
    expect(called('x')).to.deep.equal(['1: a,b,x']);
    expect(called('a')).to.deep.equal(['1: a,b,x', '2: a,b']);
    expect(called('nothing')).to.deep.equal([]);
  });

  it('follow a table through the trash by its identity', () => {
    expect(namesAfter(restore('7', 'old', 'c'), rename('c', 'd'))('d')).to.deep.equal(['7: c,d,old']);
    const again = namesAfter(rename('a', 'c'), event('collection.deleted', 'c', {}), restore('1', 'c', 'd'));
    expect(again('d')).to.deep.equal(['1: a,c,d']);
  });

  it('keep a new table apart from another one with the name', () => {
    const called = namesAfter(
      event('collection.deleted', 'a', {}),
      event('collection.created', 'a', {}),
      rename('a', 'n'),
    );
    expect(called('n')).to.deep.equal([': a,n']);
    expect(called('a')).to.deep.equal(['1: a', ': a,n']);
  });
});

describe('the names before a batch', () => {
  it('do not mix up the fields of a new table with those of the former owner of its name', () => {
    const former = formerNames();
    const renamed = { ...event('field.renamed', 'a', { to: 'now' }), field: 'old' } as LogEvent;
    for (const each of [rename('a', 'b'), event('collection.created', 'a', {}), renamed]) former.add(each);
    expect([former.collection('b'), former.field('b', 'now'), former.field('a', 'now')]).to.deep.equal([
      'a',
      'now',
      'old',
    ]);
  });
});
