/** Updates the checkpoints of projections that are written together with their events. */
import type { LogHead } from '../../log/head.js';
import { logChannel } from '../../postgres/advisory.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { PipelineOptions } from '../types.js';

/** The checkpoints at a new head, and the NOTIFY for all listeners. */
export function checkpoints({ position, hash }: LogHead, { place }: Pick<PipelineOptions, 'place'>): Parameterised[] {
  return [
    {
      text: `INSERT INTO ${own.projections} (name, kind, position, hash)
             VALUES ('tables', 'transactional', $1, $2), ('metadata', 'transactional', $1, $2),
                    ('trash', 'transactional', $1, $2), ('change-requests', 'transactional', $1, $2)
             ON CONFLICT (name) DO UPDATE
                SET position = excluded.position, hash = excluded.hash, updated_at = now()`,
      values: [position, hash],
    },
    { text: `SELECT pg_catalog.pg_notify($1, $2)`, values: [logChannel(place.schema), String(position)] },
  ];
}
