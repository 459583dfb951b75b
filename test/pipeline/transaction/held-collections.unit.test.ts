import { expect } from 'chai';
import { MAX_PROBLEMS, type Problem } from '../../../src/kernel/problem.js';
import { findHeldConflicts, findHeldProblems } from '../../../src/pipeline/transaction/decide.js';
import type { Statement } from '../../../src/projector/ddl/step.js';
import type { LogEvent } from '../../../src/schema/model/events.js';

const inUseProblem = (collection: string, change: string): Problem => ({
  code: 'IN_USE',
  message: `Change request ${change} is preparing a change to "${collection}". Wait for it, or withdraw it (POST /changes/${change}/withdraw).`,
  collection,
  details: { change },
});

const HELD = [
  { id: 'one', collections: ['orders', 'items'] },
  { id: 'two', collections: ['people'] },
];

/** A statement that comes from an event of `source`, changes `table`, and takes a lock if `isLocking`. */
const statement = (source: string, table: string | null, isLocking = true): Statement =>
  ({
    locks: isLocking ? [{ table: source, lock: 'ACCESS EXCLUSIVE' }] : [],
    object: { table },
    source: { event: 0, type: 'collection.updated', collection: source, field: null },
  }) as unknown as Statement;

const event = (type: LogEvent['type'], collection: string | null, data: object): LogEvent =>
  ({ type, version: 1, collection, field: 'f', data }) as LogEvent;

describe('a change to a table in preparation', () => {
  const stopped = (what: { events?: LogEvent[]; statements?: Statement[]; change?: string }) =>
    findHeldProblems({ events: [], statements: [], ...what }, HELD);

  it('is rejected for each table with the blocking request', () => {
    const statements = [statement('items', 'orders'), statement('people', null), statement('free', 'free')];
    expect(stopped({ statements })).to.deep.equal([
      inUseProblem('orders', 'one'),
      inUseProblem('items', 'one'),
      inUseProblem('people', 'two'),
    ]);
  });

  it('is allowed for the request itself, and if nothing is prepared', () => {
    const statements = [statement('items', 'orders'), statement('people', null)];
    expect(stopped({ statements, change: 'one' })).to.deep.equal([inUseProblem('people', 'two')]);
    expect(findHeldProblems({ events: [], statements }, [])).to.deep.equal([]);
  });

  it('is allowed if it locks nothing or only references the table', () => {
    expect(stopped({ statements: [statement('orders', 'orders', false)] })).to.deep.equal([]);
    expect(stopped({ events: [event('collection.updated', 'orders', { patch: [] })] })).to.deep.equal([]);
  });

  it('is rejected even if its DDL runs outside the transaction', () => {
    const adopted = (isAdopted: boolean) => event('field.updated', 'orders', { patch: [], adopted: isAdopted });
    expect(stopped({ events: [adopted(true)] })).to.deep.equal([inUseProblem('orders', 'one')]);
    expect(stopped({ events: [adopted(false)] })).to.deep.equal([]);
    const indexed = event('field.updated', 'items', { patch: [], concurrent_indexes: true });
    expect(stopped({ events: [indexed] })).to.deep.equal([inUseProblem('items', 'one')]);
    expect(stopped({ events: [event('policy.updated', null, { adopted: true })] })).to.deep.equal([]);
  });

  it('is reported for a limited number of tables', () => {
    const names = Array.from({ length: MAX_PROBLEMS + 5 }, (_, index) => `t${index}`);
    const statements = names.map((name) => statement(name, name));
    const problems = findHeldProblems({ events: [], statements }, [{ id: 'all', collections: names }]);
    expect(problems).to.deep.equal(names.slice(0, MAX_PROBLEMS).map((name) => inUseProblem(name, 'all')));
    expect(findHeldConflicts([{ id: 'all', collections: names }], { id: 'mine', collections: names })).to.deep.equal(
      problems,
    );
  });
});

describe('a new preparation', () => {
  it('waits for other requests on its tables, not for itself', () => {
    const mine = (id: string) => findHeldConflicts(HELD, { id, collections: ['people', 'items'] });
    expect(mine('new')).to.deep.equal([inUseProblem('items', 'one'), inUseProblem('people', 'two')]);
    expect(mine('two')).to.deep.equal([inUseProblem('items', 'one')]);
    expect(findHeldConflicts(HELD, { id: 'new', collections: ['free'] })).to.deep.equal([]);
  });
});
