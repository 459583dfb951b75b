/* Migrates the service's own tables to this release. */
import { readFile, readdir } from 'node:fs/promises';
import pg from 'pg';
import { OperatorError } from '../kernel/problem.js';
import { advisoryKey } from './locked-session.js';
import { SQLSTATE, sqlState } from './errors.js';
import type { Database } from './server.js';
import type { Logger } from './logger.js';
import { type Queryable, withClient } from './pool.js';
import { own, MIGRATIONS, MIGRATION_FILE, SETTING_KEYS } from './own-tables.js';
import { PLACE_COMMENT, ensureSchema, rejectLeftoverTrash, rejectForeignObjects } from './schemas.js';
import { unlimited } from './limits.js';

/* Marks a database as incomplete until its restore has finished. */

/** Sets the mark, or updates its time. */
export async function markRestoring(db: Queryable): Promise<void> {
  await db.query(
    `INSERT INTO ${own.settings} (key, value) VALUES ($1, pg_catalog.jsonb_build_object('since', now()))
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [SETTING_KEYS.restoring],
  );
}

/** Removes the mark. Does nothing if there is no mark. */
export async function unmarkRestoring(db: Queryable): Promise<void> {
  await db.query(`DELETE FROM ${own.settings} WHERE key = $1`, [SETTING_KEYS.restoring]);
}

/** True if a restore has begun and not finished, including an aborted one. */
export async function isRestoring(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${own.settings} WHERE key = $1`, [SETTING_KEYS.restoring]);
  return rowCount === 1;
}

/** @throws OperatorError if the restore of the database has not finished */
export async function rejectWhileRestoring(db: Queryable): Promise<void> {
  if (!(await isRestoring(db))) return;
  throw new OperatorError(
    'This database is being restored, or its restore was interrupted. Wait until it ends, or drop the database and restore into a new one.',
  );
}

export interface MigrateOptions {
  pool: pg.Pool;
  /** The default schema. Created if missing. */
  schema: string;
  /** All managed schemas. Created if missing. If absent, the service manages only the default schema. */
  schemas?: readonly string[] | undefined;
  /** The schema of the service's own tables. Created if missing. */
  serviceSchema: string;
  database: Database;
  logger: Logger;
  /** The folder of the numbered migrations. */
  directory?: URL;
}

interface Migration {
  number: number;
  name: string;
  file: URL;
}

/**
 * Applies missing migrations, each in its own transaction. Several processes may do this concurrently.
 * @throws OperatorError if the database was migrated by a newer release, or the row of an applied migration is missing
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const migrations = await readMigrations(options.directory ?? MIGRATIONS);
  await withClient(options.pool, async (client) => {
    await prepare(client, options);
    let applied = await readNewestApplied(client);
    refuseNewer(applied, migrations);
    await refuseLostRows(client, migrations, options);
    for (const migration of migrations) {
      if (migration.number > applied) applied = await apply(client, migration, options);
    }
    refuseNewer(applied, migrations);
  });
}

/**
 * Returns what a database lacks for this release. A standby uses this, because it gets its migrations from the primary.
 * Only reads.
 * @returns the end of a sentence, or null if nothing is missing
 * @throws OperatorError like `migrate`
 */
export async function findMissingMigrations(options: MigrateOptions): Promise<string | null> {
  const migrations = await readMigrations(options.directory ?? MIGRATIONS);
  return withClient(options.pool, async (client) => {
    if (!(await containsService(client, options.serviceSchema))) return 'does not contain a service yet';
    await rejectForeignObjects(client, options);
    const applied = await readNewestApplied(client);
    refuseNewer(applied, migrations);
    await refuseLostRows(client, migrations, options);
    const newest = migrations.at(-1)?.number ?? 0;
    return applied < newest ? `is at migration ${applied}, but this release needs ${newest}` : null;
  });
}

/** Returns the newest applied migration and the newest of this release. Only reads. */
export async function listMigrations(
  db: Queryable,
  directory = MIGRATIONS,
): Promise<{ applied: number; newest: number }> {
  return { applied: await readNewestApplied(db), newest: await findNewestMigration(directory) };
}

export async function findNewestMigration(directory = MIGRATIONS): Promise<number> {
  return (await readMigrations(directory)).at(-1)?.number ?? 0;
}

/** Returns the migrations of this release by number. */
async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_FILE.test(name)).sort();
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name, file: new URL(name, directory) }));
}

