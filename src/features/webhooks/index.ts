/* Webhooks: their changes with the events that record them, tests, and the delivery of events. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { originAt } from '../../log/signed-checkpoints/sign.js';
import { readHeadPosition } from '../../log/read.js';
import type { Logger } from '../../postgres/logger.js';
import { own } from '../../postgres/own-tables.js';
import type { Cause, LogEvent, OtherEventData } from '../../schema/model/events.js';
import { WEBHOOK, type WebhookDisabledBecause, type WebhookSettings } from '../../schema/model/service-events.js';
import { CommandRefused, type Pipeline, type Prepare, type Recording } from '../../pipeline/types.js';
import { addressFault, createClassify, type Sender, createSender } from './send.js';
import { type Deliverer, createDeliverer } from './deliver.js';
import { type Format, signedHeaders, newSecret, testMessage } from './message.js';
import {
  AFTER_NEXT,
  DATABASE,
  type DeliveryRow,
  type WebhookRow,
  countWebhooks,
  noteAttempt,
  readDeliveries,
  readSecrets,
  readWebhook,
  readWebhooks,
} from './rows.js';

export interface NewWebhook {
  name: string;
  url: string;
  format: Format;
  types: string[];
  collections: string[] | null;
}

type WebhookChanges = { [M in keyof NewWebhook]?: NewWebhook[M] | undefined } & {
  enabled?: boolean | undefined;
};

/** Runs in the transaction that appends the events. If it returns no events, nothing changed. */
type WebhookChange<T> = Prepare<Recording & { value: T }>;

export interface Webhooks {
  list(): Promise<WebhookRow[]>;
  get(id: string): Promise<Result<WebhookRow>>;
  /** Returns the deliveries of a webhook, newest first. */
  deliveries(id: string): Promise<Result<DeliveryRow[]>>;
  /** Creates a webhook. Only this response contains the secret. */
  create(webhook: NewWebhook): WebhookChange<WebhookRow & { secret: string }>;
  update(id: string, changes: WebhookChanges): WebhookChange<WebhookRow>;
  remove(id: string): WebhookChange<null>;
  /** @param overlap hours during which requests are also signed with the former secret */
  rotateSecret(id: string, overlap: number): WebhookChange<WebhookRow & { secret: string }>;
  /** Delivers the events again, starting at `position`. */
  replay(id: string, position: number): WebhookChange<WebhookRow>;
  /** Sends a test message immediately, even if the webhook is disabled. */
  test(id: string): Promise<Result<DeliveryRow>>;
}

interface WebhooksOptions {
  pool: pg.Pool;
  pipeline: Pick<Pipeline, 'apply'>;
  /** The private networks that webhooks may reach. */
  networks: readonly string[];
  logger: Logger;
  readOnly: () => boolean;
}

/** Maximum number of webhooks of a service. */
const MOST = 100;

export interface StartedWebhooks extends Webhooks, Deliverer {
  countByState(): ReturnType<typeof countWebhooks>;
}

/** Creates the webhooks. The delivery is idle until the first `wake`. */
export function createWebhooks(options: WebhooksOptions): StartedWebhooks {
  const { pool, pipeline, networks } = options;
  const classify = createClassify(networks);
  const sender = createSender({ classify });
  const deliverer = createDeliverer({ ...options, sender, disable: (id, because) => disable(pipeline, id, because) });
  const requireAddress = (url: string | undefined): void => {
    const fault = url === undefined ? null : addressFault(url, classify, networks.length > 0);
    if (fault !== null) throw createRefusal({ code: 'INVALID_PAYLOAD', message: `url ${fault}.`, path: 'url' });
  };
  return {
    ...changes(requireAddress),
    list: () => readWebhooks(pool),
    get: (id) => requireWebhook(pool, id),
    async deliveries(id) {
      const webhook = await requireWebhook(pool, id);
      return webhook.ok ? ok(await readDeliveries(pool, id)) : webhook;
    },
    test: (id) => test({ pool, sender }, id),
    wake: () => deliverer.wake(),
    counts: () => deliverer.counts(),
    countByState: () => countWebhooks(pool),
    async stop() {
      await deliverer.stop();
      sender.close();
    },
  };
}

const createRefusal = (problem: Problem): CommandRefused => new CommandRefused([problem]);

const unknown = (id: string): Problem => ({
  code: 'NOT_FOUND',
  message: `Webhook ${JSON.stringify(id)} does not exist. GET /webhooks lists all webhooks.`,
});

