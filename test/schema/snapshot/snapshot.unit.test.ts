import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../src/kernel/canonical.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { orderFieldMembers } from '../../../src/schema/snapshot/documents.js';
import { initialState } from '../../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { accept } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { KEY, column, stateOf } from '../invariants/states.js';

const hashOf = (state: Parameters<typeof snapshotHash>[0], release: string): string =>
  runToEnd(snapshotHash(state, release));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the hash of a snapshot', () => {
  it('covers the canonical documents of each collection without relation ids, however wide it is', () => {
    const columns = (count: number) => Array.from({ length: count }, (_, index) => column(`c${index}`));
    const wide = stateOf({
      a: { fields: [KEY] },
      folder: { fields: [], collection: { schema: null } },
      w49: { fields: [KEY, ...columns(48)] },
      w50: { fields: [KEY, ...columns(49)] },
      w51: { fields: [KEY, ...columns(50)] },
      w101: { fields: [KEY, ...columns(100)] },
    });
    for (const state of [initialState(), wide, withRelations()]) {
      const { collections, fields, relations, ...head } = runToEnd(snapshotOf(state, '1.2.3'));
      const hashes = collections.map((document) => {
        const { collection } = document;
        const texts = [
          document,
          ...fields.filter((field) => field.collection === collection),
          ...relations.filter((relation) => relation.many_collection === collection).map(relationBody),
        ];
        return sha256(texts.map(canonicalJson).join(''));
      });
      expect(hashOf(state, '1.2.3')).to.equal(sha256(canonicalJson(head) + hashes.join('')));
    }
  });

  it('differs between releases, even if cached', () => {
    const state = withRelations();
    const hashes = ['1.0.0', '2.0.0', '1.0.0', '2.0.0'].map((release) => hashOf(state, release));
    expect(new Set(hashes).size).to.equal(2);
    expect(hashes.slice(0, 2)).to.deep.equal(hashes.slice(2));
  });
});

describe('a snapshot', () => {
  it('contains the requested collections with their fields and relations', () => {
    const state = withRelations();
    const { collections, fields, relations, ...head } = runToEnd(
      snapshotOf(state, '1.2.3', (name) => name === 'articles'),
    );
    expect(head).to.deep.equal({ version: 1, service: '1.2.3', vendor: 'postgres' });
    expect(collections.map(({ collection }) => collection)).to.deep.equal(['articles']);
    expect(fields.map(({ collection, field }) => `${collection}.${field}`)).to.deep.equal([
      'articles.author',
      'articles.id',
      'articles.parent',
      'articles.tags',
    ]);
    expect(relations.map(({ many_field }) => many_field)).to.deep.equal(['author', 'parent']);
  });

  it('shows the renamed key that a foreign key references', () => {
    const state = withRelations();
    const targetIn = (from: typeof state): unknown =>
      runToEnd(snapshotOf(from, '1')).fields.find(({ field }) => field === 'author')?.schema?.foreign_key_column;
    expect(targetIn(state)).to.equal('id');
    const renamed = accept(state, 'rename-field', { collection: 'authors', field: 'id', body: { to: 'key' } });
    expect(targetIn(renamed)).to.equal('key');
    expect(targetIn(state)).to.equal('id');
  });

  it('shows renamed keys whose concatenated names are equal', () => {
    const key = (field: string) => ({ ...KEY, field });
    const relation = (many_field: string, one_collection: string) => ({
      many_collection: 'm',
      many_field,
      one_collection,
      schema: { constraint_name: many_field, on_update: 'NO ACTION', on_delete: 'NO ACTION' } as const,
    });
    const before = stateOf(
      { one: { fields: [key('a')] }, two: { fields: [key('bc')] }, m: { fields: [KEY, column('x'), column('y')] } },
      [relation('x', 'one'), relation('y', 'two')],
    );
    const targetsIn = (state: typeof before): unknown[] =>
      runToEnd(snapshotOf(state, '1', (name) => name === 'm')).fields.map(({ schema }) => schema?.foreign_key_column);
    expect(targetsIn(before)).to.deep.equal([null, 'a', 'bc']);
    const after = [
      { collection: 'one', field: 'a', body: { to: 'ab' } },
      { collection: 'two', field: 'bc', body: { to: 'c' } },
    ].reduce((state, input) => accept(state, 'rename-field', input), before);
    expect(targetsIn(after)).to.deep.equal([null, 'ab', 'c']);
  });

  it('has its own member order, regardless of the source', () => {
    const hostile: unknown = JSON.parse(
      '{"b": 1, "__proto__": {"y": 1, "x": [{"d": 1, "c": 2}, null, "text"]}, "a": null}',
    );
    const document = { schema: null, more: 1, meta: { width: 'half', options: hostile, field: 'f' }, field: 'f' };
    expect(JSON.stringify(orderFieldMembers(document as never))).to.equal(
      '{"field":"f","meta":{"field":"f","options":{"__proto__":{"x":[{"c":2,"d":1},null,"text"],"y":1},"a":null,"b":1},' +
        '"width":"half"},"schema":null,"more":1}',
    );
  });
});
