/**
 * Every member of extras on an existing object: a change through the log alters PostgreSQL or is rejected with its
 * location, and a manual change is drift. A member without a row here fails the test.
 */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { expect } from 'chai';
import type pg from 'pg';
import { type Difference, verify } from '../../../src/projector/verify/index.js';
import { scriptOf } from '../../../src/reads/history/index.js';
import type { Outcome } from '../../../src/pipeline/index.js';
import type { Problem } from '../../../src/kernel/problem.js';
import { columnExtras, tableExtras } from '../../../src/schema/model/extras.js';
import { testServer } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import { COLUMNS, type Row, TABLES } from './every-member.js';
import { NEEDS } from './every-need.js';
import {
  type AdoptFixture,
  adopt,
  expectReplayed,
  expectVerified,
  runSql,
  startAdoptFixture,
  tryPromoting,
} from './round-trip.js';

const ROWS: readonly Row[] = [...COLUMNS, ...TABLES, ...NEEDS];

/** `sequence.cache`, `needs.domain.type`: leaves of the shapes. */
function membersOf(shape: object, prefix: string): string[] {
  return Object.entries(shape).flatMap(([name, inner]) => {
    const unwrapped = (inner as { unwrap?(): object }).unwrap?.() ?? (inner as object);
    const object = (unwrapped as { shape?: object }).shape;
    if (object !== undefined) return membersOf(object, `${prefix}${name}.`);
    const element = (unwrapped as { element?: { shape?: object; options?: { shape: object }[] } }).element;
    if (element?.shape !== undefined) return membersOf(element.shape, `${prefix}${name}.`);
    if (element?.options === undefined) return [prefix + name];
    return element.options.flatMap((option) => {
      const { kind, name: _, ...rest } = option.shape as { kind: { value: string }; name: object };
      const needs = membersOf(rest, `${prefix}${name}.${kind.value}.`);
      return [`${prefix}${name}.${kind.value}`, ...needs];
    });
  });
}

describe('every member of extras on an existing object', () => {
  let fixture: AdoptFixture;
  before(async () => {
    fixture = await startAdoptFixture();
  });
  after(() => fixture.stop());

  it('has a test row', () => {
    const members = [...membersOf(columnExtras.shape, 'column.'), ...membersOf(tableExtras.shape, 'table.')];
    expect([...new Set(ROWS.map(({ member }) => member))].sort()).to.deep.equal(members.sort());
  });

  /** Applies an edit of the instance's own snapshot and returns the rejections. */
  async function changed(row: Row, table: string): Promise<Problem[]> {
    const { instance } = fixture;
    const edit: Parameters<typeof tryPromoting>[2] = {
      edit: ({ collections, fields }) => {
        const collection = collections.find((each) => (each as { collection: string }).collection === table);
        const field = fields.find((each) => each.collection === table && each.field === 'x');
        const document = (row.member.startsWith('column.') ? field : collection) as { schema: { extras?: object } };
        document.schema.extras = { ...document.schema.extras, ...row.change(table) };
      },
    };
    const outcome: Outcome | Problem[] = await (async () => tryPromoting(instance, instance, edit))().catch(
      (error: Error) => JSON.parse(error.message) as Problem[],
    );
    if (Array.isArray(outcome)) return outcome;
    return outcome.kind === 'refused' ? outcome.problems : [];
  }

  async function verifyTampered(sql: string): Promise<Difference[]> {
    const client: pg.PoolClient = await fixture.instance.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(sql);
      return (await verify(client, fixture.instance.store.current(), 'public')).differences;
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  for (const [index, row] of ROWS.entries()) {
    it(`${row.member}: ${row.what ?? 'changed'}`, async function () {
      const { majorVersion } = await testServer();
      if (majorVersion < (row.since ?? 0)) this.skip();
      const table = `t${index}`;
      const { instance } = fixture;
      await runSql(fixture.database, row.sql(table));
      await adopt(instance);
      await expectVerified(instance);
      if (row.byHand !== undefined) {
        const differences = await verifyTampered(row.byHand(table));
        expect(
          differences.map(({ member }) => member),
          'by hand',
        ).to.include(row.noticed?.(table));
      }
      const before = await catalogText(instance.pool);
      const problems = await changed(row, table);
      const output = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
      if (row.refused !== undefined) {
        expect(output, output).to.match(row.refused);
        expect(await catalogText(instance.pool)).to.deep.equal(before);
      } else {
        expect(output).to.equal('');
        const lines = await catalogText(instance.pool);
        const fresh = lines.filter((line) => !before.includes(line)).join('\n');
        expect(fresh, 'in the catalog').to.match(row.carried ?? /^(?!.)/);
      }
      await expectVerified(instance);
    });
  }

  it('gives the same result in a replay and after the SQL export', async () => {
    const { instance } = fixture;
    await expectReplayed(instance);
    const exported = await startAdoptFixture();
    await runSql(
      exported.database,
      runToEnd(scriptOf(instance.store.point(), { schema: 'public', serviceSchema: 'service' })).toString(),
    );
    const lines = await catalogText(exported.instance.pool);
    await exported.stop();
    expect(lines).to.deep.equal(await catalogText(instance.pool));
  });
});
