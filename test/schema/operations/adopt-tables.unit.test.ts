import { expect } from 'chai';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { type CatalogFindings, adoptTables } from '../../../src/schema/operations/adopt-tables.js';
import { defaultPrimaryKey } from '../../../src/schema/normal-form/index.js';
import { tableOf } from '../../projector/columns.js';
import { withRelations } from '../../support/library.js';

const NOTHING: CatalogFindings = { tables: [], relations: [], completed: [], missing: [], refused: [] };

/** `code path` of every problem, or types and names of the events. */
function adopt(body: unknown, findings: Partial<CatalogFindings> = {}): string[] {
  const command = runToEnd(stepsTo(adoptTables.parse({ body })));
  const result = command.ok
    ? runToEnd(stepsTo(adoptTables.decide(withRelations(), { ...command.value, found: { ...NOTHING, ...findings } })))
    : command;
  if (result.ok) return result.value.map(({ type, collection }) => `${type} ${collection}`);
  return result.problems.map(({ code, path }) => `${code} ${path ?? ''}`.trim());
}

const table = (collection: string) => ({ collection: tableOf(collection), fields: [defaultPrimaryKey(collection)] });

describe('a request to adopt tables', () => {
  it('names tables, or all of them', () => {
    expect(adopt([])).to.deep.equal(['INVALID_PAYLOAD']);
    expect(adopt({})).to.deep.equal(['INVALID_PAYLOAD']);
    expect(adopt({ tables: ['a'], all: true, foo: 1 })).to.deep.equal(['INVALID_PAYLOAD foo', 'INVALID_PAYLOAD']);
    expect(adopt({ all: false })).to.deep.equal(['INVALID_PAYLOAD all']);
    expect(adopt({ tables: [] })).to.deep.equal(['INVALID_PAYLOAD tables']);
    expect(adopt({ tables: 'a' })).to.deep.equal(['INVALID_PAYLOAD tables']);
  });

  it('reports invalid and repeated names', () => {
    expect(adopt({ tables: ['a', 1, 'a', null] })).to.deep.equal([
      'INVALID_PAYLOAD tables[1]',
      'INVALID_PAYLOAD tables[3]',
    ]);
    expect(adopt({ tables: ['a', 'b', 'a', 'b', 'c'] })).to.deep.equal([
      'INVALID_PAYLOAD tables[2]',
      'INVALID_PAYLOAD tables[3]',
    ]);
  });

  it('reports every unsupported table with its reason', () => {
    const findings = { missing: ['nope'], refused: [{ table: 'odd', message: 'is a view' }], tables: [table('fine')] };
    expect(adopt({ tables: ['articles', 'fine', 'nope', 'odd'] }, findings)).to.deep.equal([
      'ALREADY_EXISTS tables[0]',
      'NOT_FOUND tables[2]',
      'INVALID_PAYLOAD tables[3]',
    ]);
  });

  it('adopts them, and skips unsupported ones when all are requested', () => {
    const catalog = { refused: [{ table: 'odd', message: 'is a view' }], tables: [table('a'), table('b')] };
    expect(adopt({ tables: ['a', 'b'] }, { tables: catalog.tables })).to.deep.equal([
      'collection.adopted a',
      'collection.adopted b',
    ]);
    expect(adopt({ all: true }, catalog)).to.deep.equal(['collection.adopted a', 'collection.adopted b']);
  });
});
