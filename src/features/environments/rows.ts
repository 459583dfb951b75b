/* Reads environments, and stores the last schema that both had in common. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';

/** The last schema that both had in common: a position of this log, or of the log of the environment. */
export interface CommonBase {
  log: 'own' | 'environment';
  position: number;
  /** The beginning of the hash of the event at the position. */
  hash: string;
}

/** An environment without its token. */
export interface EnvironmentRow {
  id: string;
  name: string;
  url: string;
  has_token: boolean;
  /** Null if it is not known. */
  base: CommonBase | null;
  revision: number;
  /** ISO 8601, UTC. */
  created_at: string;
}

const COLUMNS = `id, name, url, token IS NOT NULL AS has_token, revision,
  CASE WHEN base_log IS NOT NULL THEN pg_catalog.json_build_object('log', base_log, 'position', base_position, 'hash', base_hash) END AS base,
  pg_catalog.to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at`;

export async function readEnvironments(db: Queryable): Promise<EnvironmentRow[]> {
  const { rows } = await db.query<EnvironmentRow>(
    `SELECT ${COLUMNS} FROM ${own.environments} ORDER BY name COLLATE "C", created_at, id`,
  );
  return rows;
}

/** @param id a uuid */
export async function readEnvironment(db: Queryable, id: string): Promise<EnvironmentRow | undefined> {
  const { rows } = await db.query<EnvironmentRow>(`SELECT ${COLUMNS} FROM ${own.environments} WHERE id = $1`, [id]);
  return rows[0];
}

/**
 * Returns null if the environment was restored from a backup. Undefined if it was deleted, or changed since `revision`:
 * a new token may belong to a new address.
 */
export async function readToken(
  db: Queryable,
  { id, revision }: Pick<EnvironmentRow, 'id' | 'revision'>,
): Promise<string | null | undefined> {
  const { rows } = await db.query<{ token: string | null }>(
    `SELECT token FROM ${own.environments} WHERE id = $1 AND revision = $2::int`,
    [id, revision],
  );
  return rows[0]?.token;
}

/** Does nothing if the environment was changed since `revision`. */
export async function writeBase(
  db: Queryable,
  { id, revision }: Pick<EnvironmentRow, 'id' | 'revision'>,
  { log, position, hash }: CommonBase,
): Promise<void> {
  await db.query(
    `UPDATE ${own.environments} SET base_log = $3, base_position = $4, base_hash = $5 WHERE id = $1 AND revision = $2::int`,
    [id, revision, log, position, hash],
  );
}
