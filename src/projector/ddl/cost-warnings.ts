/** What a planned change costs, as sentences for the person who is about to apply it. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import type { Statement } from './statement.js';

interface Cost {
  code: string;
  applies: (statement: Statement) => boolean;
  sentence: string | ((statement: Statement, keep: number) => string);
  /** It lasts as long as the table is large. */
  lasts?: true;
}

/** A table as PostgreSQL's statistics have it. */
export interface TableSize {
  /** null: not known. */
  bytes: number | null;
  /** An estimate; null: there is none. */
  rows: number | null;
  /** Seconds since it was made; null: it was counted on the way. */
  age: number | null;
}

/** In the order they are shown for one statement. The codes are part of the interface. */
const COSTS: readonly Cost[] = [
  { code: 'LOSES_DATA', applies: (each) => each.loses_data, sentence: loss },
  {
    code: 'REWRITES_TABLE',
    applies: (each) => each.rewrites_table,
    sentence: 'PostgreSQL rewrites the whole table, which no other session can use meanwhile',
    lasts: true,
  },
  {
    code: 'LONG_LOCK',
    applies: (each) => !each.rewrites_table && scansUnderLock(each),
    sentence: 'the table is locked while PostgreSQL reads all of it',
    lasts: true,
  },
  { code: 'MAY_FAIL', applies: (each) => each.may_fail, sentence: 'existing rows can make PostgreSQL refuse it' },
];

/** Building an index (SHARE) or checking rows holds the lock for as long as the table is big. */
export function scansUnderLock({ lock, may_fail }: Statement): boolean {
  return lock === 'SHARE' || (may_fail && lock !== 'none' && lock !== 'SHARE UPDATE EXCLUSIVE');
}

/** Statements that say until when something is kept are of a plan that has looked into it. */
function loss({ kept_until: until, drops }: Statement, keep: number): string {
  if (until !== undefined) return `data can come back from the trash until ${until}`;
  const mayBeKept = keep > 0 && drops.some(({ kind }) => kind === 'table' || kind === 'column');
  if (!mayBeKept) return 'data is lost for good';
  return `data goes, and can come back from the trash for ${durationText(keep)} where it can be kept there: a dry run says until when, or why not`;
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];

function durationText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => milliseconds % each === 0) ?? ['s', 1_000];
  return `${milliseconds / size}${unit}`;
}

/** Whether it takes the longer, the larger its table is. */
export const takesLong = (statement: Statement): boolean =>
  statement.rewrites_table || scansUnderLock(statement) || statement.preparable?.kind === 'copy';

/** The table whose rows a statement reads. */
export const tableOfRows = ({ object, source }: Statement): string => object.table ?? source.collection;

export interface Known {
  /** Milliseconds that what is deleted would be kept, where that was not looked into. */
  keep?: number;
  /** Of the tables that take long, by name. */
  sizes?: ReadonlyMap<string, TableSize>;
}

/** One warning per cost and statement, in the order of the statements. */
export function* warningsOf(statements: readonly Statement[], { keep = 0, sizes }: Known = {}): Resumable<Warning[]> {
  const warnings: Warning[] = [];
  for (const statement of statements) {
    yield;
    const { collection, field } = statement.source;
    for (const { code, sentence, lasts } of COSTS.filter((cost) => cost.applies(statement))) {
      const said = typeof sentence === 'string' ? sentence : sentence(statement, keep);
      const size = lasts === true ? sizes?.get(tableOfRows(statement)) : undefined;
      const message = `${statement.summary}: ${said}${size === undefined ? '' : sizeSentence(statement, size)}`;
      warnings.push({ code, collection, ...(field === null ? {} : { field }), message });
    }
  }
  return warnings;
}

function sizeSentence({ preparable }: Statement, { bytes, rows, age }: TableSize): string {
  const since = age === null ? 'counted since its statistics began' : `by statistics ${ageText(age)} old`;
  const count = rows === null ? 'a number of rows that is not known yet' : `about ${rows.toLocaleString('en')} rows`;
  const way = preparable === undefined ? 'online, it is not possible' : 'with "online", nobody waits for it';
  const size = bytes === null ? '' : `, ${bytesText(bytes)}`;
  return ` (${count}${size}; ${since}; ${way})`;
}

const bytesText = (bytes: number): string =>
  bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} kB` : `${Math.round(bytes / 1024 ** 2).toLocaleString('en')} MB`;

function ageText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
