/** The schema of an event in an exported log. */
import { z } from 'zod';

const text = z.string();
const optional = z.string().nullable();

export const RECORD = z.strictObject({
  position: z.int().positive(),
  id: z.uuid(),
  batch: z.uuid(),
  type: text,
  version: z.int().positive(),
  collection: optional,
  field: optional,
  data: z.record(z.string(), z.unknown()),
  actor: z.strictObject({ id: text, name: text }),
  command: text,
  reason: optional,
  request_id: optional,
  ip: optional,
  user_agent: optional,
  context: z.record(z.string(), z.unknown()).optional(),
  subject: z.strictObject({ kind: text, id: text }).optional(),
  occurred_at: z.iso.datetime(),
  previous_hash: text,
  hash: text,
});
