/** Routes of /webhooks, for admins. */
import { z } from 'zod';
import { matchesPattern } from '../../schema/policy.js';
import { EVENT_KINDS } from '../../schema/fold/event-schemas.js';
import { invisibleFault } from '../../kernel/text.js';
import { type Answer, jsonAnswer, noContent, unwrap } from '../../http/answer/answer.js';
import { runRecording } from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { noQuery } from '../../http/request/query.js';
import { type Call, type Route, jsonBody, route } from '../../http/route.js';
import type { NewWebhook, Webhooks } from './index.js';
import { FORMATS } from './message.js';
import * as answers from './routes-answers.js';

const types = Object.keys(EVENT_KINDS);

/** The name of something that an admin configures. */
export const name = z
  .string()
  .min(1)
  .max(100)
  .refine(
    (text) => text.trim() === text && invisibleFault(text) === null,
    'must not contain control characters, or begin or end with a space',
  );
const type = z
  .string()
  .max(100)
  .refine(
    (pattern) => types.some((each) => matchesPattern(pattern, each)),
    'must be an event type, or a pattern such as collection.* that matches one',
  );
const pattern = z.string().min(1).max(200);

const settings = {
  name,
  url: z.string().max(2_048).describe('Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS'),
  format: z.enum(FORMATS),
  types: z.array(type).min(1).max(50).describe('Event types, or patterns with `*`'),
  collections: z.array(pattern).min(1).max(100).nullable().describe('Names of collections, or patterns with `*`'),
};
const newWebhook = z.strictObject({
  ...settings,
  format: settings.format.default('cloudevents'),
  types: settings.types.default(['*']),
  collections: settings.collections.default(null),
});
const webhookChanges = z.strictObject({ ...settings, enabled: z.boolean() }).partial();
const rotation = z.strictObject({
  overlap_hours: z
    .int()
    .min(0)
    .max(720)
    .default(24)
    .describe('Hours during which requests are also signed with the former secret'),
});
const replayed = z.strictObject({ position: z.int().min(1).describe('The first position to deliver') });

/**
 * Common options of these routes. The response may contain a secret, so no response is stored under an Idempotency-Key.
 */
const admin = { access: 'admin', action: 'operate', query: noQuery, headers: ['X-Reason'] } as const;

/** Options of routes that send events to other systems, or whose response contains a secret. */
const unscoped = { ...admin, action: 'unscoped' } as const;

const LIST = '/webhooks';
const ONE = '/webhooks/:id';

export function webhookRoutes(deps: HttpDeps): Route[] {
  return [...readingRoutes(deps), ...changingRoutes(deps), ...deliveringRoutes(deps)];
}

const idOf = ({ params }: Call<unknown>): string => params['id'] ?? '';

/** Commits a change to a webhook together with its event. */
function record<T>(
  { pipeline }: Pick<HttpDeps, 'pipeline'>,
  call: Call<unknown>,
  { command, change, render }: { command: string; change: ChangeOf<T>; render: (value: T) => Answer },
): Promise<Answer> {
  return runRecording(call, command, {
    run: (context) => pipeline.apply('record', change, context),
    render: ({ command: { value }, position }) => ({ ...render(value), position }),
  });
}

type ChangeOf<T> = (
  ...given: Parameters<ReturnType<Webhooks['create']>>
) => Promise<Omit<Awaited<ReturnType<ReturnType<Webhooks['create']>>>, 'value'> & { value: T }>;

const answerData = (value: unknown): Answer => jsonAnswer(200, { data: value });

function readingRoutes({ webhooks }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: LIST,
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(z.array(answers.webhook)) },
      handle: async ({ head }) => ({ ...answerData(await webhooks.list()), position: head }),
    }),
    route({
      method: 'get',
      path: ONE,
      operationId: 'getWebhook',
      summary: 'Retrieve a webhook',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(answers.webhook) },
      handle: async (call) => ({ ...answerData(unwrap(await webhooks.get(idOf(call)))), position: call.head }),
    }),
    route({
      method: 'get',
      path: `${ONE}/deliveries`,
      operationId: 'listWebhookDeliveries',
      summary: 'List the last 100 attempts of a webhook, newest first',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(z.array(answers.delivery)) },
      handle: async (call) => answerData(unwrap(await webhooks.deliveries(idOf(call)))),
    }),
  ];
}

function changingRoutes(deps: HttpDeps): Route[] {
  const { webhooks } = deps;
  return [
    route({
      ...unscoped,
      method: 'post',
      path: LIST,
      operationId: 'createWebhook',
      summary: 'Create a webhook. Only this response contains its secret',
      description: 'It receives the events after its creation.',
      body: jsonBody(newWebhook, {
        example: {
          name: 'data catalog',
          url: 'https://example.com/hook',
          types: ['collection.*', 'field.*'],
          collections: ['shop_*'],
        },
      }),
      answers: { 200: data(answers.webhookWithSecret) },
      errors: ['ALREADY_EXISTS', 'INVALID_STATE'],
      handle: (call) =>
        record(deps, call, {
          command: 'create-webhook',
          change: webhooks.create(call.body satisfies NewWebhook),
          render: answerData,
        }),
    }),
    route({
      ...unscoped,
      method: 'patch',
      path: ONE,
      operationId: 'updateWebhook',
      summary: 'Update, enable or disable a webhook',
      description: 'An enabled webhook continues after its position, and its failure count is reset.',
      body: jsonBody(webhookChanges, { example: { enabled: true } }),
      answers: { 200: data(answers.webhook) },
      errors: ['ALREADY_EXISTS', 'INVALID_STATE'],
      handle: (call) =>
        record(deps, call, {
          command: 'update-webhook',
          change: webhooks.update(idOf(call), call.body),
          render: answerData,
        }),
    }),
    route({
      ...admin,
      action: 'personal',
      method: 'delete',
      path: ONE,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      answers: { 204: null },
      handle: (call) =>
        record(deps, call, {
          command: 'delete-webhook',
          change: webhooks.remove(idOf(call)),
          render: () => noContent(),
        }),
    }),
    route({
      ...unscoped,
      method: 'post',
      path: `${ONE}/secret`,
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook. Only this response contains the new one',
      body: jsonBody(rotation, { optional: true, example: { overlap_hours: 24 } }),
      answers: { 200: data(answers.webhookWithSecret) },
      handle: (call) =>
        record(deps, call, {
          command: 'rotate-webhook-secret',
          change: webhooks.rotateSecret(idOf(call), call.body.overlap_hours),
          render: answerData,
        }),
    }),
  ];
}

function deliveringRoutes(deps: HttpDeps): Route[] {
  const { webhooks } = deps;
  return [
    route({
      ...admin,
      action: 'personal',
      method: 'post',
      path: `${ONE}/replay`,
      operationId: 'replayWebhook',
      summary: 'Deliver events again from a position',
      description:
        'Events have the same `webhook-id` as before. A position after the end of the log skips all events up to it.',
      body: jsonBody(replayed, { example: { position: 42 } }),
      answers: { 200: data(answers.webhook) },
      handle: (call) =>
        record(deps, call, {
          command: 'replay-webhook',
          change: webhooks.replay(idOf(call), call.body.position),
          render: answerData,
        }),
    }),
    route({
      ...admin,
      action: 'personal',
      headers: [],
      method: 'post',
      path: `${ONE}/test`,
      operationId: 'testWebhook',
      summary: 'Send a test message to a webhook, and return the result',
      answers: { 200: data(answers.delivery) },
      errors: ['INVALID_STATE'],
      handle: async (call) => answerData(unwrap(await webhooks.test(idOf(call)))),
    }),
  ];
}
