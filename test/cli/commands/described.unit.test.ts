import { expect } from 'chai';
import { describeAdoption } from '../../../src/features/adopt/cli.js';
import { describeApplied, describePlan, lossRefusedMessage } from '../../../src/cli/commands/apply.js';
import { describeChecks, type Status, describeStatus } from '../../../src/cli/commands/status.js';
import { describeAcceptance, describeDrift, describeRepair } from '../../../src/features/drift/cli.js';
import { withoutRepetitions, describeTest } from '../../../src/cli/commands/policy.js';
import { describePolicy } from '../../../src/cli/planned-changes.js';
import { describeRebuilt } from '../../../src/features/projections/cli.js';
import { row } from '../../../src/features/trash/cli.js';
import { finding } from '../../../src/doctor/check.js';
import { DEFAULT_POLICY } from '../../../src/schema/policy.js';
import {
  answeredFinding,
  answeredPlan,
  answeredProblem,
  answeredStatement,
  answeredStep,
} from '../../support/answered.js';

const HASH = 'ab'.repeat(32);
const HEAD = { position: 7, hash: HASH, occurred_at: '2026-01-02T03:04:05.678Z' };
const lines = (text: string): string[] => text.split('\n');

describe('dps status', () => {
  const STATUS: Status = {
    release: '0.1.0',
    database: { name: 'app', version: '18.4', schema: 'public', standby: false, lag: 0 },
    log: { position: 0, hash: null, occurred_at: null, actor: null },
    rows: { collections: 0, fields: 0, relations: 0 },
    projections: [],
  };
  const FAILED: Status['projections'][number] = {
    name: 'indexes',
    kind: 'after-commit',
    position: 6,
    lag: 1,
    status: 'failed',
    last_error: {
      position: 7,
      event: { type: 'field.updated', occurred_at: '2026-01-02T03:04:05.678Z', actor: 'Ada' },
      collection: 'a',
      field: 'b',
      sqlstate: '53100',
      message: 'no space left',
      attempts: 3,
      next: 'make space',
    },
    updated_at: null,
  };

  it('describes an empty log', () => {
    expect(lines(describeStatus(STATUS))).to.deep.equal([
      'service   release 0.1.0, PostgreSQL 18.4, database "app", schema "public"',
      'log       position 0, no changes yet',
      'rows      0 collections, 0 fields, 0 relations',
      '',
      'projection  kind  position  lag  status  updated',
    ]);
  });

  it('shows the last change, the standby lag and the failure of a projection', () => {
    const { last_error: error } = FAILED;
    const text = describeStatus({
      ...STATUS,
      database: { ...STATUS.database, standby: true, lag: 1.23_41 },
      log: { position: 7, hash: HASH, occurred_at: HEAD.occurred_at, actor: 'Ada\u001b' },
      rows: { collections: 1, fields: 2, relations: 3 },
      projections: [
        {
          ...FAILED,
          name: 'tables',
          kind: 'transactional',
          position: 7,
          lag: 0,
          status: 'running',
          last_error: null,
          updated_at: HEAD.occurred_at,
        },
        FAILED,
        { ...FAILED, last_error: error && { ...error, field: null, event: null, sqlstate: null } },
        { ...FAILED, last_error: error && { ...error, event: error.event && { ...error.event, actor: null } } },
      ],
    });
    expect(lines(text).slice(1)).to.deep.equal([
      String.raw`log       position 7, last change 2026-01-02T03:04:05.678Z by Ada\u001b`,
      'standby   at most 1.235 s behind its primary',
      'rows      1 collections, 2 fields, 3 relations',
      '',
      'projection  kind           position  lag  status   updated',
      'tables      transactional  7         0    running  2026-01-02T03:04:05.678Z',
      ...Array.from({ length: 3 }, () => 'indexes     after-commit   6         1    failed   never'),
      '',
      'indexes stopped at event 7 (field.updated a.b, 2026-01-02T03:04:05.678Z, by Ada) after 3 attempts.',
      '  PostgreSQL reported: no space left (SQLSTATE 53100)',
      '  Next: make space',
      '',
      'indexes stopped at event 7 (a) after 3 attempts.',
      '  PostgreSQL reported: no space left',
      '  Next: make space',
      '',
      'indexes stopped at event 7 (field.updated a.b, 2026-01-02T03:04:05.678Z, by unknown) after 3 attempts.',
      '  PostgreSQL reported: no space left (SQLSTATE 53100)',
      '  Next: make space',
    ]);
    const nobody = { ...STATUS, log: { position: 7, hash: HASH, occurred_at: HEAD.occurred_at, actor: null } };
    expect(describeStatus(nobody)).to.contain('position 7, last change 2026-01-02T03:04:05.678Z by unknown');
  });
});