async function requireWebhook(db: Pick<pg.ClientBase, 'query'>, id: string): Promise<Result<WebhookRow>> {
  const row = isUuid(id) ? await readWebhook(db, id) : undefined;
  return row === undefined ? refuse(unknown(id)) : ok(row);
}

async function required(client: pg.ClientBase, id: string): Promise<WebhookRow> {
  const result = await requireWebhook(client, id);
  if (!result.ok) throw new CommandRefused(result.problems);
  return result.value;
}

type WebhookEvents = { [T in keyof OtherEventData as T extends `webhook.${string}` ? T : never]: OtherEventData[T] };

const webhookEvent = <T extends keyof WebhookEvents>(type: T, id: string, data: WebhookEvents[T]): LogEvent =>
  ({
    type,
    version: 1,
    collection: null,
    field: null,
    subject: { kind: WEBHOOK, id: id.toLowerCase() },
    data,
  }) as LogEvent;

const originOf = (url: string): string => new URL(url).origin;

/** Returns the settings in the form that events record. */
const settingsOf = ({ url, name, format, types, collections }: NewWebhook): WebhookSettings => ({
  name,
  origin: originOf(url),
  format,
  types,
  collections,
});

type Changes = Pick<Webhooks, 'create' | 'update' | 'remove' | 'rotateSecret' | 'replay'>;

/**
 * Changes webhooks. Each change increases the revision, so that the delivering process starts again with the changed
 * webhook.
 */
function changes(requireAddress: (url: string | undefined) => void): Changes {
  return {
    create: (webhook) => async (client) => {
      const { name, url, format, types, collections } = webhook;
      requireAddress(url);
      const all = await readWebhooks(client);
      if (all.length >= MOST)
        throw createRefusal({ code: 'INVALID_STATE', message: `There are ${MOST} webhooks, the maximum.` });
      requireFree(all, name);
      const id = randomUUID();
      const secret = newSecret();
      await client.query(
        `INSERT INTO ${own.webhooks} (id, name, url, format, types, collections, secret, enabled, disabled_because, database, position)
         VALUES ($1, $2, $3, $4, $5, $6, $7, true, NULL, ${DATABASE}, ${AFTER_NEXT})`,
        [id, name, url, format, types, collections, secret],
      );
      const events = [webhookEvent('webhook.created', id, settingsOf(webhook))];
      return { value: { ...(await required(client, id)), secret }, events };
    },

    update: (id, changed) => async (client) => {
      const before = await required(client, id);
      const { enabled, ...settings } = changed;
      requireAddress(settings.url);
      if (settings.name !== undefined && settings.name !== before.name)
        requireFree(await readWebhooks(client), settings.name);
      const events = [
        ...(await updateSettings(client, before, settings)),
        ...(await setEnabled(client, before, enabled)),
      ];
      return { value: await required(client, id), events };
    },

    remove: (id) => async (client) => {
      await required(client, id);
      await client.query(`DELETE FROM ${own.webhooks} WHERE id = $1`, [id]);
      return { value: null, events: [webhookEvent('webhook.deleted', id, {})] };
    },

    rotateSecret: (id, overlap) => async (client) => {
      await required(client, id);
      const secret = newSecret();
      await client.query(
        `UPDATE ${own.webhooks} SET old_secret = secret, old_secret_until = now() + $3::int * interval '1 hour',
                secret = $2, revision = revision + 1 WHERE id = $1`,
        [id, secret, overlap],
      );
      const events = [webhookEvent('webhook.updated', id, { secret: 'rotated' })];
      return { value: { ...(await required(client, id)), secret }, events };
    },

    replay: (id, position) => async (client) => {
      await required(client, id);
      const head = await readHeadPosition(client);
      if (position > head + 1) {
        const message = `position must be at most ${head + 1}, the position after the end of the log.`;
        throw createRefusal({ code: 'INVALID_PAYLOAD', message, path: 'position' });
      }
      await client.query(
        `UPDATE ${own.webhooks} SET position = $2::bigint - 1, next_attempt_at = NULL, revision = revision + 1 WHERE id = $1`,
        [id, position],
      );
      const events = [webhookEvent('webhook.updated', id, { replayed_from: position })];
      return { value: await required(client, id), events };
    },
  };
}

