/** Why a statement can't be prepared, where no server of the tests has the reason. */
import { expect } from 'chai';
import { obstacleTo } from '../../../src/projector/online/obstacles.js';
import type { Prepared } from '../../../src/projector/online/preparables.js';
import type { TableFacts } from '../../../src/projector/online/table-facts.js';

const FACTS: TableFacts = {
  name: 't',
  kind: 'table',
  bytes: 1e9,
  rows: 1e6,
  age: 1,
  uses: null,
  subscribed: false,
  related: false,
  policed: false,
};

const reasonOf = (what: object, facts: Partial<TableFacts>, version = 180_000): unknown => {
  const statement = { summary: 'do it', source: { collection: 't', field: 'f' } };
  const prepared = { table: 't', key: 'k', what } as unknown as Prepared;
  const judged = { change: {}, statement, prepared, facts: { ...FACTS, ...facts }, version };
  return obstacleTo(judged as unknown as Parameters<typeof obstacleTo>[0])?.details?.['reason'];
};

describe('obstacles to a preparation', () => {
  it('name logical replication, by which rows come that no trigger sees', () => {
    expect(reasonOf({ kind: 'copy' }, { subscribed: true })).to.match(/rows of the table come by logical replication/);
  });

  it('name the release before which foreign keys of partitioned tables were always validated', () => {
    const foreignKey = { kind: 'constraint', references: 'other', definition: '' };
    expect(reasonOf(foreignKey, { kind: 'partitioned' }, 170_000)).to.match(/before release 18/);
  });
});
