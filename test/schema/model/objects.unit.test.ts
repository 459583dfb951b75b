import { expect } from 'chai';
import { type ObjectKind } from '../../../src/schema/model/objects.js';
import {
  fromLocalObject,
  idOnTarget,
  inSchema,
  objectNameParts,
  qualifiedId,
  renamedId,
  splitQualifiedId,
  toLocalObject,
} from '../../../src/schema/model/object-ids.js';

describe('ids of objects', () => {
  for (const [schema, name, id] of [
    [undefined, 'totals', 'totals'],
    [undefined, 'My totals', 'My totals'],
    [undefined, 'a.b', '"a.b"'],
    [undefined, '"a.b"', '"""a.b"""'],
    [undefined, 'A.b', 'A.b'],
    ['billing', 'totals', 'billing.totals'],
    ['billing', 'a.b', 'billing."a.b"'],
    ['My "billing"', 'Totals', '"My ""billing"""."Totals"'],
  ] as const)
    it(`contain the relation ${name} of the schema ${schema ?? 'default'} as ${id}`, () => {
      expect(qualifiedId({ schema, name })).to.equal(id);
      expect(splitQualifiedId(id)).to.deep.equal({ schema, name });
    });

  const CASES: readonly [ObjectKind, local: string, id: string][] = [
    ['view', 'totals', 'billing.totals'],
    ['type', 'My state', 'billing."My state"'],
    ['function', 'total(integer, text)', 'billing.total(integer, text)'],
    ['aggregate', '"Sum. of"("a, b"[])', 'billing."Sum. of"("a, b"[])'],
    ['trigger', '"a on b" on invoices', '"a on b" on billing.invoices'],
    ['policy', 'own on "My invoices"', 'own on billing."My invoices"'],
    ['row_security', 'My invoices', 'billing."My invoices"'],
    ['statistics', 'amounts', 'billing.amounts'],
    ['privileges', 'editors on invoices', 'editors on billing.invoices'],
    ['privileges', 'editors on total(integer)', 'editors on billing.total(integer)'],
    ['privileges', 'editors on sequence numbers', 'editors on sequence billing.numbers'],
    ['privileges', '"A b" on type "My state"', '"A b" on type billing."My state"'],
  ];

  for (const [kind, local, id] of CASES)
    it(`get and lose a schema: ${kind} ${local}`, () => {
      expect(fromLocalObject({ kind, id: local, schema: 'billing' })).to.deep.equal({ kind, id });
      expect(toLocalObject({ kind, id })).to.deep.equal({ kind, id: local, schema: 'billing' });
      expect(objectNameParts({ kind, id }).schema).to.equal('billing');
      expect(inSchema(inSchema({ kind, id }, undefined), 'billing')).to.deep.equal({ kind, id });
    });

  it('of privileges on a schema always name the schema, also the default schema', () => {
    for (const schema of ['billing', 'public', 'a.b']) {
      const object = { kind: 'privileges', id: idOnTarget('editors', { type: 'schema', id: schema }) } as const;
      expect(objectNameParts(object)).to.deep.include({
        name: 'editors',
        schema,
        target: { type: 'schema', id: schema },
      });
      expect(toLocalObject(object)).to.deep.equal({ ...object, schema });
      expect(fromLocalObject({ ...object, schema: undefined })).to.deep.equal(object);
    }
    const table = objectNameParts({ kind: 'privileges', id: 'editors on schema' });
    expect(table).to.deep.include({ table: 'schema', target: null });
  });

  it('of default privileges contain the words "new tables", and name a schema only if they apply to one', () => {
    for (const [id, schema] of [
      ['editors on new tables', ''],
      ['editors on new tables in schema public', 'public'],
      ['"My role" on new tables in schema "a.b"', 'a.b'],
    ] as const) {
      const { name, target, table } = objectNameParts({ kind: 'privileges', id });
      expect({ target, table }).to.deep.equal({ target: { type: 'new tables', id: schema }, table: null });
      expect(idOnTarget(name, { type: 'new tables', id: schema })).to.equal(id);
      expect(fromLocalObject({ kind: 'privileges', id, schema: 'billing' }).id).to.equal(id);
    }
    for (const id of ['editors on "new tables"', 'editors on tables'])
      expect(objectNameParts({ kind: 'privileges', id }).target).to.equal(null);
  });

  it('keep the schema when the object is renamed', () => {
    expect(renamedId({ kind: 'view', id: 'billing.totals' }, 'a.b')).to.equal('billing."a.b"');
    expect(renamedId({ kind: 'function', id: 'billing.total(integer)' }, 'sum')).to.equal('billing.sum(integer)');
    expect(renamedId({ kind: 'trigger', id: 'audit on billing.invoices' }, 'log')).to.equal('log on billing.invoices');
  });
});
