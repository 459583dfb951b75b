import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { initialState } from '../../../src/schema/model/state.js';

const OWN = { version: 1, service: '1.2.3', vendor: 'postgres', collections: [], fields: [], relations: [] };

function problemsOf(body: object, force = false): string[] {
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

  it('are unique under both of their names', () => {
    const fields = [field('a', 'bc', key), field('ab', 'c', key)];
    expect(problemsOf({ ...OWN, collections: [table('a'), table('ab')], fields })).to.deep.equal([]);
    expect(problemsOf({ ...OWN, collections: [table('a'), table('ab'), table('a')], fields })).to.deep.equal([
      'collections[2]: "a" occurs more than once in collections',
    ]);
    expect(
      problemsOf({ ...OWN, collections: [table('a'), table('ab')], fields: [...fields, field('ab', 'c')] }),
    ).to.deep.equal(['fields[2]: "ab.c" occurs more than once in fields']);
  });
});

describe('the origin of a snapshot', () => {
  const bypass = 'to compare it anyway, use force (?force, dps --force)';

  it('is this release, unless forced', () => {
    expect(problemsOf(OWN)).to.deep.equal([]);
    const { service: _, vendor: __, ...bare } = OWN;
    for (const other of [{ ...OWN, service: '1.0.0' }, { ...OWN, vendor: 'mysql' }, bare]) {
      expect(problemsOf(other)).not.to.deep.equal([]);
      expect(problemsOf(other, true)).to.deep.equal([]);
    }
  });

  it('is reported with all findings at once', () => {
    expect(problemsOf({ ...OWN, service: '1.0.0', vendor: 'mysql' })).to.deep.equal([
      `service: the snapshot was created by release "1.0.0", but this is release 1.2.3; ${bypass}`,
      `vendor: the snapshot was created for vendor "mysql", but this is "postgres"; ${bypass}`,
    ]);
    expect(problemsOf({ version: 1 })).to.deep.equal([
      `service: the snapshot was created by an unknown release (member service is missing), but this is release 1.2.3; ${bypass}`,
      `vendor: the snapshot does not name its database vendor, but this is "postgres"; ${bypass}`,
    ]);
    expect(problemsOf({ version: 1, directus: '11.0.0', vendor: 'postgres' })).to.deep.equal([
      `service: the snapshot was created by another product (directus), but this is release 1.2.3; ${bypass}`,
    ]);
  });

  it('has a known version, even if forced', () => {
    for (const force of [false, true]) {
      expect(problemsOf({ ...OWN, version: 2 }, force)).to.deep.equal([
        'version: version must be 1; 2 is not supported',
      ]);
      expect(problemsOf({}, force)).to.deep.equal(['version: version must be 1; it is missing']);
    }
  });

  it('is not repeated for our own snapshots', () => {
    expect(
      problemsOf({ ...OWN, more: 1, fields: {}, relations: null }).map((text) => text.split(':')[0]),
    ).to.deep.equal(['more', 'fields', 'relations']);
  });
});