describe('dps drift', () => {
  const DRIFT = {
    ok: false,
    tables: [
      { table: 'gone', kind: 'missing' as const, renamed_to: 'new\n', differences: [] },
      {
        table: 'posts',
        kind: 'different' as const,
        differences: [
          {
            field: 'title',
            member: 'column',
            expected: { type: 'text' },
            found: null,
            renamed_to: 'headline',
            repair: {
              database: [
                { sql: 'ALTER TABLE posts ADD title text', summary: '', drops: false },
                { sql: 'ALTER TABLE posts DROP headline', summary: '', drops: true },
              ],
              log: [
                { type: 'field.deleted' as const, collection: 'posts', field: 'title', data: {} },
                { type: 'collection.updated' as const, collection: 'posts', field: null, data: { patch: [] } },
              ],
            },
          },
          { member: 'index i', expected: null, found: 'x', repair: { database: [], log: [] } },
        ],
      },
    ],
    unmanaged: ['legacy', 'a\u001bb'],
    unmanaged_tables: [],
  };

  it('shows each difference and its repair', () => {
    expect(lines(describeDrift(DRIFT as Parameters<typeof describeDrift>[0]))).to.deep.equal([
      String.raw`gone: missing, probably renamed to new\n`,
      'posts: different',
      '  title column: log {"type":"text"}, database null, probably renamed to headline',
      '    database: ALTER TABLE posts ADD title text',
      '    database (drops): ALTER TABLE posts DROP headline',
      '    log: field.deleted posts.title',
      '    log: collection.updated posts',
      '  index i: log null, database "x"',
      String.raw`Not managed: legacy, a\u001bb.`,
    ]);
    expect(describeDrift({ ok: true, tables: [], unmanaged: [], unmanaged_tables: [] })).to.equal(
      'The database matches the log.',
    );
  });

  it('shows what was repaired, what was not and why, and the remaining drift', () => {
    const done = { sql: 'CREATE TABLE a ()', summary: '', drops: false };
    const text = describeRepair({
      made: [done],
      left: [{ ...done, sql: 'DROP TABLE b', drops: true, reason: 'it drops an object or may lose values' }],
      drift: { ok: true, tables: [], unmanaged: ['c'], unmanaged_tables: [] },
    });
    expect(lines(text)).to.deep.equal([
      'done: CREATE TABLE a ()',
      'skipped: DROP TABLE b',
      '      (it drops an object or may lose values)',
      'The database matches the log.',
      'Not managed: c.',
    ]);
  });

  it('shows what was accepted and what still differs', () => {
    const report = {
      changed: ['a'],
      deleted: ['b'],
      renamed: [{ from: 'c', to: 'd' }],
      renamed_fields: [{ collection: 'a', from: 'x', to: 'y' }],
      not_accepted: [
        { collection: 'e', field: 'f', code: 'X', message: 'no' },
        { collection: 'e', code: 'Y', message: 'never' },
      ],
      not_represented: [{ table: 'a', kind: 'trigger', name: 't', code: 'TRIGGER', message: 'stays' }],
    } as unknown as Parameters<typeof describeAcceptance>[0];
    expect(lines(describeAcceptance(report, false))).to.deep.equal([
      '~ a',
      '- b',
      '~ c is now d',
      '  a.x is now a.y',
      'Accepted the drift of 3 tables.',
      '! e.f still differs: no',
      '! e still differs: never',
      '  TRIGGER on a: stays',
    ]);
    const one = { ...report, deleted: [], renamed: [], renamed_fields: [], not_accepted: [], not_represented: [] };
    expect(lines(describeAcceptance(one, true))).to.deep.equal(['~ a', 'Would accept the drift of 1 table.']);
  });
});

