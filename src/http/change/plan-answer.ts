/** The response to a dry run: statements, costs, and whether PostgreSQL accepted them. */
import type { Plan } from '../../pipeline/types.js';
import type { LogEvent } from '../../schema/model/events.js';
import { judgedFindings } from '../../projector/findings/index.js';
import type { Statement } from '../../projector/ddl/statement.js';
import type { LockedTableFacts } from '../../projector/online/locked-tables.js';
import type { Warning } from '../../kernel/warning.js';
import type { Answer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { errorBody } from '../errors.js';
import { largeJsonAnswer } from '../answer/json-text.js';

export interface PlanExtras {
  /** Warnings from other sources than the rules. */
  further?: readonly Warning[];
  /** The retention in milliseconds, if it was not determined per object. */
  keep?: number;
  /** True if an online change was requested. */
  online?: boolean;
  /** Members that only some plans have. */
  own?: {
    /** The locked tables with their sizes. */
    tables?: readonly LockedTableFacts[];
    /** For a restore: the names of parts that may be left out. */
    optional?: readonly string[];
  };
}

/** 200 even if PostgreSQL rejects the change. `accepted` is then false and `errors` has the reason. */
export async function planAnswer(
  { pool, schema }: Pick<HttpDeps, 'pool'> & { schema: string },
  run: Plan,
  { further = [], keep = 0, online = false, own }: PlanExtras = {},
): Promise<Answer> {
  const { accepted, refusal: problem, events, statements, before, warnings, preparation } = run;
  const noticed = [...warnings, ...(preparation?.warnings ?? []), ...further];
  const plan = {
    accepted,
    ...(problem !== undefined && errorBody([problem])),
    events: events.map(shownEvent),
    statements: statements.map(shownStatement),
    warnings: await judgedFindings(pool, schema, { plan: { ...run, keep, online }, noticed }),
    ...own,
    ...(preparation && { online: preparedFirst(preparation) }),
  };
  return { ...(await largeJsonAnswer(plan)), position: before.position };
}

const shownEvent = ({ type, version, collection, field, data, subject }: LogEvent): object => ({
  type,
  version,
  collection,
  field,
  data,
  ...(subject && { subject }),
});

/** A statement as plans show it. */
export function shownStatement(statement: Statement): object {
  const { sql, summary, lock, loses_data, rewrites_table, may_fail, source } = statement;
  const { event, collection, field } = source;
  return { sql, summary, lock, loses_data, rewrites_table, may_fail, event, collection, field };
}

/** Slow steps that run before the change while the tables stay in use. */
function preparedFirst({ collections, steps }: NonNullable<Plan['preparation']>): object {
  return {
    collections,
    steps: steps.map(({ kind, collection, field, summary, rows, bytes }) => ({
      kind,
      collection,
      field,
      summary,
      rows,
      bytes,
    })),
  };
}
