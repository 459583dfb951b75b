/** Applying the same snapshot again changes nothing, for columns with two ways to state a default. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { limitRuns } from '../../support/runs.js';

const TYPES =
  'string text integer bigInteger float decimal boolean date time dateTime timestamp json uuid csv hash'.split(' ');
const IN_WORDS = [
  'now()',
  "'x'::text",
  "lower('X')",
  '1',
  '1 + 1',
  "'2020-01-01'::date",
  'gen_random_uuid()',
  'true',
  "'{}'::json",
  '0',
  'CURRENT_DATE',
  "'1'::numeric",
  '1.50',
  "'x'",
  "'{}'",
  'LOCALTIMESTAMP',
  "md5('x')",
];
const VALUES = [null, 0, 1, 2, 1.5, 'x', '', 'now()', true, '2020-01-01', 'gen_random_uuid()', 'CURRENT_DATE', {}];

const column = fc.record(
  {
    type: fc.constantFrom(...TYPES),
    schema: fc.record(
      {
        default_value: fc.constantFrom(...VALUES),
        extras: fc.record({ default: fc.constantFrom(...IN_WORDS), precision: fc.nat(6) }, { requiredKeys: [] }),
        is_nullable: fc.boolean(),
        has_auto_increment: fc.boolean(),
        max_length: fc.constantFrom(5, 300),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['type', 'schema'] },
);

const key = {
  collection: 'c',
  field: 'id',
  type: 'integer',
  schema: { is_primary_key: true, has_auto_increment: true },
};

function compare(state: State, field: object) {
  const fields = [key, { collection: 'c', field: 'f', ...field }];
  const snapshot = {
    version: 1,
    service: 'r',
    vendor: 'postgres',
    collections: [{ collection: 'c', schema: {} }],
    fields,
  };
  return runToEnd(compareSnapshot(state, snapshot, { force: false, mode: 'mirror', release: 'r' }));
}

describe('a submitted column', () => {
  it('changes nothing when submitted again', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(column, { minLength: 1, maxLength: 3 }), (columns) => {
        let state = initialState();
        for (const each of columns) {
          const first = compare(state, each);
          if (!first.ok) continue;
          accepted += 1;
          state = first.value.desired.state;
          const again = compare(state, each);
          expect(again.ok ? again.value.diff : again.problems).to.deep.equal({
            collections: [],
            fields: [],
            relations: [],
          });
        }
      }),
      limitRuns(5_000),
    );
    expect(accepted).to.be.above(50);
  });

  it('is rejected with contradicting value and SQL, even if the SQL exists', () => {
    const words = { type: 'csv', schema: { extras: { default: "'2020-01-01'::date" } } };
    const there = compare(initialState(), words);
    if (!there.ok) throw new Error(JSON.stringify(there.problems));
    const both = { type: 'csv', schema: { ...words.schema, default_value: 'x' } };
    for (const state of [initialState(), there.value.desired.state]) {
      const refused = compare(state, both);
      expect(refused.ok ? [] : refused.problems.map(({ path }) => path)).to.deep.equal([
        'fields[1].schema.extras.default',
      ]);
    }
  });
});
