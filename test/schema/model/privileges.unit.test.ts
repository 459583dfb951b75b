import { expect } from 'chai';
import type { Privilege, SchemaObject } from '../../../src/schema/model/object-document.js';
import {
  comparePrivileges,
  findLostPrivileges,
  grantTexts,
  privilegeLines,
  selectColumns,
  sortPrivileges,
} from '../../../src/schema/model/privileges.js';

const select = (columns?: string[], grantable?: true): Privilege => ({
  name: 'SELECT',
  ...(columns && { columns }),
  ...(grantable && { grantable }),
});
const INSERT: Privilege = { name: 'INSERT' };

describe('lists of privileges', () => {
  it('are sorted, and have one element for the columns with the same privilege', () => {
    const sorted = [INSERT, select(), select(['a', 'b']), select(['c'], true)];
    expect(
      sortPrivileges([select(['c'], true), select(['b', 'c']), select(['a', 'b']), select(), INSERT]),
    ).to.deep.equal(sorted);
    expect(sortPrivileges(sorted)).to.deep.equal(sorted);
  });

  it('are compared by table and column', () => {
    const all = [INSERT, select(), select(['a', 'b'])];
    expect(findLostPrivileges(all, [select(['a'])])).to.deep.equal([INSERT, select(), select(['b'])]);
    expect(findLostPrivileges([select(['a'], true)], [select(['a'])])).to.deep.equal([select(['a'], true)]);
    expect(findLostPrivileges([select(['a'])], [select(['a'], true)])).to.deep.equal([]);
    expect(selectColumns(all, new Set(['b', 'c']))).to.deep.equal([select(['b'])]);
  });

  it('are granted and revoked one by one', () => {
    expect(comparePrivileges([INSERT, select(['a', 'b'])], [select(['b', 'c'])])).to.deep.equal({
      revoked: [INSERT, select(['a'])],
      restricted: [],
      granted: [select(['c'])],
    });
    expect(comparePrivileges([select(['a'])], [select(['a'], true)])).to.deep.equal({
      revoked: [],
      restricted: [],
      granted: [select(['a'], true)],
    });
  });

  it('grant columns again after REVOKE on the table, which also revokes them', () => {
    const before = [select(undefined, true), select(['a', 'b'], true)];
    expect(comparePrivileges(before, [select(['a'], true), select(['b'])])).to.deep.equal({
      revoked: [select()],
      restricted: [],
      granted: [select(['b']), select(['a'], true)],
    });
    expect(comparePrivileges(before, [select(), select(['a'], true), select(['b'])])).to.deep.equal({
      revoked: [],
      restricted: [select()],
      granted: [select(['a'], true)],
    });
  });

  it('are written as GRANT statements and as lines', () => {
    const definition = [INSERT, select(['a', 'b'], true)];
    const object: SchemaObject = { kind: 'privileges', id: '"Editors" on posts', definition, comment: null };
    const quote = (name: string): string => `"${name}"`;
    expect(grantTexts(object, quote)).to.deep.equal([
      'GRANT INSERT ON TABLE "posts" TO "Editors"',
      'GRANT SELECT ("a", "b") ON TABLE "posts" TO "Editors" WITH GRANT OPTION',
    ]);
    expect(grantTexts({ ...object, id: 'public on posts' }, quote)[0]).to.match(/ TO PUBLIC$/);
    const execute = { ...object, id: '"a b" on "Half"(integer, text[])', definition: [{ name: 'EXECUTE' as const }] };
    expect(grantTexts(execute, quote)).to.deep.equal(['GRANT EXECUTE ON ROUTINE "Half"(integer, text[]) TO "a b"']);
    const revoked = { ...object, id: 'public on half(integer)', definition: [] };
    expect(grantTexts(revoked, quote)).to.deep.equal(['REVOKE EXECUTE ON ROUTINE "half"(integer) FROM PUBLIC']);
    const onType = { ...object, id: 'editors on type "a b".c', definition: [{ name: 'USAGE' as const }] };
    expect(grantTexts(onType, quote)).to.deep.equal(['GRANT USAGE ON TYPE "a b"."c" TO "editors"']);
    const closed = { ...object, id: 'public on type status', definition: [] };
    expect(grantTexts(closed, quote)).to.deep.equal(['REVOKE USAGE ON TYPE "status" FROM PUBLIC']);
    const onSchema = { ...object, id: 'editors on schema "a.b"', definition: [{ name: 'USAGE' as const }] };
    expect(grantTexts(onSchema, quote)).to.deep.equal(['GRANT USAGE ON SCHEMA "a.b" TO "editors"']);
    const initial = { ...onSchema, id: 'public on schema public' };
    expect(grantTexts(initial, quote)).to.deep.equal([
      'REVOKE ALL ON SCHEMA "public" FROM PUBLIC',
      'GRANT USAGE ON SCHEMA "public" TO PUBLIC',
    ]);
    const onNew = {
      ...object,
      id: 'editors on new sequences in schema "a.b"',
      definition: [{ name: 'USAGE' as const }],
    };
    expect(grantTexts(onNew, quote)).to.deep.equal([
      'ALTER DEFAULT PRIVILEGES IN SCHEMA "a.b" GRANT USAGE ON SEQUENCES TO "editors"',
    ]);
    expect(grantTexts({ ...onNew, id: 'public on new types', definition: [] }, quote)).to.deep.equal([
      'ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC',
    ]);
    expect(privilegeLines([])).to.equal('no privileges');
    expect(privilegeLines(definition)).to.equal('INSERT\nSELECT (a, b) WITH GRANT OPTION');
  });
});
