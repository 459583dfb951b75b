/** Where a snapshot comes from: what is refused without force, each with its place. */
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { initialState } from '../../../src/schema/model/state.js';

const OWN = { version: 1, service: '1.2.3', vendor: 'postgres', collections: [], fields: [], relations: [] };

function faults(body: object, force = false): string[] {
  const options = { force, mode: 'mirror', release: '1.2.3' } as const;
  const result = runToEnd(compareSnapshot(initialState(), body, options));
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('the documents of a snapshot', () => {
  const table = (collection: string) => ({ collection, schema: {} });
  const field = (collection: string, name: string, more: object = {}) => ({
    collection,
    field: name,
    type: 'integer',
    schema: {},
    ...more,
  });
  const key = { schema: { is_primary_key: true } };

  it('stand in it once each, by both of their names', () => {
    const fields = [field('a', 'bc', key), field('ab', 'c', key)];
    expect(faults({ ...OWN, collections: [table('a'), table('ab')], fields })).to.deep.equal([]);
    expect(faults({ ...OWN, collections: [table('a'), table('ab'), table('a')], fields })).to.deep.equal([
      'collections[2]: "a" stands in collections twice',
    ]);
    expect(
      faults({ ...OWN, collections: [table('a'), table('ab')], fields: [...fields, field('ab', 'c')] }),
    ).to.deep.equal(['fields[2]: "ab.c" stands in fields twice']);
  });
});

describe('the origin of a snapshot', () => {
  const bypass = 'with force (?force, dps --force) it is compared anyway';

  it('is this release, or forced', () => {
    expect(faults(OWN)).to.deep.equal([]);
    const { service: _, vendor: __, ...bare } = OWN;
    for (const other of [{ ...OWN, service: '1.0.0' }, { ...OWN, vendor: 'mysql' }, bare]) {
      expect(faults(other)).not.to.deep.equal([]);
      expect(faults(other, true)).to.deep.equal([]);
    }
  });

  it('is told with what was found, all of it at once', () => {
    expect(faults({ ...OWN, service: '1.0.0', vendor: 'mysql' })).to.deep.equal([
      `service: the snapshot is of release "1.0.0", this is release 1.2.3; ${bypass}`,
      `vendor: the snapshot is of vendor "mysql", this is "postgres"; ${bypass}`,
    ]);
    expect(faults({ version: 1 })).to.deep.equal([
      `service: the snapshot is of an unknown release (service is missing), this is release 1.2.3; ${bypass}`,
      `vendor: the snapshot names no database vendor, this is "postgres"; ${bypass}`,
    ]);
    expect(faults({ version: 1, directus: '11.0.0', vendor: 'postgres' })).to.deep.equal([
      `service: the snapshot is of another product (directus), this is release 1.2.3; ${bypass}`,
    ]);
  });

  it('is of a version that is known, forced or not', () => {
    for (const force of [false, true]) {
      expect(faults({ ...OWN, version: 2 }, force)).to.deep.equal(['version: version must be 1; 2 is unknown']);
      expect(faults({}, force)).to.deep.equal(['version: version must be 1; it is missing']);
    }
  });

  it('of our own says nothing that is not known', () => {
    expect(faults({ ...OWN, more: 1, fields: {}, relations: null }).map((text) => text.split(':')[0])).to.deep.equal([
      'more',
      'fields',
      'relations',
    ]);
  });
});
