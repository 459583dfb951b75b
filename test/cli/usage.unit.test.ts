/** Command lines that can't be meant: said before anything is asked of a database or a service. */
import { expect } from 'chai';
import { dps } from '../support/dps.js';

/** Nothing listens there: a command that got so far would say so. */
const NOWHERE = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none', DPS_URL: 'http://127.0.0.1:9', DPS_TOKEN: 'x' };

const CASES: [line: string[], said: string][] = [
  [['drift', '--allow-drop'], '--allow-drop goes with --repair.'],
  [['drift', '--repair', '--accept', 'a'], '--repair or --accept, not both.'],
  [['drift', '--dry-run'], '--dry-run goes with --accept.'],
  [['drift', '--repair', '--dry-run'], '--dry-run goes with --accept.'],
  [['history', '--limit', '0'], '--limit must be a number from 1.'],
  [['history', '--limit', 'x'], '--limit must be a number from 1.'],
  [['restore'], 'Name a --file or a --backup.'],
  [['restore', '--file', 'a', '--backup', 'b'], 'Name a --file or a --backup.'],
  [['rebuild'], "missing required argument 'projection'"],
  [['rebuild', 'metadata', '--into', 'x'], '--into goes with "tables".'],
  [['adopt'], 'Name tables, or say --all.'],
  [['adopt', 'a', '--all'], 'Name tables or say --all, not both.'],
  [['verify', '--against', 'http://127.0.0.1:9'], '--against needs --file'],
  [
    ['tokens', 'add', 'a@example.com', '--name', 'x', '--expires', 'soon'],
    '--expires must be a time or a number of days',
  ],
  [['tokens', 'add', 'a@example.com', '--name', 'x', '--expires', '2020-01-01'], '--expires must be in the future.'],
];

describe('a command line that is wrong', () => {
  for (const [line, said] of CASES) {
    it(`dps ${line.join(' ')}`, async () => {
      const { code, out, err } = await dps(line, NOWHERE);
      expect(err).to.contain(said).and.not.contain('127.0.0.1:9 ');
      expect([code, out]).to.deep.equal([2, '']);
    });
  }
});
