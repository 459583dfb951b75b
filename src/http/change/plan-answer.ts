/** What a dry run answers: what would happen, what it would cost, and whether PostgreSQL took it. */
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
  /** What was noticed beside the rules. */
  further?: readonly Warning[];
  /** Milliseconds that what is deleted would be kept, where that was not looked into. */
  keep?: number;
  /** It was asked for online. */
  online?: boolean;
  /** Members that only some plans have. */
  own?: {
    /** What is locked, with its size. */
    tables?: readonly LockedTableFacts[];
    /** Of a restoration: what may stay away, by name. */
    optional?: readonly string[];
  };
}

/** 200, also where PostgreSQL refuses: then `accepted` is false and `errors` says why. */
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

/** What takes long, and is done before the change while the tables are used. */
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