const MIGRATIONS_TABLE = `(
  number     integer     PRIMARY KEY,
  name       text        NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Creates the tables of this release in another schema, possibly `pg_temp`, within the client's transaction, for
 * comparison.
 */
export async function createOwnTables(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query(`CREATE TABLE ${client.escapeIdentifier(schema)}.service_migrations ${MIGRATIONS_TABLE}`);
  for (const { file } of await readMigrations(MIGRATIONS))
    await client.query(await readScript(file, client.escapeIdentifier(schema)));
}

/** @param schema a quoted identifier that replaces the placeholder in the script */
async function readScript(file: URL, schema: string): Promise<string> {
  return (await readFile(file, 'utf8')).replaceAll(':"service"', () => schema);
}

/** Creates further schemas, which may be added to the settings at any start. */
async function ensureFurtherSchemas(client: pg.ClientBase, { schema, schemas = [] }: MigrateOptions): Promise<void> {
  for (const each of schemas) if (each !== schema) await ensureSchema(client, each);
}

/** Creates the schemas and the table of migrations on the first start. */
async function prepare(client: pg.ClientBase, options: MigrateOptions): Promise<void> {
  if (await containsService(client, options.serviceSchema)) {
    await rejectForeignObjects(client, options);
    return ensureFurtherSchemas(client, options);
  }
  await runLocked(client, options, async () => {
    // Services of other schemas may start concurrently and use the same schema for their own tables.
    const everySchema = { database: options.database.database, schema: '' };
    await client.query(`SELECT pg_catalog.pg_advisory_xact_lock($1)`, [advisoryKey(everySchema, 'schemas')]);
    // Another process may have started this service in the meantime.
    if (!(await containsService(client, options.serviceSchema))) await rejectLeftoverTrash(client, options);
    await ensureSchema(client, options.schema);
    await ensureFurtherSchemas(client, options);
    await ensureSchema(client, options.serviceSchema);
    await rejectForeignObjects(client, options);
    await client.query(`CREATE TABLE IF NOT EXISTS ${own.migrations} ${MIGRATIONS_TABLE}`);
    const name = client.escapeLiteral(`${PLACE_COMMENT}${JSON.stringify(options.schema)}.`);
    await client.query(`COMMENT ON TABLE ${own.migrations} IS ${name}`);
  });
}

/** True if a service has been started with this schema for its own tables. */
export async function containsService(db: Queryable, serviceSchema: string): Promise<boolean> {
  const tables = await db.query(
    `SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'service_migrations'`,
    [serviceSchema],
  );
  return tables.rowCount === 1;
}

/** @returns the number of the newest applied migration */
async function apply(client: pg.ClientBase, migration: Migration, options: MigrateOptions): Promise<number> {
  const script = await readScript(migration.file, client.escapeIdentifier(options.serviceSchema));
  return runLocked(client, options, async () => {
    // Claims the number after the lock, because some poolers make the lock ineffective.
    const inserted = await client.query(
      `INSERT INTO ${own.migrations} (number, name) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [migration.number, migration.name],
    );
    if (inserted.rowCount === 0) return readNewestApplied(client);
    await client.query(script).catch((error: unknown) => {
      if (EXISTS.has(sqlState(error))) throw createLostRowError(migration, options, (error as Error).message);
      throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
    });
    options.logger.info('migration applied', { migration: migration.name });
    return migration.number;
  });
}

const EXISTS = new Set<string | undefined>([SQLSTATE.duplicate_table, SQLSTATE.duplicate_object]);

/** @throws OperatorError if the row of a migration is missing but a later one exists */
async function refuseLostRows(
  client: Queryable,
  migrations: readonly Migration[],
  options: Pick<MigrateOptions, 'serviceSchema'>,
): Promise<void> {
  const { rows } = await client.query<{ number: number }>(`SELECT number FROM ${own.migrations}`);
  const applied = new Set(rows.map(({ number }) => number));
  const newest = Math.max(...applied);
  const lost = migrations.find(({ number }) => number < newest && !applied.has(number));
  if (lost !== undefined) throw createLostRowError(lost, options, 'a later migration was applied');
}

/** @param reason why the migration must have been applied */
function createLostRowError(
  { name, number }: Migration,
  { serviceSchema }: Pick<MigrateOptions, 'serviceSchema'>,
  reason: string,
): OperatorError {
  const table = `${pg.escapeIdentifier(serviceSchema)}.service_migrations`;
  return new OperatorError(
    `The table "service_migrations" has no row for the migration "${name}", which seems to be applied (${reason}). ` +
      `If the row was deleted, insert it again: INSERT INTO ${table} (number, name) VALUES (${number}, '${name}');`,
  );
}

/** Runs `work` in a transaction while no other process migrates this schema. */
async function runLocked<T>(
  client: pg.ClientBase,
  { schema, database }: Pick<MigrateOptions, 'schema' | 'database'>,
  work: () => Promise<T>,
): Promise<T> {
  // Removes time limits, because this migration, or one that it waits for, may take long.
  await client.query(`BEGIN; ${unlimited('transaction')}`);
  try {
    const key = advisoryKey({ database: database.database, schema }, 'migrations');
    await client.query(`SELECT pg_catalog.pg_advisory_xact_lock($1)`, [key]);
    // Waits for running writes of an older release. Its next write is then rejected.
    await client.query(`SELECT pg_catalog.pg_advisory_xact_lock($1)`, [
      advisoryKey({ database: database.database, schema }, 'log'),
    ]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function readNewestApplied(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ newest: number }>(
    `SELECT coalesce(pg_catalog.max(number), 0)::int AS newest FROM ${own.migrations}`,
  );
  return rows[0]?.newest ?? 0;
}

function refuseNewer(applied: number, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.number ?? 0;
  if (applied <= newest) return;
  throw new OperatorError(
    `A newer release of this service has migrated the database (migration ${applied}; ` +
      `this release knows migrations up to ${newest}). Start that release or a newer one.`,
  );
}
