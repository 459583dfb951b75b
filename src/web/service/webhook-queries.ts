/** Webhooks and their deliveries. For admins. */
import { queryOptions } from '@tanstack/react-query';
import { request } from './request.js';
import type { WebhookSettings } from './types.js';

/** The key prefix of queries that a change of a webhook invalidates. */
export const WEBHOOKS = 'webhooks';

/** Milliseconds between refetches, because a delivery appends no event. */
const EVERY = 5_000;

export const webhooksQuery = () =>
  queryOptions({
    queryKey: [WEBHOOKS],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request('listWebhooks', { signal })).data,
  });

/** The last 100 attempts, newest first. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [WEBHOOKS, 'deliveries', id],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request('listWebhookDeliveries', { params: { id }, signal })).data,
  });

/** @throws ServiceError at the invalid member: `url`, `types[0]` … */
export const createWebhook = async (settings: WebhookSettings) =>
  (await request('createWebhook', { body: settings })).data;

/** @throws ServiceError like `createWebhook` */
export const updateWebhook = async (id: string, changes: Partial<WebhookSettings> & { enabled?: boolean }) =>
  (await request('updateWebhook', { params: { id }, body: changes })).data;

export const deleteWebhook = (id: string) => request('deleteWebhook', { params: { id } });

/** The former secret also signs for 24 hours. */
export const rotateSecret = async (id: string) => (await request('rotateWebhookSecret', { params: { id } })).data;

/** @throws ServiceError at `position`, if it is after the position that follows the end of the log */
export const replayWebhook = async (id: string, position: number) =>
  (await request('replayWebhook', { params: { id }, body: { position } })).data;

/** Sends a test message, also if the webhook is disabled. */
export const testWebhook = async (id: string) => (await request('testWebhook', { params: { id } })).data;
