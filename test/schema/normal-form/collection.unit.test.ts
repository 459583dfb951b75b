import { expect } from 'chai';
import { changedCollection, collection, expectInPlace, faultsOf, FORCED, sent, valueOf } from './read.js';

describe('collections in normal form', () => {
  it('have the defaults of meta', () => {
    expect(valueOf(collection({}))).to.deep.equal({
      collection: 'articles',
      meta: {
        icon: null,
        note: null,
        display_template: null,
        hidden: false,
        singleton: false,
        translations: null,
        archive_field: null,
        archive_app_filter: true,
        archive_value: null,
        unarchive_value: null,
        sort_field: null,
        accountability: 'all',
        color: null,
        item_duplication_fields: null,
        sort: null,
        group: null,
        collapse: 'open',
        preview_url: null,
        versioning: false,
      },
      schema: { comment: null },
    });
  });

  it('are tables with a schema and folders with null', () => {
    expect(valueOf(collection({ schema: null })).schema).to.equal(null);
    expect(valueOf(collection({ schema: { name: 'articles', sql: 'CREATE …', comment: 'c' } })).schema).to.deep.equal({
      comment: 'c',
    });
    expect(faultsOf(collection({ schema: undefined })).join()).to.include('schema is required');
    expect(valueOf(collection({ schema: undefined }, FORCED)).schema).to.equal(null);
  });

  const refused: [Record<string, unknown>, string][] = [
    [{ collection: 'service_flows' }, 'is reserved'],
    [{ collection: 5 }, 'a string'],
    [{ schema: 'x' }, 'schema must be an object'],
    [{ schema: [] }, 'schema must be an object'],
    [{ schema: { name: 'other' } }, 'name must be "articles"'],
    [{ schema: { foo: 1 } }, 'foo is not a known member'],
    [{ schema: { comment: 1 } }, 'comment must be'],
    [{ foo: 1 }, 'foo is not a known member'],
    [{ meta: 'x' }, 'meta must be an object'],
    [{ meta: { foo: 1 } }, 'foo is not a known member'],
    [{ meta: { collection: 'other' } }, 'collection must be "articles"'],
    [{ meta: { hidden: null } }, 'hidden must be true or false'],
    [{ meta: { accountability: 'bogus' } }, 'accountability must be "all", "activity" or null'],
    [{ meta: { collapse: null } }, 'collapse must be "open", "closed" or "locked"'],
    [{ meta: { archive_app_filter: 'yes' } }, 'archive_app_filter must be true or false'],
    [{ meta: { sort: 'abc' } }, 'sort must be an integer'],
    [{ meta: { item_duplication_fields: 'a' } }, 'item_duplication_fields must be an array'],
    [{ meta: { group: {} } }, 'group must be a non-empty string'],
  ];
  for (const [members, message] of refused) {
    it(`reject ${JSON.stringify(members)}`, () => {
      const faults = faultsOf(collection(members));
      expect(faults.join()).to.include(message);
      expectInPlace(faults, members);
    });
  }

  it('accept archive_app_filter as text, and null for no tracking', () => {
    expect(
      valueOf(collection({ meta: { archive_app_filter: 'false', accountability: null, system: false } })).meta,
    ).to.include({ archive_app_filter: false, accountability: null });
  });

  it('change only present members', () => {
    const table = valueOf(collection({ meta: { note: 'n', icon: 'i' }, schema: { comment: 'c' } }));
    expect(valueOf(changedCollection(table, {}))).to.equal(table);
    expect(valueOf(changedCollection(table, sent(table)))).to.equal(table);
    expect(valueOf(changedCollection(table, { meta: { note: null } }))).to.deep.equal({
      ...table,
      meta: { ...table.meta, note: null },
    });
    expect(valueOf(changedCollection(table, { schema: {} }))).to.equal(table);
    expect(valueOf(changedCollection(table, { schema: { comment: null } })).schema).to.deep.equal({ comment: null });
  });

  it('keep their kind and name', () => {
    const table = valueOf(collection({}));
    const folder = valueOf(collection({ schema: null }));
    expect(faultsOf(changedCollection(table, { schema: null })).join()).to.include(
      'is a table in the database, and null would turn it into a folder',
    );
    expect(faultsOf(changedCollection(folder, { schema: {} })).join()).to.include(
      'is a folder here, and an object would turn it into a table',
    );
    expect(valueOf(changedCollection(folder, { schema: null }))).to.equal(folder);
    expect(faultsOf(changedCollection(table, { collection: 'other' })).join()).to.include('cannot be renamed here');
  });
});
