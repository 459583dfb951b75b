import { expect } from 'chai';
import { createDatabase } from '../../support/postgres.js';
import { startInstance } from '../../support/instance.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { adopt, expectVerified, promote, runSql, startAdoptFixture } from './round-trip.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const TABLE = String.raw`CREATE TABLE spelled (
  id integer PRIMARY KEY,
  bytes bytea DEFAULT '\xdeadbeef',
  backslash text DEFAULT E'a\\b',
  real double precision DEFAULT 0.123456789012345 CHECK (real > 0.123456789012345),
  lasting interval DEFAULT '1 day -02:00:00',
  plain text,
  at timestamp with time zone DEFAULT '2024-01-02 03:04:05+00',
  day date DEFAULT '2024-02-29'
);`;

describe('adopting under other settings', () => {
  const SETTINGS = [
    'bytea_output = escape',
    'standard_conforming_strings = off',
    'extra_float_digits = -15',
    'IntervalStyle = iso_8601',
    'IntervalStyle = sql_standard',
    'quote_all_identifiers = on',
    `DateStyle = 'German, DMY'`,
    `TimeZone = 'Asia/Kathmandu'`,
  ];

  for (const setting of SETTINGS) {
    it(`${setting} makes no difference`, async () => {
      const [usual, target] = [await startAdoptFixture(TABLE), await startAdoptFixture()];
      const database = await createDatabase();
      await runSql(database, TABLE);
      const name = new URL(database.connectionString).pathname.slice(1);
      await runSql(database, `ALTER DATABASE "${name}" SET ${setting}`);
      const instance = await startInstance(database.connectionString);
      try {
        await adopt(usual.instance);
        await adopt(instance);
        const [expected, actual] = [usual.instance, instance].map(({ store }) =>
          runToEnd(snapshotOf(store.current(), '1.2.3')),
        );
        expect(actual).to.deep.equal(expected);
        await expectVerified(instance);
        await promote(instance, target.instance);
        await expectVerified(target.instance);
      } finally {
        await instance.stop();
        await database.drop();
        await usual.stop();
        await target.stop();
      }
    });
  }
});
