/** Change requests, as answers show them. */
import { z } from 'zod';
import { CHANGE_STATES } from '../../../schema/change-requests/model.js';
import { errors } from './errors.js';
import { finding } from './schema.js';

const text = z.string();
const textOrNull = z.string().nullable();
const time = z.iso.datetime();

const summary = {
  id: z.uuid(),
  state: z
    .enum(CHANGE_STATES)
    .describe('`queued`: another request has its tables. `applied`, `failed` and `withdrawn` are ends'),
  operation: text.describe('What it wants to do, as the log names commands'),
  collections: z.array(text).describe('What it changes'),
  author: z.strictObject({ id: text, name: text }),
  reason: textOrNull,
  opened_at: time,
  opened_position: z.int().min(1).describe('Of the event that opened it'),
  changed_at: time,
  result: z
    .strictObject({ batch: z.uuid(), position: z.int().min(1) })
    .nullable()
    .describe('The batch that it became'),
  error: textOrNull.describe('The code of the first error; null: it did not fail'),
};

export const changeSummary = z.strictObject(summary).meta({ id: 'ChangeSummary' });

const holder = z.strictObject({
  pid: z.int().nullable().describe('Of its server process; null: a prepared transaction'),
  application_name: text,
  age_seconds: z.int().nullable(),
  collection: text,
});

const step = z.strictObject({
  key: text,
  kind: text,
  collection: text,
  field: textOrNull,
  summary: text,
  state: z.enum(['waiting', 'running', 'done']),
  done: z.number().min(0).max(1).nullable().describe('How much of it; null: not known'),
  phase: textOrNull.describe('What of it runs now'),
  rows: z.number().nullable().describe("What it works through, as PostgreSQL's statistics estimate it"),
  bytes: z.number().nullable(),
  started_at: time.nullable(),
  milliseconds: z.number().nullable().describe('What it has taken with all that it waited for; null: it is not done'),
});

export const changeRequest = z
  .strictObject({
    ...summary,
    document: z.strictObject({
      hash: text.describe('sha256 of the content as canonical JSON: the event carries it'),
      content: z.unknown().describe('What it asks for; null: it was erased'),
    }),
    steps: z.array(step),
    holds: z.array(text).describe('Collections whose tables change in no other way now'),
    queued_behind: z.array(z.uuid()),
    waiting_for: z.array(holder).describe('Whose transactions it waits for now'),
    cleaning: z.boolean().describe('It has ended, and what was prepared is still being taken away'),
    warnings: z.array(finding),
    errors: errors.shape.errors.nullable().describe('Why it failed; null: it did not, or what says so was erased'),
    allowed: z.array(z.enum(['withdraw'])).describe('What can be done with it now'),
  })
  .meta({ id: 'ChangeRequest' });
