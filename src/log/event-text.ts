/** Events as the JSON text that answers show: made without parsing their data, which is the largest part. */
import pg from 'pg';
import type { Queryable } from '../postgres/pool.js';
import type { Cause } from '../schema/events.js';

export interface EventText {
  position: number;
  /** A JSON object on one line: what is stored, not upcast, so that its hash can be checked. */
  text: string;
}

interface Row extends Omit<Cause, 'actor'> {
  position: number;
  id: string;
  batch: string;
  type: string;
  version: number;
  collection: string;
  field: string | null;
  /** jsonb, as its text. */
  data: string;
  actor: string;
  occurred_at: Date;
  previous_hash: string;
  hash: string;
}

const COLUMNS =
  'position, id, batch, type, version, collection, field, data::text AS data, actor::text AS actor, command, reason, ' +
  'request_id, ip, user_agent, occurred_at, hash, previous_hash';

/** Fragments of SQL with places for values: `text` numbers them from $1. */
export interface Selection {
  where: string;
  values: readonly unknown[];
  order: 'asc' | 'desc';
  limit: number;
}

export async function selectEventTexts(db: Queryable, selection: Selection): Promise<EventText[]> {
  const { where, values, order, limit } = selection;
  const { rows } = await db.query<Row>({
    text: `SELECT ${COLUMNS} FROM service_events e WHERE ${where} ORDER BY e.position ${order} LIMIT ${limit}`,
    values: [...values],
    types: JSON_AS_TEXT,
  });
  return rows.map((row) => ({ position: row.position, text: toText(row) }));
}

/** Events after `after`, up to and with `upTo`, in order. */
export function readEventTexts(db: Queryable, range: { after: number; upTo: number; limit: number }) {
  const { after, upTo, limit } = range;
  return selectEventTexts(db, {
    where: 'e.position > $1 AND e.position <= $2',
    values: [after, upTo],
    order: 'asc',
    limit,
  });
}

const JSON_AS_TEXT = {
  getTypeParser: (oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(oid, format) as unknown),
} as pg.CustomTypesConfig;

function toText(row: Row): string {
  const { position, id, batch, version, data, actor, occurred_at, hash, previous_hash } = row;
  return (
    `{"position":${position},"id":"${id}","batch":"${batch}","type":${JSON.stringify(row.type)},"version":${version},` +
    `"collection":${JSON.stringify(row.collection)},"field":${JSON.stringify(row.field)},"data":${data},` +
    `"actor":${actor},"command":${JSON.stringify(row.command)},"reason":${JSON.stringify(row.reason)},` +
    `"request_id":${JSON.stringify(row.request_id)},"ip":${JSON.stringify(row.ip)},` +
    `"user_agent":${JSON.stringify(row.user_agent)},"occurred_at":"${occurred_at.toISOString()}",` +
    `"hash":"${hash}","previous_hash":"${previous_hash}"}`
  );
}
