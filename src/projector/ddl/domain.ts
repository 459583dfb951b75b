/** CREATE DOMAIN and ALTER DOMAIN. */
import type { Domain } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { type Sql, collationName, constraintDefinition, expression, ident, join, sql, typeName } from './sql.js';

/** CREATE DOMAIN does not accept NOT VALID checks, so those are added afterwards. */
export function createDomain(name: Sql, { type, collation, not_null, default: value, checks = [] }: Domain): Sql {
  const parts = [sql`CREATE DOMAIN ${name} AS ${typeName(type)}`];
  if (collation !== undefined) parts.push(sql`COLLATE ${collationName(collation)}`);
  if (value !== undefined) parts.push(sql`DEFAULT ${expression(value)}`);
  if (not_null === true) parts.push(sql`NOT NULL`);
  const later: Sql[] = [];
  for (const check of checks) {
    if (check.definition.endsWith(' NOT VALID')) later.push(sql`; ALTER DOMAIN ${name} ADD ${checkOf(check)}`);
    else parts.push(checkOf(check));
  }
  return sql`${join(parts, sql` `)}${join(later, sql``)}`;
}

type Check = NonNullable<Domain['checks']>[number];

const checkOf = ({ name, definition }: Check): Sql =>
  sql`CONSTRAINT ${ident(name)} ${constraintDefinition(definition)}`;

/** The statements end with a semicolon. The base type and the collation do not change. */
export function alterDomain(old: Domain, now: Domain, name: Sql): Sql[] {
  const changes: Sql[] = [];
  if (old.default !== now.default) {
    changes.push(now.default === undefined ? sql`DROP DEFAULT` : sql`SET DEFAULT ${expression(now.default)}`);
  }
  if (old.not_null !== now.not_null) changes.push(now.not_null === true ? sql`SET NOT NULL` : sql`DROP NOT NULL`);
  const [before, after] = [old.checks ?? [], now.checks ?? []];
  const isIn = (checks: readonly Check[]) => (check: Check) => checks.some((each) => jsonEqual(check, each));
  const [gone, come] = [before.filter((each) => !isIn(after)(each)), after.filter((each) => !isIn(before)(each))];
  for (const check of [...gone, ...come]) changes.push(sql`DROP CONSTRAINT IF EXISTS ${ident(check.name)}`);
  changes.push(...come.map((check) => sql`ADD ${checkOf(check)}`));
  return changes.map((change) => sql`ALTER DOMAIN ${name} ${change};`);
}
