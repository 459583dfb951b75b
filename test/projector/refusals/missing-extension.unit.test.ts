import { expect } from 'chai';
import { nameExtension } from '../../../src/projector/refusals/missing-extension.js';
import type { Problem } from '../../../src/kernel/problem.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { column, created } from '../columns.js';

const AFTER = follow(initialState(), [
  created('t', [
    column('t.a', 'text'),
    column('t.place', 'geometry.Point', { data_type: 'geometry(Point,4326)' }),
    column('t.word', 'unknown', { data_type: 'citext[]' }),
    column('t.area', 'unknown', { data_type: 'geography' }),
  ]),
  created('plain', [column('plain.a', 'text')]),
]);

const refused = (where: Pick<Problem, 'collection' | 'field'>, sqlstate = '42704'): Problem => ({
  code: 'DATABASE_REFUSED',
  message: 'type does not exist',
  ...where,
  details: { sqlstate, reason: 'r' },
});

const expectedProblem = (field: string, name: string, extension: string): Problem => ({
  code: 'DATABASE_REFUSED',
  message:
    `field "${field}" of collection "t" has a type of the extension ${name}, which is not installed in this database. ` +
    `Ask a database administrator to run CREATE EXTENSION ${extension}`,
  collection: 't',
  field,
  details: { sqlstate: '42704', reason: 'r', extension },
});

describe('an error about a missing extension', () => {
  it('names the extension of the field', () => {
    const messagesOf = (field: string) => nameExtension(refused({ collection: 't', field }), AFTER);
    expect(messagesOf('place')).to.deep.equal(expectedProblem('place', 'PostGIS', 'postgis'));
    expect(messagesOf('area')).to.deep.equal(expectedProblem('area', 'PostGIS', 'postgis'));
    expect(messagesOf('word')).to.deep.equal(expectedProblem('word', 'citext', 'citext'));
  });

  it('names the first field of a new table that needs one', () => {
    expect(nameExtension(refused({ collection: 't' }), AFTER)).to.deep.equal(
      expectedProblem('place', 'PostGIS', 'postgis'),
    );
  });

  it('is unchanged for other causes', () => {
    const others: Problem[] = [
      refused({ collection: 't', field: 'a' }),
      refused({ collection: 't', field: 'gone' }),
      refused({ collection: 'plain' }),
      refused({ collection: 'gone' }),
      refused({ collection: 'gone', field: 'a' }),
      refused({}),
      refused({ collection: 't', field: 'place' }, '42P01'),
      { code: 'DATABASE_REFUSED', message: 'no', collection: 't', field: 'place' },
    ];
    for (const problem of others) expect(nameExtension(problem, AFTER)).to.equal(problem);
  });
});
