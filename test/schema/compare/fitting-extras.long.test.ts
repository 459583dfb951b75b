import { runToEnd } from '../../../src/kernel/resumable.js';
import { expect } from 'chai';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { type State, initialState } from '../../../src/schema/model/state.js';

interface Kind {
  type: string;
  schema: { [member: string]: unknown };
}

const PLAIN = {
  default_value: null,
  is_nullable: true,
  is_unique: false,
  is_indexed: false,
  is_primary_key: false,
  has_auto_increment: false,
  generation_expression: null,
};
const kind = (type: string, schema: object = {}): Kind => ({ type, schema: { ...PLAIN, ...schema } });

const KINDS: { [name: string]: Kind } = {
  plain: kind('integer'),
  'with a default': kind('integer', { default_value: 1 }),
  'not null': kind('integer', { is_nullable: false }),
  unique: kind('integer', { is_unique: true }),
  indexed: kind('integer', { is_indexed: true }),
  'unique and indexed': kind('integer', { is_unique: true, is_indexed: true }),
  counting: kind('integer', { has_auto_increment: true, is_nullable: false }),
  'counting and unique': kind('bigInteger', { has_auto_increment: true, is_nullable: false, is_unique: true }),
  'a key': kind('integer', { is_primary_key: true, is_unique: true, is_nullable: false }),
  'a counting key': kind('integer', {
    is_primary_key: true,
    is_unique: true,
    is_nullable: false,
    has_auto_increment: true,
  }),
  generated: kind('integer', { generation_expression: '1 + 1' }),
  string: kind('string', { max_length: 20 }),
  text: kind('text', { is_unique: true }),
  time: kind('time'),
  timestamp: kind('timestamp', { is_indexed: true }),
  json: kind('json'),
  uuid: kind('uuid', { default_value: 'gen_random_uuid()' }),
  decimal: kind('decimal', { numeric_precision: 10, numeric_scale: 2 }),
};

const EXTRAS: readonly { [member: string]: unknown }[] = [
  { precision: 3 },
  { precision: 6 },
  { collation: '"C"' },
  { default: '1' },
  { default: '1 + 1' },
  { default: 'now()' },
  { default: "nextval('s'::regclass)" },
  { identity: 'always' },
  { virtual: true },
  { sequence: { name: 'counts' } },
  { sequence: { start: '1' } },
  { sequence: { start: '5', cycle: true } },
  { primary_key_name: 'p' },
  { unique_name: 'u' },
  { index_name: 'i' },
  { not_null_name: 'n' },
  { unique_name: 'u', index_name: 'i' },
  { identity: 'always', sequence: { increment: '2' } },
];

const id = {
  collection: 'c',
  field: 'id',
  type: 'integer',
  schema: { is_primary_key: true, has_auto_increment: true },
};

function submit(state: State, { type, schema }: Kind) {
  const field = { collection: 'c', field: 'f', type, schema };
  const snapshot = {
    version: 1,
    service: 'r',
    vendor: 'postgres',
    collections: [{ collection: 'c', schema: { extras: { needs: [{ kind: 'sequence', name: 's' }] } } }],
    fields: schema['is_primary_key'] === true ? [field] : [id, field],
    relations: [],
  };
  return runToEnd(compareSnapshot(state, snapshot, { force: false, mode: 'mirror', release: 'r' }));
}

/** The locations at which the extras do not fit, in order. */
function findMisfits(state: State, column: Kind): string[] {
  const answer = submit(state, column);
  const paths = answer.ok ? [] : answer.problems.map(({ path }) => String(path));
  return paths.filter((path) => path.includes('.extras')).map((path) => path.replace(/^fields\[\d\]\./, ''));
}

interface Column {
  name: string;
  column: Kind;
  /** The misfits of the column in an empty database. */
  misfits: string[];
}

const COLUMNS: Column[] = Object.entries(KINDS).flatMap(([name, { type, schema }]) =>
  EXTRAS.map((extras) => {
    const column = { type, schema: { ...schema, extras } };
    return { name: `${name} with ${JSON.stringify(extras)}`, column, misfits: findMisfits(initialState(), column) };
  }),
);

/** States with a column of each kind, with and without extras. */
function states(): { name: string; state: State }[] {
  const all = [...COLUMNS, ...Object.entries(KINDS).map(([name, column]) => ({ name, column }))];
  return all.flatMap(({ name, column }) => {
    const answer = submit(initialState(), column);
    return answer.ok ? [{ name, state: answer.value.desired.state }] : [];
  });
}

describe('extras of a column', () => {
  it('include fitting and unfitting ones in this test', () => {
    for (const extras of EXTRAS) {
      const [member = ''] = Object.keys(extras);
      const source = COLUMNS.filter(({ column }) => column.schema['extras'] === extras);
      expect(
        source.some((each) => each.misfits.length === 0),
        `${member} fits no column`,
      ).to.equal(true);
      expect(
        source.some((each) => each.misfits.includes(`schema.extras.${member}`)),
        `${member} fits every column`,
      ).to.equal(true);
    }
  });

  it('are accepted or rejected regardless of existing objects', () => {
    // Every state meets every eighth column, and every column every eighth state.
    for (const [turn, { name: there, state }] of states().entries()) {
      for (const { name, column, misfits: expected } of COLUMNS.filter((_, index) => (index + turn) % 8 === 0)) {
        expect(findMisfits(state, column), `${name}, where there is ${there}`).to.deep.equal(expected);
      }
    }
  });

  it('change nothing when accepted extras are sent again', () => {
    let taken = 0;
    for (const { name, column } of COLUMNS) {
      const first = submit(initialState(), column);
      if (!first.ok) continue;
      taken += 1;
      const again = submit(first.value.desired.state, column);
      const nothing = { collections: [], fields: [], relations: [] };
      expect(again.ok ? again.value.diff : again.problems, name).to.deep.equal(nothing);
    }
    expect(taken).to.be.above(70);
  });
});
