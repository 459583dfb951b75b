/** Describes plans: their findings under the current policy, and the tables they lock. Nothing is locked or run. */
import { findEmptyTables } from '../projector/catalog/table-facts.js';
import { judgeFindings } from '../projector/findings.js';
import { type LockedTableFacts, listLockedTables } from '../projector/online/steps.js';
import type { Statement } from '../projector/ddl/step.js';
import type pg from 'pg';
import { ProblemError, type Warning } from '../kernel/problem.js';
import { isLocked } from '../postgres/errors.js';
import { withClient } from '../postgres/pool.js';
import { warnAboutDescendants } from '../projector/inheritance/descendants.js';
import { findEquivalent } from '../projector/verify/objects.js';
import type { ObjectEquality } from '../schema/compare/desired-state.js';
import type { Definition } from '../schema/model/object-document.js';
import type { Finding } from '../schema/findings/model.js';
import type { Plan } from '../schema/findings/planned-batch.js';
import { collectionsChanged } from '../schema/fold/event-schemas.js';
import type { LogEvent } from '../schema/model/events.js';
import type { State } from '../schema/model/state.js';
import type { FindingWithAction } from '../schema/policy.js';
import type { RecreatedObjects } from '../schema/transition/restoring-transition.js';
import { warnAboutMentions, findReturns } from './history/difference.js';
import { findBlockingRows } from './history/rows-before.js';

export interface DescribedPlan extends Plan {
  statements: readonly Statement[];
  /** Warnings that do not come from rules. */
  warnings: readonly Warning[];
  /** Warnings to list after those about recreated objects. */
  further?: readonly Warning[];
  /** Known identities of recreated objects. All other objects are matched by name. */
  again?: RecreatedObjects;
}

export interface PlanReads {
  /**
   * Returns the findings and the tables that the plan locks. The findings include recreated objects and rows that would
   * make the plan fail.
   */
  describe(plan: DescribedPlan): Promise<{ warnings: FindingWithAction<Finding>[]; tables: LockedTableFacts[] }>;
  /** Returns the findings without those about recreated objects. */
  findings(plan: Omit<DescribedPlan, 'again' | 'further'>): Promise<FindingWithAction<Finding>[]>;
  /** Returns warnings about tables that inherit from those that a diff changes. */
  warnAboutDescendants(before: State, events: readonly LogEvent[]): Promise<Warning[]>;
  /**
   * Asks PostgreSQL which definitions mean the same as those of existing objects. On a standby, none do, because it
   * cannot create a temporary view.
   */
  equality(pairs: readonly [string, string][]): Promise<ObjectEquality>;
  /** Returns the tables that the statements lock, with their sizes. */
  lockedTables(statements: readonly Statement[]): Promise<LockedTableFacts[]>;
}

/** @param schema of the tables */
export function createPlanReads({ pool, schema }: { pool: pg.Pool; schema: string }): PlanReads {
  const findings: PlanReads['findings'] = async ({ warnings, ...plan }) => {
    const mentions = await warnAboutMentions(pool, { ...plan, touched: collectionsChanged(plan.events) });
    return judgeFindings(pool, schema, { plan, noticed: [...warnings, ...mentions] });
  };
  const tables: PlanReads['lockedTables'] = async (statements) => {
    const locked = await listLockedTables(pool, { schema, statements });
    const empty = await findEmptyTables(pool, schema, statements);
    return locked.map((each) => (empty.has(each.table) ? { ...each, rows: 0, bytes: 0, empty: true } : each));
  };
  return {
    async describe({ again, further = [], ...plan }) {
      const returns = await findReturns(pool, schema, { ...plan, ...(again && { again }) });
      const rows = await findBlockingRows(pool, schema, plan);
      return {
        warnings: await findings({ ...plan, warnings: [...plan.warnings, ...returns, ...rows, ...further] }),
        tables: await tables(plan.statements),
      };
    },
    findings,
    warnAboutDescendants: (state, events) => warnAboutDescendants(pool, { state, events, schema }),
    equality: (pairs) => readEquality(pool, pairs),
    lockedTables: tables,
  };
}

async function readEquality(pool: pg.Pool, pairs: readonly [string, string][]): Promise<ObjectEquality> {
  const same = new Set<string>();
  const keyOf = (existing: Definition, definition: Definition): string => JSON.stringify([existing, definition]);
  if (pairs.length > 0) {
    await withClient(pool, async (client) => {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '5s'`);
      try {
        for (const [existing, definition] of await findEquivalent(client, pairs)) same.add(keyOf(existing, definition));
      } catch (error) {
        if (!isLocked(error)) throw error;
        const message = 'A table that a view uses is locked, so the views cannot be compared now. Try again.';
        throw new ProblemError({ code: 'LOCK_TIMEOUT', message }, error);
      } finally {
        await client.query('ROLLBACK');
      }
    });
  }
  return { isSame: (existing, definition) => same.has(keyOf(existing, definition)) };
}
