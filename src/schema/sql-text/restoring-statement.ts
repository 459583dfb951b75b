/* Checks statements of the catalog that restore a property of an object. */
import { parseSync } from 'libpg-query';
import type { Statement } from './expression.js';

/** Statements that give an object its privileges, comments, defaults, triggers, rules, owner and statistics target. */
const RESTORING: ReadonlySet<string> = new Set([
  'GrantStmt',
  'CommentStmt',
  'AlterTableStmt',
  'AlterOwnerStmt',
  'RuleStmt',
  'CreateTrigStmt',
  'AlterStatsStmt',
]);

/** Returns why a text is not one statement that restores a property, or null. */
export function restoringFault(text: string): string | null {
  try {
    const { stmts = [] } = parseSync(text) as { stmts?: Statement[] };
    const [kind = ''] = Object.keys((stmts[0]?.stmt as object | undefined) ?? {});
    return stmts.length === 1 && RESTORING.has(kind) ? null : 'it is another statement';
  } catch (error) {
    return (error as Error).message;
  }
}
