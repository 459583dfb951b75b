/**
 * Random sequences of all operations, including rejected ones, through the real pipeline. After each step, fold,
 * metadata rows and catalog agree. Failed sequences are stored in fixtures/seeds.json and replayed first. The steps
 * themselves are stored, because a seed changes its meaning with the generator.
 */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { withClient } from '../../src/postgres/pool.js';
import { qualified } from '../../src/projector/ddl/sql.js';
import { verify } from '../../src/projector/verify/index.js';
import { evolve } from '../../src/schema/fold/evolve.js';
import type { OperationName } from '../../src/schema/operations/index.js';
import type { Problem } from '../../src/kernel/problem.js';
import { snapshotHash } from '../../src/schema/snapshot/snapshot.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { parsed } from '../support/given.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { CAUSE, type Instance, startInstance } from '../support/instance.js';
import { moveOf } from './moves.js';
import { type Step, steps } from './steps.js';
import { eventsOf } from '../support/log.js';
import { runToEnd } from '../../src/kernel/resumable.js';

const RUNS = Number(process.env['SEQUENCES'] ?? 15);
const FIXTURES = new URL('../fixtures/seeds.json', import.meta.url);

const EXPECTED = new Set(['INVALID_PAYLOAD', 'NOT_FOUND', 'ALREADY_EXISTS', 'IN_USE', 'DATABASE_REFUSED']);

describe('random sequences of commands', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let instance: Instance;
  const seen = new Map<string, number>();

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
  });
  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const state = (): State => instance.store.point().state;

  /** @returns the problems of a rejection; undefined on success */
  const run = async (name: OperationName, input: unknown): Promise<Problem[] | undefined> => {
    const command = parsed(name, input);
    if (!command.ok) return command.problems;
    const outcome = await instance.pipeline.apply(name, command.value, { cause: { ...CAUSE, command: name } });
    if (outcome.kind === 'replayed') throw new Error('nothing was to be replayed');
    return outcome.kind === 'refused' ? outcome.problems : undefined;
  };

  const take = async (taken: Step): Promise<void> => {
    const move = moveOf(taken, state());
    if ('fill' in move) {
      const insert = `INSERT INTO ${qualified('public', move.fill)} DEFAULT VALUES`;
      // Rows that are not allowed are skipped.
      for (const text of [insert, insert]) await instance.pool.query(text).catch(() => undefined);
      return;
    }
    const before = state();
    const problems = await run(move.operation, move.input);
    const outcome = problems === undefined ? 'done' : (problems[0]?.code ?? '');
    seen.set(`${move.operation} ${outcome}`, (seen.get(`${move.operation} ${outcome}`) ?? 0) + 1);
    if (problems !== undefined) {
      expect(EXPECTED, JSON.stringify(problems)).to.include(outcome);
      expect(state(), 'a refused command changed the state').to.equal(before);
    }
  };

  const expectVerified = async (after: unknown): Promise<void> => {
    const { differences } = await withClient(instance.pool, (client) => verify(client, state(), 'public'));
    expect(differences, `${JSON.stringify(after)}: ${JSON.stringify(differences)}`).to.deep.equal([]);
  };

  const clear = async (): Promise<void> => {
    for (const collection of state().collections.keys()) {
      const problems = await run('delete-collection', { collection });
      expect(problems, `${collection} can not be deleted: ${JSON.stringify(problems)}`).to.equal(undefined);
    }
  };

  it('keep fold, metadata rows and catalog equal after every step', async () => {
    const { sequences } = JSON.parse(await readFile(FIXTURES, 'utf8')) as { sequences: Step[][] };
    const property = fc.asyncProperty(steps, async (sequence) => {
      try {
        for (const taken of sequence) {
          await take(taken);
          await expectVerified(taken);
        }
      } finally {
        await clear();
      }
      await expectVerified('clear');
    });
    await fc.assert(property, {
      numRuns: RUNS + sequences.length,
      examples: sequences.map((each): [Step[]] => [each]),
      interruptAfterTimeLimit: 240_000,
    });
  });

  it('fold from the log to the same schema', async () => {
    let folded = initialState();
    for (const event of await eventsOf(instance.pool)) folded = evolve(folded, event);
    expect(runToEnd(snapshotHash(folded, '1.2.3'))).to.equal(runToEnd(snapshotHash(state(), '1.2.3')));
  });

  it('include acceptance and rejection of every operation', () => {
    const names = [
      'create-collection',
      'create-field',
      'update-fields',
      'delete-field',
      'create-relation',
      'update-relation',
    ];
    for (const name of names) {
      expect(seen.get(`${name} done`), `${name} is never done`).to.be.greaterThan(0);
      expect([...seen.keys()].filter((each) => each.startsWith(name)).length, name).to.be.greaterThan(1);
    }
  });
});
