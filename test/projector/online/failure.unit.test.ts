import { expect } from 'chai';
import pg from 'pg';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { Preparable } from '../../../src/projector/ddl/step.js';
import { createStepFailure } from '../../../src/projector/online/index.js';
import { preparedName } from '../../../src/projector/online/copy.js';
import type { EngineStep } from '../../../src/projector/online/steps.js';
import { PreparationRefused, type PreparationStep, type StepContext } from '../../../src/projector/online/types.js';

const ID = '5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f11';
const OURS = preparedName(ID, 'k');

const databaseError = (code: string, message: string) =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code });

function failure(what: Preparable, error: Error, notNullBy: EngineStep['notNullBy'] = 'check'): Promise<unknown> {
  const step = {
    kind: 'validate',
    prepared: { table: 't', key: 'k', what },
    notNullBy,
    offending: null,
    source: { event: 2, type: 'field.updated', collection: 't', field: 'a' },
  } as EngineStep;
  const context = { id: ID } as StepContext;
  return createStepFailure(context, { summary: 'validate it' } as PreparationStep, step, error);
}

const expectedProblem = (reason: string, sqlstate: string) => ({
  code: 'DATABASE_REFUSED',
  message: `PostgreSQL failed to validate it: ${reason}`,
  collection: 't',
  field: 'a',
  details: { reason, sqlstate, statement: 'validate it', event: 2 },
});

async function problemOf(...given: Parameters<typeof failure>): Promise<unknown> {
  const error = await failure(...given);
  if (!(error instanceof PreparationRefused)) throw new Error('tried again', { cause: error });
  expect(error.cause).to.equal(given[1]);
  expect(error.problems).to.have.length(1);
  return error.problems[0];
}

describe('the failure of a step', () => {
  const notNull: Preparable = { kind: 'not null', column: 'a' };
  const key: Preparable = { kind: 'key', name: 'u', type: 'UNIQUE', definition: sql`(a)`, after: sql`` };
  const copy: Preparable = { kind: 'copy', column: { name: 'a', identity: '1.2' }, key: [], position: 7 };

  it('is reported as NOT NULL if its check stands for NOT NULL', async () => {
    const violated = databaseError('23514', `check constraint "${OURS}" of relation "t" is violated by some row`);
    expect(await problemOf(notNull, violated)).to.deep.equal(
      expectedProblem('column "a" of relation "t" contains null values', '23502'),
    );
    expect(await problemOf(notNull, violated, 'constraint')).to.deep.equal(expectedProblem(violated.message, '23514'));
    const other = databaseError('22P02', 'no');
    expect(await problemOf(notNull, other)).to.deep.equal(expectedProblem('no', '22P02'));
  });

  it('contains the final name of an index instead of its temporary name', async () => {
    const error = databaseError('23505', `could not create unique index "${OURS}": "${OURS}"`);
    expect(await problemOf(key, error)).to.deep.equal(
      expectedProblem('could not create unique index "u": "u"', '23505'),
    );
    expect(await problemOf(copy, error)).to.deep.equal(expectedProblem(error.message, '23505'));
  });

  it('is not final if it is temporary', async () => {
    const passing = [
      databaseError('3F000', 'schema "service_trash_0" does not exist'),
      databaseError('55P03', 'canceling statement due to lock timeout'),
      databaseError('57P01', 'terminating connection'),
      databaseError('53100', 'could not extend file'),
      new Error('the table was truncated while its values were copied; the copy starts again'),
    ];
    for (const error of passing) expect(await failure(notNull, error)).to.equal(error);
  });
});