describe('dps adopt', () => {
  it('lists adopted tables, rejected ones and unsupported objects, each once', () => {
    const note = { table: 'a', kind: 'trigger', name: 't', code: 'TRIGGER', message: 'has a trigger' };
    const report = {
      adopted: ['a', 'b'],
      relations: 1,
      refused: [{ table: 'c\n', code: 'NAME_NOT_ALLOWED' as const, message: 'its name' }],
      not_represented: [note, { ...note, table: 'b' }, { ...note, table: null, code: 'VIEW', message: 'is a view' }],
    };
    expect(lines(describeAdoption(report))).to.deep.equal([
      '+ a',
      '+ b',
      'Adopted 2 tables with 1 relation.',
      String.raw`! c\n stays unmanaged: its name`,
      'Not included in snapshots:',
      '  TRIGGER on a, b: has a trigger',
      '  VIEW: is a view',
    ]);
    const nothing = { adopted: [], relations: 0, refused: [], not_represented: [] };
    const many = Array.from({ length: 312 }, (_, index) => ({
      table: `t${index % 40}`,
      kind: 'column setting',
      name: `c${index}`,
      code: 'COLUMN_SETTING_NOT_REPRESENTED',
      message: `setting of c${index}`,
    }));
    expect(lines(describeAdoption({ ...nothing, not_represented: many })).slice(1)).to.deep.equal([
      'Not included in snapshots:',
      '  COLUMN_SETTING_NOT_REPRESENTED: 312 objects of kind "column setting" on 40 tables (--json lists them)',
    ]);
    const warnings = [{ code: 'X', collection: 'a', message: 'careful' }];
    expect(lines(describeAdoption({ ...nothing, dry_run: true, warnings }))).to.deep.equal([
      'Would adopt 0 tables with 0 relations.',
      '! X a: careful',
    ]);
  });
});

describe('dps apply', () => {
  it('shows the plan and whether PostgreSQL accepts it', () => {
    const event = { type: 'collection.created', version: 1, collection: 'a', field: null, data: {} } as const;
    const plan = answeredPlan({
      events: [event, event],
      statements: [answeredStatement({ summary: 'create table a' })],
    });
    expect(lines(describePlan(plan))).to.deep.equal([
      'create table a',
      'Plan: 2 events, 1 statement. PostgreSQL accepts it.',
    ]);
    const warnings = [answeredFinding({ code: 'X', collection: 'a', field: 'b', message: 'careful' })];
    const errors = [answeredProblem('it can not be')];
    expect(lines(describePlan({ ...plan, warnings, accepted: false, errors }))).to.deep.equal([
      'create table a',
      '! X a.b: careful',
      'Plan: 2 events, 1 statement. PostgreSQL rejects it:',
      '  it can not be',
    ]);
    const { kind, collection, field, summary, rows, bytes } = answeredStep('copy');
    const online = { collections: ['a'], steps: [{ kind, collection, field, summary, rows, bytes }] };
    expect(lines(describePlan({ ...plan, accepted: true, errors, online }))).to.deep.equal([
      'create table a',
      'Prepared first, while the tables stay in use:',
      '  copy',
      'Plan: 2 events, 1 statement.',
    ]);
  });

  it('shows the events, statements, position and batch of an applied change', () => {
    const applied = { batch: 'b7', position: 9, events: 1, statements: 0 };
    expect(describeApplied(applied)).to.equal('Applied: 1 event, 0 statements; position 9, batch b7.');
    expect(describeApplied({ ...applied, batch: null })).to.equal(
      'Applied: 1 event, 0 statements; position 9, batch none.',
    );
  });

  it('names the option that allows data loss, quoted for a shell', () => {
    expect(lossRefusedMessage(['posts.title', 'a b', "it's"])).to.equal(
      "Nothing was changed: the data of posts.title, a b, it's would be lost. To allow that, use --allow-drop posts.title " +
        String.raw`--allow-drop 'a b' --allow-drop 'it'\''s'`,
    );
  });
});

describe('dps doctor', () => {
  it('lists the checks, their findings and the fixes', () => {
    const example = finding('SERVICE_MISSING', 'one\ntwo');
    expect(
      lines(
        describeChecks([
          { name: 'database', result: 'ok', findings: [] },
          { name: 'log', result: 'error', findings: [example] },
        ]),
      ),
    ).to.deep.equal([
      'ok       database',
      'error    log',
      '         SERVICE_MISSING: one',
      '         two',
      `         Fix: ${example.fix}`,
      '1 finding.',
    ]);
    expect(describeChecks([])).to.equal('No problems found.');
  });
});

