import { expect } from 'chai';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { UnsafeSqlError } from '../../../src/projector/ddl/sql.js';
import { initialState } from '../../../src/schema/model/state.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { follow } from '../../support/given.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const RELEASE = '1.2.3';

/** A snapshot of one table with these extras. */
function snapshot(extras: unknown, column?: unknown, schema: object = {}) {
  return {
    version: 1,
    service: RELEASE,
    vendor: 'postgres',
    collections: [{ collection: 'a', schema: { extras } }],
    fields: [
      {
        collection: 'a',
        field: 'id',
        type: 'integer',
        schema: { is_primary_key: true, ...schema, ...(column === undefined ? {} : { extras: column }) },
      },
    ],
    relations: [],
  };
}

const read = (document: unknown) =>
  runToEnd(compareSnapshot(initialState(), document, { force: false, mode: 'mirror', release: RELEASE }));

function expectRefused(document: unknown, path: string): void {
  const result = read(document);
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(document)}`);
  expect(result.problems.map((problem) => problem.path)).to.include(path);
}

/** A second statement, other statements, comments, and expressions that are not scalar. */
const HOSTILE_CONSTRAINTS = [
  'CHECK (true); DROP TABLE service.service_events',
  'CHECK (true), DROP COLUMN id',
  'CHECK (true) -- and more',
  'CHECK (true) /* and more',
  'CHECK ((SELECT true))',
  'CHECK (count(*) OVER () > 0)',
  'CHECK ($1)',
  'UNIQUE USING INDEX other',
  'UNIQUE (id) USING INDEX TABLESPACE there',
  'NOT NULL id',
  'true)',
  '',
  'CHECK (\0)',
];

describe('extras of a submitted snapshot', () => {
  for (const definition of HOSTILE_CONSTRAINTS) {
    it(`reject the constraint ${JSON.stringify(definition)}`, () => {
      expectRefused(
        snapshot({ constraints: [{ name: 'c', definition }] }),
        'collections[0].schema.extras.constraints[0].definition',
      );
    });
  }

  for (const definition of [
    'USING btree (id); DROP TABLE a',
    'USING btree (id) TABLESPACE there',
    '(id)',
    'USING btree ((SELECT 1))',
    'USING btree (id) --',
    'USING btree (id) WHERE id IN (SELECT 1)',
  ]) {
    it(`reject the index ${JSON.stringify(definition)}`, () => {
      expectRefused(
        snapshot({ indexes: [{ name: 'i', definition }] }),
        'collections[0].schema.extras.indexes[0].definition',
      );
    });
  }

  it('reject other texts that contain anything else', () => {
    const at = 'collections[0].schema.extras';
    expectRefused(snapshot({ partition_by: 'RANGE (id) WITH (x = 1)' }), `${at}.partition_by`);
    expectRefused(snapshot({ partition_by: 'RANGE (id); SELECT 1' }), `${at}.partition_by`);
    expectRefused(snapshot({ partition_of: { table: 'b', bound: 'DEFAULT; SELECT 1' } }), `${at}.partition_of.bound`);
    expectRefused(snapshot({ needs: [{ kind: 'extension', name: 'file_fdw' }] }), `${at}.needs[0].name`);
    expectRefused(snapshot({ needs: [{ kind: 'extension', name: 'plpython3u' }] }), `${at}.needs[0].name`);
    const domain = { kind: 'domain', name: 'd', type: 'integer; SELECT 1' };
    expectRefused(snapshot({ needs: [domain] }), `${at}.needs[0].type`);
    const checked = { kind: 'domain', name: 'd', type: 'integer', checks: [{ name: 'c', definition: 'UNIQUE (id)' }] };
    expectRefused(snapshot({ needs: [checked] }), `${at}.needs[0].checks[0].definition`);
    expectRefused(
      snapshot({ needs: [{ kind: 'sequence', name: 's', start: '1 OWNED BY x' }] }),
      `${at}.needs[0].start`,
    );
    expectRefused(
      snapshot({ constraints: [{ name: 'x'.repeat(64), definition: 'UNIQUE (id)' }] }),
      `${at}.constraints[0].name`,
    );
    expectRefused(snapshot({ unknown: 1 }), `${at}.unknown`);
    const other = {
      name: 'f',
      definition: 'FOREIGN KEY (id) REFERENCES service.service_users(id)',
      references: 'b',
    };
    expectRefused(snapshot({ constraints: [other] }), `${at}.constraints[0].references`);
  });

  it('reject column texts that contain anything else', () => {
    const at = 'fields[0].schema.extras';
    expectRefused(snapshot(undefined, { default: '1); DROP TABLE a; --' }), `${at}.default`);
    expectRefused(snapshot(undefined, { default: '(SELECT 1)' }), `${at}.default`);
    expectRefused(snapshot(undefined, { collation: '"C" NOT NULL' }), `${at}.collation`);
    expectRefused(snapshot(undefined, { collation: '"C"' }), `${at}.collation`);
    expectRefused(snapshot(undefined, { virtual: true }), `${at}.virtual`);
    expectRefused(snapshot(undefined, { identity: 'always' }), `${at}.identity`);
  });

  it('reject contradictions with other members', () => {
    const two = { primary_key: { name: 'k', columns: ['id', 'other'] } };
    expectRefused(snapshot(two), 'collections[0].schema.extras.primary_key');
    const gone = { name: 'f', definition: 'FOREIGN KEY (id) REFERENCES b(id)', references: 'b' };
    expectRefused(snapshot({ constraints: [gone] }), 'collections[0].schema.extras.constraints[0]');
    expectRefused(
      snapshot({ partition_of: { table: 'b', bound: 'DEFAULT' } }),
      'collections[0].schema.extras.partition_of',
    );
  });

  it('are normalized: empty ones are dropped, and members are ordered', () => {
    const result = read(snapshot({ indexes: [], constraints: [] }));
    expect(result.ok && result.value.desired.state.collections.get('a')?.collection.schema).to.deep.equal({
      comment: null,
    });
    const mixed = read(
      snapshot({ unmanaged: [{ name: 'i', kind: 'index' }], constraints: [{ definition: 'UNIQUE (id)', name: 'c' }] }),
    );
    if (!mixed.ok) throw new Error(JSON.stringify(mixed.problems));
    const { state } = mixed.value.desired;
    expect(JSON.stringify(state.collections.get('a')?.collection.schema)).to.equal(
      '{"comment":null,"extras":{"constraints":[{"name":"c","definition":"UNIQUE (id)"}],' +
        '"unmanaged":[{"kind":"index","name":"i"}]}}',
    );
  });

  it('stay if a later snapshot omits them, and are removed by null', () => {
    const first = read(snapshot({ constraints: [{ name: 'c', definition: 'CHECK ((id > 0))' }] }));
    if (!first.ok) throw new Error(JSON.stringify(first.problems));
    const { state, touched } = first.value.desired;
    const now = follow(initialState(), runToEnd(transition(initialState(), state, touched)));
    const silent = runToEnd(
      compareSnapshot(now, snapshot(undefined), { force: false, mode: 'mirror', release: RELEASE }),
    );
    expect(silent.ok && silent.value.diff.collections).to.deep.equal([]);
    const cleared = runToEnd(compareSnapshot(now, snapshot(null), { force: false, mode: 'mirror', release: RELEASE }));
    if (!cleared.ok) throw new Error(JSON.stringify(cleared.problems));
    const events = runToEnd(transition(now, cleared.value.desired.state, cleared.value.desired.touched));
    expect(runToEnd(planBatch(now, events, 'public')).statements.map(({ sql }) => sql)).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."a" DROP CONSTRAINT IF EXISTS "c"',
    ]);
  });

  it('are parsed again before they become SQL', () => {
    const read1 = read(snapshot({ constraints: [{ name: 'c', definition: 'UNIQUE (id)' }] }));
    if (!read1.ok) throw new Error('refused');
    const [event] = runToEnd(transition(initialState(), read1.value.desired.state, ['a']));
    const forged = JSON.parse(JSON.stringify(event).replace('UNIQUE (id)', 'UNIQUE (id); DROP TABLE a')) as SchemaEvent;
    expect(() => runToEnd(planBatch(initialState(), [forged], 'public'))).to.throw(UnsafeSqlError);
  });
});
