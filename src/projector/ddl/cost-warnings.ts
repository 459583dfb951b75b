/** What a planned change costs, as sentences for the person who is about to apply it. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import type { Statement } from './statement.js';

type Cost = {
  code: string;
  applies: (statement: Statement) => boolean;
  sentence: string | ((statement: Statement) => string);
};

/** In the order they are shown for one statement. The codes are part of the interface. */
const COSTS: readonly Cost[] = [
  {
    code: 'LOSES_DATA',
    applies: (each) => each.loses_data,
    sentence: ({ kept_until: until }) =>
      until === undefined ? 'data is lost for good' : `data can come back from the trash until ${until}`,
  },
  {
    code: 'REWRITES_TABLE',
    applies: (each) => each.rewrites_table,
    sentence: 'PostgreSQL rewrites the whole table, which no other session can use meanwhile',
  },
  {
    code: 'LONG_LOCK',
    applies: (each) => !each.rewrites_table && scansUnderLock(each),
    sentence: 'the table is locked while PostgreSQL reads all of it',
  },
  { code: 'MAY_FAIL', applies: (each) => each.may_fail, sentence: 'existing rows can make PostgreSQL refuse it' },
];

/** Building an index (SHARE) or checking rows holds the lock for as long as the table is big. */
export function scansUnderLock({ lock, may_fail }: Statement): boolean {
  return lock === 'SHARE' || (may_fail && lock !== 'none' && lock !== 'SHARE UPDATE EXCLUSIVE');
}

/** One warning per cost and statement, in the order of the statements. */
export function* warningsOf(statements: readonly Statement[]): Resumable<Warning[]> {
  const warnings: Warning[] = [];
  for (const statement of statements) {
    yield;
    const { collection, field } = statement.source;
    for (const { code, sentence } of COSTS.filter((cost) => cost.applies(statement))) {
      const said = typeof sentence === 'string' ? sentence : sentence(statement);
      const message = `${statement.summary}: ${said}`;
      warnings.push({ code, collection, ...(field === null ? {} : { field }), message });
    }
  }
  return warnings;
}
