import { expect } from 'chai';
import type pg from 'pg';
import { foldChangesOf } from '../../../src/features/change-requests/rows.js';
import { verifyChanges } from '../../../src/projector/verify/index.js';
import { type Instance, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

const ROWS = 2_500;

describe('verifying change request rows', () => {
  let database: TestDatabase;
  let instance: Instance;
  let answers: number[];
  let db: pg.Pool;

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    db = {
      async query(text: string, values?: unknown[]) {
        const result = await instance.pool.query(text, values);
        answers.push(result.rows.length);
        return result;
      },
    } as unknown as pg.Pool;
  });

  beforeEach(() => {
    answers = [];
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  it('reads all pages, and reports rows that the log does not contain', async () => {
    expect(await verifyChanges(db, 0)).to.deep.equal([]);
    await instance.pool.query(`
      INSERT INTO service.service_changes (id, state, collections, held, opened_position, request)
      SELECT id, 'queued', '{t}', '{}', n, jsonb_build_object('id', id, 'state', 'queued', 'collections', '["t"]'::jsonb)
        FROM (SELECT n, lpad(to_hex(n), 32, '0')::uuid AS id FROM generate_series(0, ${ROWS - 1}) n) AS made`);
    answers = [];
    const differences = await verifyChanges(db, 0);
    expect(differences).to.have.length(ROWS);
    expect(new Set(differences.map(({ member }) => member))).to.have.property('size', ROWS);
    expect(differences[0]).to.deep.equal({
      where: 'changes',
      collection: 't',
      member: 'change request 00000000-0000-0000-0000-000000000000',
      expected: null,
      found: 'queued',
    });
    expect(Math.max(...answers)).to.be.at.most(1_000);
  });

  it('folds into one map', async () => {
    const requests = new Map();
    expect(await foldChangesOf(db, { after: 0, upTo: 0 }, requests)).to.equal(requests);
  });
});