describe('dps lint', () => {
  it('prints repeated findings once', () => {
    const one = { code: 'A', collection: 'a', field: 'f', message: 'm' };
    const others = [
      { ...one, code: 'B' },
      { ...one, collection: 'b' },
      { ...one, field: 'g' },
      { ...one, message: 'n' },
    ];
    const all = [one, ...others] as unknown as Parameters<typeof withoutRepetitions>[0];
    expect(withoutRepetitions([...all, ...all])).to.deep.equal(all);
  });
});

describe('dps policy', () => {
  it('shows the policy, or that none is set', () => {
    const none = { ...DEFAULT_POLICY, author_may_approve: false };
    expect(lines(describePolicy(none))).to.deep.equal([
      'Each finding is shown with its own level, and nothing is rejected.',
      'Required approvals of a change request: 1; its author cannot approve.',
    ]);
    const some = {
      findings: { LOSES_DATA: 'refuse' },
      collections: [{ pattern: 'pay*', findings: { REWRITES_TABLE: 'approve' } }],
      online_above_rows: 1_000_000,
      approvals: 2,
      author_may_approve: true,
      requires_reason: true,
      policy_changes: 'approve',
    };
    expect(lines(describePolicy(some as unknown as Parameters<typeof describePolicy>[0]))).to.deep.equal([
      'LOSES_DATA: refuse',
      'REWRITES_TABLE for pay*: approve',
      'Online changes are required above 1,000,000 rows.',
      'Required approvals of a change request: 2; its author may approve.',
      'Every change requires a reason.',
      'A policy change requires an approved change request.',
    ]);
  });

  it('shows the outcome for a change', () => {
    const messagesOf = (outcome: Parameters<typeof describeTest>[0]['outcome'], approvals: number | null = 2) =>
      describeTest({ outcome, approvals, findings: [] });
    expect(messagesOf('allowed')).to.equal('The policy allows it.');
    expect(messagesOf('acknowledge')).to.equal('The policy requires an acknowledgement.');
    expect(messagesOf('approve')).to.equal('The policy requires approvals of a change request (2).');
    expect(messagesOf('approve', null)).to.equal('The policy requires approvals of a change request.');
    expect(messagesOf('refuse')).to.equal('The policy rejects it.');
    const findings = [answeredFinding({ code: 'X', collection: 'a', message: 'careful' })];
    expect(lines(describeTest({ outcome: 'refuse', approvals: null, findings }))[0]).to.equal('! X a: careful');
  });
});

describe('dps rebuild', () => {
  it('shows the position and what was done', () => {
    const rebuilt = {
      name: 'metadata',
      position: 7,
      inserted_rows: 3,
      locked_milliseconds: 2,
      milliseconds: 5,
    } as unknown as Parameters<typeof describeRebuilt>[0];
    expect(describeRebuilt(rebuilt)).to.equal(
      'metadata: at position 7, 3 inserted rows, locked for 2 ms, 5 ms in total.',
    );
    const more = {
      name: 'tables',
      position: 7,
      made: ['CREATE TABLE a ()'],
      left: [{ statement: 'DROP TABLE b', reason: 'it drops' }],
      differences: [{ where: 'catalog', collection: 'b', member: 'table', expected: null, found: 'b' }],
    } as unknown as Parameters<typeof describeRebuilt>[0];
    expect(lines(describeRebuilt(more))).to.deep.equal([
      'tables: at position 7.',
      '  done: CREATE TABLE a ()',
      '  skipped: DROP TABLE b (it drops)',
      '1 difference:',
      '  catalog b table: expected nothing, found "b"',
    ]);
  });
});

describe('dps trash', () => {
  it('shows a row for each table and field, and marks unknown values', () => {
    const entry: Parameters<typeof row>[0] = {
      position: 3,
      kind: 'collection',
      identity: 'i',
      batch: 'b',
      publications: [],
      kept_in: null,
      foreign_keys: [],
      collection: 'a',
      field: null,
      deleted_at: 'then',
      kept_until: 'later',
      rows: 0,
      bytes: 8_192,
      deleted_by: { id: 'u1', name: 'Ada\n' },
    };
    expect(row(entry)).to.deep.equal(['3', 'a', '0', '8192', 'then', String.raw`Ada\n`, 'later']);
    expect(row({ ...entry, field: 'f', rows: null, bytes: null, deleted_by: null })).to.deep.equal([
      '3',
      'a.f',
      '?',
      '?',
      'then',
      '?',
      'later',
    ]);
  });
});
