import { expect } from 'chai';
import { endsOf } from '../../src/log/lifetimes.js';
import type { LogEvent } from '../../src/schema/model/events.js';
import { append } from '../support/append.js';
import { withPool } from '../support/with-pool.js';

describe('the ends of object lifetimes', () => {
  const { database, pool } = withPool({ each: true });

  /** The members of an event that are read. */
  const event = (type: LogEvent['type'], collection: string, field: string | null, data: object = {}): LogEvent =>
    ({ type, version: 1, collection, field, data }) as LogEvent;
  const build = (collection: string, fields: string[], restored?: object) =>
    event('collection.created', collection, null, {
      collection: {},
      fields: fields.map((field) => ({ field })),
      ...(restored && { restored }),
    });
  const field = (collection: string, name: string, restored?: object) =>
    event('field.created', collection, name, { field: {}, ...(restored && { restored }) });

  /** Appends the events, numbered from 1, and queries the ends of these identities. */
  async function ends(identities: string[], ...events: LogEvent[]): Promise<Record<string, [number, boolean]>> {
    await append(database.connectionString, events);
    const lives = await endsOf(pool(), identities);
    return Object.fromEntries([...lives].map(([identity, { position, isOwn }]) => [identity, [position, isOwn]]));
  }

  it('are empty for unrequested and existing objects', async () => {
    expect(await ends([], build('a', ['x']))).to.deep.equal({});
    expect(Object.fromEntries(await endsOf(pool(), ['1', '1.1', '7']))).to.deep.equal({});
  });

  it('include those of a collection and of its fields', async () => {
    const endedLives = await ends(
      ['1', '1.1', '1.2', '2'],
      build('a', ['x', 'y']),
      field('a', 'z'),
      build('b', ['x']),
      event('collection.deleted', 'b', null),
      event('collection.deleted', 'a', null),
    );
    expect(endedLives).to.deep.equal({ '1': [5, true], '1.1': [5, false], '1.2': [5, false], '2': [5, false] });
  });

  it('include the deletion of an adopted field', async () => {
    const adopted = event('collection.adopted', 'a', null, { collection: {}, fields: [{ field: 'x' }] });
    expect(await ends(['1', '1.1'], adopted, event('field.deleted', 'a', 'x'))).to.deep.equal({ '1.1': [2, true] });
  });

  it('include fields whose collection is not requested', async () => {
    const endedLives = await ends(
      ['2', '3'],
      build('a', ['x']),
      field('a', 'y'),
      field('a', 'z'),
      event('field.deleted', 'a', 'y'),
      event('field.deleted', 'a', 'x'),
      event('collection.deleted', 'a', null),
    );
    expect(endedLives).to.deep.equal({ '2': [4, true], '3': [6, false] });
  });

  it('are found under the names at that time', async () => {
    const endedLives = await ends(
      ['4', '4.1', '1', '1.1'],
      build('a', ['x']),
      event('collection.renamed', 'a', null, { to: 'b' }),
      event('field.renamed', 'b', 'x', { to: 'y' }),
      build('a', ['x']),
      event('field.deleted', 'a', 'x'),
      event('collection.deleted', 'a', null),
      event('field.deleted', 'b', 'x'),
      event('field.deleted', 'b', 'y'),
      event('collection.deleted', 'b', null),
    );
    expect(endedLives).to.deep.equal({ '1': [9, true], '1.1': [8, true], '4': [6, true], '4.1': [5, true] });
  });

  it('exclude later objects with the same name', async () => {
    const renamed = await ends(
      ['1', '1.1'],
      build('a', ['x']),
      event('collection.renamed', 'a', null, { to: 'b' }),
      build('a', ['x']),
      event('field.deleted', 'a', 'x'),
      event('collection.deleted', 'a', null),
    );
    expect(renamed).to.deep.equal({});
    const deleted = await ends(
      ['6', '6.1', '6.2'],
      build('c', ['x', 'y']),
      event('field.deleted', 'c', 'x'),
      event('field.renamed', 'c', 'y', { to: 'z' }),
      field('c', 'x'),
      field('c', 'y'),
      event('field.deleted', 'c', 'x'),
      event('field.deleted', 'c', 'y'),
      event('collection.deleted', 'c', null),
      build('c', []),
      event('collection.deleted', 'c', null),
    );
    expect(deleted).to.deep.equal({ '6': [13, true], '6.1': [7, true], '6.2': [13, false] });
  });

  it('exclude later users of the old name of a field', async () => {
    const endedLives = await ends(
      ['1.1', '1.2'],
      build('a', ['x', 'y']),
      event('field.renamed', 'a', 'y', { to: 'z' }),
      field('a', 'y'),
      event('field.deleted', 'a', 'y'),
      event('field.deleted', 'a', 'x'),
      field('a', 'x'),
      event('field.deleted', 'a', 'x'),
    );
    expect(endedLives).to.deep.equal({ '1.1': [5, true] });
  });

  it('are not looked up in unrequested collections', async () => {
    const endedLives = await ends(
      ['1', '10'],
      build('a', []),
      build('b', ['x', 'y']),
      event('field.renamed', 'b', 'x', { to: 'z' }),
      event('field.deleted', 'b', 'y'),
      event('collection.renamed', 'b', null, { to: 'c' }),
      event('collection.deleted', 'c', null),
      ...['c', 'd', 'e', 'f'].map((name) => build(name, [])),
      event('collection.deleted', 'f', null),
    );
    expect(endedLives).to.deep.equal({ '10': [11, true] });
  });

  it('exclude the successor of a field with the same name', async () => {
    const endedLives = await ends(
      ['1.1', '3'],
      build('a', ['x']),
      event('field.deleted', 'a', 'x'),
      field('a', 'x'),
      event('field.deleted', 'a', 'x'),
    );
    expect(endedLives).to.deep.equal({ '1.1': [2, true], '3': [4, true] });
  });

  it('are undone by a restore under any name, until the next deletion', async () => {
    const back = build('b', ['p', 'q'], { position: 2, identity: '1', name: 'a', fields: ['1.1', '1.2'] });
    const requested = ['1', '1.1', '1.2'];
    const first = [build('a', ['x', 'y']), event('collection.deleted', 'a', null), back];
    expect(await ends(requested, ...first)).to.deep.equal({});
    expect(await ends(requested, event('field.deleted', 'b', 'q'))).to.deep.equal({ '1.2': [4, true] });
    const field = event('field.created', 'b', 'r', { field: {}, restored: { position: 4, identity: '1.2' } });
    expect(await ends(requested, field)).to.deep.equal({});
    expect(await ends(requested, event('collection.deleted', 'b', null))).to.deep.equal({
      '1': [6, true],
      '1.1': [6, false],
      '1.2': [6, false],
    });
  });

  it('include the end of a restored field in an unrequested collection', async () => {
    const endedLives = await ends(
      ['2'],
      build('a', []),
      field('a', 'x'),
      event('field.deleted', 'a', 'x'),
      field('a', 'y', { position: 3, identity: '2' }),
      field('a', 'x'),
      event('field.deleted', 'a', 'x'),
    );
    expect(endedLives).to.deep.equal({});
    expect(await ends(['2'], event('field.deleted', 'a', 'y'))).to.deep.equal({ '2': [7, true] });
  });
});
