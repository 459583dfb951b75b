/** Other names for a column's constraints and index, and the other kind of identity, where the parts themselves stay. */
import { isIdentity } from '../../schema/extras.js';
import type { Statement } from '../statement.js';
import { type Change, statement } from './change.js';
import { type ColumnField, needsUnique } from './column.js';
import { indexNameOf, uniqueNameOf } from './owned-names.js';
import { label, tableOf } from './parts.js';
import { type Sql, ident, qualified, sql } from './sql.js';

export function renameParts(change: Change, old: ColumnField, now: ColumnField): Statement[] {
  const statements: Statement[] = [];
  const put = (text: Sql, summary: string): void => {
    statements.push(statement(change, text, summary, { lock: 'ACCESS EXCLUSIVE', lock_entries: 2 }));
  };
  if (needsUnique(old) && needsUnique(now) && uniqueNameOf(old) !== uniqueNameOf(now)) {
    const names = sql`${ident(uniqueNameOf(old))} TO ${ident(uniqueNameOf(now))}`;
    put(sql`ALTER TABLE ${tableOf(change)} RENAME CONSTRAINT ${names}`, `rename the constraint of ${label(now)}`);
  }
  if (old.schema.is_indexed && now.schema.is_indexed && indexNameOf(old) !== indexNameOf(now)) {
    const index = qualified(change.schema, indexNameOf(old));
    put(sql`ALTER INDEX ${index} RENAME TO ${ident(indexNameOf(now))}`, `rename the index of ${label(now)}`);
  }
  if (isIdentity(old.schema) && isIdentity(now.schema) && old.schema.extras?.identity !== now.schema.extras?.identity) {
    const kind = now.schema.extras?.identity === 'always' ? sql`ALWAYS` : sql`BY DEFAULT`;
    const column = sql`ALTER COLUMN ${ident(now.field)} SET GENERATED ${kind}`;
    put(sql`ALTER TABLE ${tableOf(change)} ${column}`, `change who may set ${label(now)}`);
  }
  return statements;
}
