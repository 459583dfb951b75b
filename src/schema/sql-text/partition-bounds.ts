/** PostgreSQL evaluates partition bounds immediately, so only constants are allowed. */
import { type Node, list, member, only, stringOf } from './expression.js';
import { sizeOf } from './result-size.js';
import { OWN_TYPES, typeFault } from './types.js';

/** @param statement ALTER TABLE … ATTACH PARTITION, parsed */
export function boundsFault(statement: Node): string | null {
  const command = member(only(member(statement, 'AlterTableStmt')?.['cmds']), 'AlterTableCmd');
  const bound = member(member(member(command, 'def'), 'PartitionCmd'), 'bound');
  const values = [bound?.['listdatums'], bound?.['lowerdatums'], bound?.['upperdatums']].flatMap(list);
  for (const value of values) {
    const fault = valueFault(value);
    if (fault !== null) return fault;
  }
  return sizeOf(values) > MAX_BOUND ? 'must not be longer than 1 MiB' : null;
}

/** Bytes: `B'1'::bit(83886080)` needs only a few characters. */
const MAX_BOUND = 1024 * 1024;

const NO_CONSTANT =
  'must be of constants alone: literals, MINVALUE, MAXVALUE, and casts of literals to types of PostgreSQL itself';

function valueFault(value: unknown): string | null {
  let inner = value;
  for (let cast = member(inner, 'TypeCast'); cast !== undefined; cast = member(inner, 'TypeCast')) {
    const fault = typeFault(member(cast, 'typeName'), OWN_TYPES);
    if (fault !== null) return fault;
    inner = cast['arg'];
  }
  if (member(inner, 'A_Const') !== undefined) return null;
  return inner === value && isLimit(inner) ? null : NO_CONSTANT;
}

function isLimit(value: unknown): boolean {
  const name = stringOf(only(member(value, 'ColumnRef')?.['fields']));
  return name === 'minvalue' || name === 'maxvalue';
}
