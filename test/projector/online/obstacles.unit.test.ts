import { expect } from 'chai';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { Preparable, Statement } from '../../../src/projector/ddl/step.js';
import { findObstacle } from '../../../src/projector/online/plan.js';
import type { TableFacts } from '../../../src/projector/online/steps.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { added, changed, column, created, deleted, dropped, renamed } from '../columns.js';

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

/** The table `t` has `a` and `b`, and a foreign key would reference `o`. */
const BEFORE = follow(initialState(), [
  created('t', [column('a', 'integer'), column('b', 'string')]),
  created('o'),
  created('keyless', [column('keyless.id', 'integer', { is_primary_key: true, is_nullable: false })]),
]);

const kinds = {
  'not null': { kind: 'not null', column: 'a' },
  index: { kind: 'index', name: 'i', unique: false, definition: sql`("a")` },
  key: { kind: 'key', name: 'k', type: 'UNIQUE', definition: sql`(a)`, after: sql`` },
  check: { kind: 'constraint', name: 'c', references: null, definition: sql`CHECK (a > 0)` },
  'foreign key': { kind: 'constraint', name: 'f', references: 'o', definition: sql`FOREIGN KEY (a) REFERENCES o (id)` },
  'foreign key to itself': {
    kind: 'constraint',
    name: 'f',
    references: 't',
    definition: sql`FOREIGN KEY (a) REFERENCES t (id)`,
  },
  copy: {
    kind: 'copy',
    column: { name: 'b', identity: '1.3' },
    key: [{ name: 'a', identity: '1.2' }],
    position: 7,
  },
} satisfies Record<string, Preparable>;
type Kind = keyof typeof kinds;

interface ObstacleInput {
  kind?: Kind | null;
  facts?: Partial<TableFacts>;
  version?: number;
  events?: NewEvent[];
  field?: string | null;
  rewrites?: boolean;
  /** Another table that the foreign key references. */
  references?: string;
}

function obstacleOf({ kind = 'not null', facts = {}, version = 180_000, events = [], ...given }: ObstacleInput) {
  const { field = 'a', rewrites = false, references } = given;
  const statement = { summary: 'do it', rewrites_table: rewrites, source: { collection: 't', field } } as Statement;
  return findObstacle({
    change: {
      id: '',
      before: BEFORE,
      after: follow(BEFORE, events),
      events,
      statements: [],
      schema: 'public',
    },
    statement,
    prepared:
      kind === null ? undefined : { table: 't', key: 'k', what: { ...kinds[kind], ...(references && { references }) } },
    facts: { ...FACTS, ...facts },
    version,
  });
}

const reasonOf = (input: ObstacleInput): unknown => obstacleOf(input)?.details?.['reason'] ?? null;

const all = Object.keys(kinds) as Kind[];