function requireFree(all: readonly WebhookRow[], name: string): void {
  if (!all.some((each) => each.name === name)) return;
  throw createRefusal({
    code: 'ALREADY_EXISTS',
    message: `Webhook ${JSON.stringify(name)} already exists.`,
    path: 'name',
  });
}

async function updateSettings(
  client: pg.ClientBase,
  before: WebhookRow,
  changed: Omit<WebhookChanges, 'enabled'>,
): Promise<LogEvent[]> {
  const after = {
    ...before,
    ...Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)),
  };
  const differs = (['name', 'url', 'format', 'types', 'collections'] as const).filter(
    (member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]),
  );
  if (differs.length === 0) return [];
  const { id, name, url, format, types, collections } = after;
  // A new address may work, so a delivery is attempted immediately.
  await client.query(
    `UPDATE ${own.webhooks} SET name = $2, url = $3, format = $4, types = $5, collections = $6, next_attempt_at = NULL,
            revision = revision + 1 WHERE id = $1`,
    [id, name, url, format, types, collections],
  );
  const settings = settingsOf(after);
  const data = Object.fromEntries(
    differs.map((member) => (member === 'url' ? ['origin', settings.origin] : [member, settings[member]])),
  );
  return [webhookEvent('webhook.updated', id, data)];
}

async function setEnabled(client: pg.ClientBase, { id, state }: WebhookRow, enabled?: boolean): Promise<LogEvent[]> {
  if (enabled === undefined || enabled === (state !== 'disabled')) return [];
  if (!enabled) return writeDisabled(client, id, 'requested');
  if ((await readSecrets(client, id)).length === 0) {
    const message = 'The webhook has no secret, because it was restored from a backup. Rotate its secret first.';
    throw createRefusal({ code: 'INVALID_STATE', message });
  }
  await client.query(
    `UPDATE ${own.webhooks} SET enabled = true, disabled_because = NULL, failures = 0, failing_since = NULL,
            next_attempt_at = NULL, last_error = NULL, database = ${DATABASE}, position = coalesce(position, ${AFTER_NEXT}),
            revision = revision + 1 WHERE id = $1`,
    [id],
  );
  return [webhookEvent('webhook.enabled', id, {})];
}

/** Returns no events if another process disabled or deleted the webhook first. */
async function writeDisabled(client: pg.ClientBase, id: string, because: WebhookDisabledBecause): Promise<LogEvent[]> {
  const { rowCount } = await client.query(
    `UPDATE ${own.webhooks} SET enabled = false, disabled_because = $2, next_attempt_at = NULL, revision = revision + 1
      WHERE id = $1 AND enabled`,
    [id, because],
  );
  return rowCount === 0 ? [] : [webhookEvent('webhook.disabled', id, { because })];
}

const BY_ITSELF: Cause = {
  actor: { id: 'service', name: 'Data Platform Service' },
  command: 'disable-webhook',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
};

async function disable(pipeline: Pick<Pipeline, 'apply'>, id: string, because: WebhookDisabledBecause): Promise<void> {
  const change: WebhookChange<null> = async (client) => ({
    value: null,
    events: await writeDisabled(client, id, because),
  });
  const outcome = await pipeline.apply('record', change, { cause: BY_ITSELF });
  if (outcome.kind === 'refused') throw new Error(outcome.problems[0]?.message ?? 'the webhook was not disabled');
}

async function test({ pool, sender }: { pool: pg.Pool; sender: Sender }, id: string): Promise<Result<DeliveryRow>> {
  const webhook = await requireWebhook(pool, id);
  if (!webhook.ok) return webhook;
  const { url, format, name } = webhook.value;
  const secrets = await readSecrets(pool, id);
  if (secrets.length === 0)
    return refuse({ code: 'INVALID_STATE', message: 'The webhook has no secret. Rotate it first.' });
  const origin = (await originAt(pool, await readHeadPosition(pool))) ?? 'data-platform-service';
  const message = testMessage(format, { id: randomUUID(), origin, name });
  const attemptedAt = new Date();
  const headers = signedHeaders(message, secrets, attemptedAt);
  const { signal } = new AbortController();
  const sent = await sender.send({ url, headers, body: message.body, signal });
  await noteAttempt(pool, id, { message, attemptedAt, ...sent });
  const { status, error, milliseconds } = sent;
  const attempted_at = attemptedAt.toISOString();
  return ok({ message: message.id, type: message.type, position: null, attempted_at, milliseconds, status, error });
}
