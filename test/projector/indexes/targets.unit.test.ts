import { expect } from 'chai';
import { indexTargets } from '../../../src/projector/indexes/catch-up.js';
import { added, changed, column, created, deleted, dropped } from '../columns.js';

describe('the deferred indexes of an event', () => {
  const plain = column('a', 'integer');
  const indexed = column('a', 'integer', { is_indexed: true });
  const target = [{ collection: 't', field: 'a' }];

  it('include those of a collection on request', () => {
    const fields = [indexed, column('b', 'integer'), column('c', 'alias', null)];
    expect(indexTargets(created('t', fields, { concurrent: true }))).to.deep.equal(target);
    expect(indexTargets(created('t', fields))).to.deep.equal([]);
  });

  it('include that of a field on request', () => {
    expect(indexTargets(added(indexed, true))).to.deep.equal(target);
    expect(indexTargets(added(indexed))).to.deep.equal([]);
    expect(indexTargets(changed(plain, indexed, true))).to.deep.equal(target);
  });

  it('include removed ones, which may be under construction', () => {
    expect(indexTargets(changed(indexed, plain))).to.deep.equal(target);
    expect(indexTargets(changed(indexed, column('a', 'alias', null)))).to.deep.equal(target);
    expect(indexTargets(changed(plain, column('a', 'bigInteger')))).to.deep.equal([]);
  });

  it('follow the changed names: one index, or all of a table', () => {
    const named = (path: string) =>
      indexTargets({
        type: 'field.updated',
        version: 1,
        collection: 't',
        field: 'a',
        data: { patch: [{ op: 'replace', path, value: null }] },
      });
    for (const path of ['', '/schema', '/schema/is_indexed']) expect(named(path), path).to.deep.equal(target);
    for (const path of ['/', '/schema/is_unique', '/meta', '/schema/is_indexed/x'])
      expect(named(path), path).to.deep.equal([]);
  });

  it('exclude the indexes of deleted tables and fields', () => {
    expect(indexTargets(deleted('t'))).to.deep.equal([]);
    expect(indexTargets(dropped(indexed))).to.deep.equal([]);
  });
});