describe('obstacles to a preparation', () => {
  it('do not exist for an ordinary table', () => {
    expect(all.map((kind) => obstacleOf({ kind }))).to.deep.equal(all.map(() => null));
  });

  it('are reported with their statement and location', () => {
    const reason = 'PostgreSQL rewrites the whole table';
    const problem = {
      code: 'ONLINE_NOT_POSSIBLE',
      message: `An online change cannot do it: ${reason}. Send it without online, or remove it.`,
      collection: 't',
      details: { reason },
    };
    expect(obstacleOf({ rewrites: true })).to.deep.equal({ ...problem, field: 'a' });
    expect(obstacleOf({ rewrites: true, field: null })).to.deep.equal(problem);
  });

  it('name what PostgreSQL does not support', () => {
    expect(reasonOf({ kind: null })).to.equal(
      'PostgreSQL reads the whole table under its lock, and cannot do that beforehand',
    );
    expect(reasonOf({ kind: null, rewrites: true })).to.equal('PostgreSQL rewrites the whole table');
  });

  const CONCURRENTLY = 'PostgreSQL has no CREATE INDEX CONCURRENTLY for a partitioned table';
  const NOT_VALID = 'before version 18, PostgreSQL does not support a NOT VALID foreign key on a partitioned table';
  const ELSEWHERE =
    'statements on other tables (its partitions, or tables that it inherits from) also change rows of the table';
  const partitioned: Record<Kind, [before18: string | null, since: string | null]> = {
    'not null': [null, null],
    index: [CONCURRENTLY, CONCURRENTLY],
    key: [CONCURRENTLY, CONCURRENTLY],
    check: [null, null],
    'foreign key': [NOT_VALID, null],
    'foreign key to itself': [NOT_VALID, null],
    copy: [ELSEWHERE, ELSEWHERE],
  };
  for (const kind of all) {
    it(`depend on the PostgreSQL release for a partitioned table: ${kind}`, () => {
      const reasons = [179_999, 180_000].map((version) => reasonOf({ kind, version, facts: { kind: 'partitioned' } }));
      expect(reasons).to.deep.equal(partitioned[kind]);
      expect(reasonOf({ kind, version: 170_000 })).to.equal(null);
    });
  }

  it('include rows that triggers or reads of a copy miss', () => {
    const reasons: [Partial<TableFacts>, string][] = [
      [{ related: true }, ELSEWHERE],
      [{ subscribed: true }, 'logical replication writes rows of the table, and the service cannot track those writes'],
      [{ policed: true }, 'row-level security applies to the owner of the table, so the service cannot read all rows'],
    ];
    for (const [facts, reason] of reasons) {
      expect(reasonOf({ kind: 'copy', facts })).to.equal(reason);
      expect(reasonOf({ kind: 'not null', facts })).to.equal(null);
    }
  });

  it('include other changes to the table', () => {
    const reason = 'the same change renames the table. Send the rename first, as a separate change';
    const away = [renamed('t', 'u')];
    // It has the former name of another one.
    const instead = [renamed('t', 'u'), created('t', [column('a', 'integer'), column('b', 'string')])];
    const round = [renamed('t', 'u'), renamed('u', 't')];
    for (const events of [away, instead, round, [deleted('t')]]) {
      expect(reasonOf({ events })).to.equal(reason);
    }
    expect(reasonOf({ events: [renamed('o', 'p')] })).to.equal(null);
    expect(reasonOf({ events: [renamed('t.b', 'c')] })).to.equal(null);
  });

  it('include other changes to its columns', () => {
    const reason = (name: string) =>
      `the same change creates, renames or alters the column "${name}". Send that first, as a separate change`;
    const retyped = changed(column('a', 'integer'), column('a', 'bigInteger'));
    const generated = changed(column('a', 'integer'), column('a', 'integer', { generation_expression: '1' }));
    const commented = changed(column('a', 'integer'), column('a', 'integer', { comment: 'c' }));
    const meant = (events: NewEvent[]) => all.map((kind) => reasonOf({ kind, events }));
    const everywhere = all.map(() => reason('a'));
    expect(meant([retyped])).to.deep.equal(everywhere);
    expect(meant([generated])).to.deep.equal(everywhere);
    expect(meant([dropped(column('a', 'integer'))])).to.deep.equal(everywhere);
    expect(meant([renamed('t.a', 'z'), renamed('t.z', 'a')])).to.deep.equal(everywhere);
    expect(meant([renamed('t.b', 'z'), dropped(column('a', 'integer')), renamed('t.z', 'a')])).to.deep.equal(
      everywhere,
    );
    const none = all.map(() => null);
    expect(meant([commented])).to.deep.equal(none);
    expect(meant([added(column('keyless.a', 'integer'))])).to.deep.equal(none);
    // The dropped column does not block the copy of its values.
    expect(meant([renamed('keyless.id', 'a')])).to.deep.equal(none);
    expect(reasonOf({ kind: 'copy', events: [dropped(column('b', 'string'))] })).to.equal(null);
  });

  it('include other changes to a referenced table', () => {
    const makes = 'the same change creates the table "o". Send that first, as a separate change';
    const rekeyed = [
      changed(
        column('o.id', 'integer', { is_primary_key: true, is_nullable: false, has_auto_increment: true }),
        column('o.id', 'integer', { is_nullable: false, has_auto_increment: true }),
      ),
    ];
    const foreign = (events: NewEvent[]) => reasonOf({ kind: 'foreign key', events });
    expect(foreign([deleted('o')])).to.equal(makes);
    expect(foreign([renamed('o', 'p')])).to.equal(makes);
    expect(foreign(rekeyed)).to.equal(
      'the same change alters the primary key of "o". Send that first, as a separate change',
    );
    expect(foreign([renamed('o.id', 'key')])).to.equal(
      'the same change alters the primary key of "o". Send that first, as a separate change',
    );
    expect(foreign([added(column('o.more', 'integer'))])).to.equal(null);
    expect(foreign([deleted('keyless')])).to.equal(null);
    const made = reasonOf({ kind: 'foreign key', references: 'n', events: [created('n')] });
    expect(made).to.equal('the same change creates the table "n". Send that first, as a separate change');
    // An unmanaged one.
    expect(reasonOf({ kind: 'foreign key', references: 'n' })).to.equal(null);
    expect(reasonOf({ kind: 'check', events: [deleted('o')] })).to.equal(null);
  });
});
