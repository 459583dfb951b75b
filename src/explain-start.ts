/** Explains database errors of a start whose own message does not say what to do. */
import { OperatorError } from './kernel/operator-error.js';
import { SQLSTATE, sqlState } from './postgres/errors.js';
import { isStartupRefused, unexpectedPooler } from './postgres/pooler.js';

const READ_ONLY =
  'Transactions are read-only by default in this database: take default_transaction_read_only away from it and from the user of DATABASE_URL ("dps doctor" says so too).';

/** Only a missing privilege of the database user needs an explanation. Other messages explain themselves. */
export function explained(error: unknown): unknown {
  if (isStartupRefused(error)) return unexpectedPooler(error);
  if (sqlState(error) === SQLSTATE.read_only_sql_transaction) return new OperatorError(READ_ONLY, { cause: error });
  if (sqlState(error) !== SQLSTATE.insufficient_privilege) return error;
  return new OperatorError(
    `The user of DATABASE_URL lacks a right that the service needs (${(error as Error).message}): grant it USAGE and CREATE on the schemas of DB_SCHEMA and SERVICE_SCHEMA ("dps doctor" shows how).`,
    { cause: error },
  );
}
