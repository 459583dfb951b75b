/** Rules that involve more than one setting. */
import { OperatorError } from './kernel/operator-error.js';
import { LONGEST_SERVICE_SCHEMA, defaultServiceSchema } from './postgres/own-tables.js';

type Given = Partial<
  Record<
    'DATABASE_URL' | 'DIRECT_DATABASE_URL' | 'LISTEN_DATABASE_URL' | 'DB_POOLER' | 'SERVICE_SCHEMA',
    string | undefined
  >
>;

/** Returns the schema of the service's own tables. @throws OperatorError */
export function serviceSchemaOf({
  DB_SCHEMA: schema,
  SERVICE_SCHEMA: given,
}: Pick<Given, 'SERVICE_SCHEMA'> & { DB_SCHEMA: string }): string {
  const name = given ?? defaultServiceSchema(schema);
  if (Buffer.byteLength(name) > LONGEST_SERVICE_SCHEMA) {
    const problem = `"${name}" is too long: the names of the trash's schemas begin with it, which leaves it ${LONGEST_SERVICE_SCHEMA} bytes`;
    throw new OperatorError(
      `The setting SERVICE_SCHEMA ${given === undefined ? 'is needed' : 'must be another'}: ${problem}.`,
    );
  }
  if (name === 'public') {
    throw new OperatorError('The setting SERVICE_SCHEMA must not be public: every connection searches that schema.');
  }
  if (name !== schema) return name;
  throw new OperatorError(
    "The setting SERVICE_SCHEMA must not be DB_SCHEMA's: the service's own tables live apart from those it manages.",
  );
}

/** LISTEN_DATABASE_URL is the former name. */
export function directUrlOf(given: Given): string | null {
  const { DIRECT_DATABASE_URL: direct, LISTEN_DATABASE_URL: listen } = given;
  if (direct === undefined || listen === undefined || direct === listen) return direct ?? listen ?? null;
  throw new OperatorError(
    'The settings DIRECT_DATABASE_URL and LISTEN_DATABASE_URL differ: the second is the old name of the first, take it away.',
  );
}

/** An embedded server has no second address, so setting one of these is an error. */
const WAYS = ['DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'DB_POOLER'] as const;

/** @throws OperatorError if one of `WAYS` is set without DATABASE_URL */
export function requireAddress(given: Given): void {
  if (given.DATABASE_URL !== undefined) return;
  const name = WAYS.find((way) => given[way] !== undefined);
  if (name === undefined) return;
  throw new OperatorError(`The setting ${name} needs DATABASE_URL: without it the service starts a server of its own.`);
}
