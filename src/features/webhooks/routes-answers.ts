import { z } from 'zod';
import { FORMATS } from './message.js';
import { STATES } from './rows.js';

const time = z.iso.datetime();

export const webhook = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    url: z.string().describe('The address of the receiver'),
    format: z.enum(FORMATS),
    types: z.array(z.string()).describe('Patterns of event types'),
    collections: z
      .array(z.string())
      .nullable()
      .describe('Patterns of collection names. Null if events are not filtered by collection'),
    state: z.enum(STATES).describe('`failing`: enabled, and the last attempt failed'),
    disabled_because: z
      .string()
      .nullable()
      .describe('`requested`, `gone` (410), `failing` (for three days), `restored` or `copied` (the database)'),
    position: z
      .int()
      .nullable()
      .describe('The last position that was delivered or that the filter does not match. Null if never enabled'),
    behind: z.int().describe('Number of later events in the log'),
    failures: z.int().describe('Failed attempts since the last delivery'),
    failing_since: time.nullable(),
    next_attempt_at: time.nullable(),
    last_error: z.string().nullable(),
    old_secret_until: time.nullable().describe('Until then, requests are also signed with the former secret'),
    created_at: time,
  })
  .meta({ id: 'Webhook' });

export const webhookWithSecret = webhook
  .extend({ secret: z.string().describe('Returned only once') })
  .meta({ id: 'WebhookWithSecret' });

export const delivery = z
  .strictObject({
    message: z.uuid().describe('`webhook-id` of the request: the id of the event'),
    type: z.string(),
    position: z.int().nullable().describe('The position of the event. Null for a test'),
    attempted_at: time,
    milliseconds: z.int(),
    status: z.int().nullable().describe('The status of the response. Null if there was no response'),
    error: z.string().nullable().describe('The reason why the attempt failed. Null if it succeeded'),
  })
  .meta({ id: 'WebhookDelivery' });
