/** Webhooks and their deliveries. For admins. */
import { queryOptions } from '@tanstack/react-query';
import { request } from './request.js';
import type { Webhook, WebhookDelivery, WebhookSettings, WebhookWithSecret } from './types.js';

/** The key prefix of queries that a change of a webhook invalidates. */
export const WEBHOOKS = 'webhooks';

/** Milliseconds between refetches, because a delivery appends no event. */
const EVERY = 5_000;

export const webhooksQuery = () =>
  queryOptions({
    queryKey: [WEBHOOKS],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) => (await request<{ data: Webhook[] }>('/webhooks', { signal })).data,
  });

/** The last 100 attempts, newest first. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [WEBHOOKS, 'deliveries', id],
    refetchInterval: EVERY,
    queryFn: async ({ signal }) =>
      (await request<{ data: WebhookDelivery[] }>(`/webhooks/${id}/deliveries`, { signal })).data,
  });

/** @throws RefusedError at the invalid member: `url`, `types[0]` … */
export const createWebhook = async (settings: WebhookSettings) =>
  (await request<{ data: WebhookWithSecret }>('/webhooks', { method: 'POST', json: settings })).data;

/** @throws RefusedError like `createWebhook` */
export const updateWebhook = async (id: string, changes: Partial<WebhookSettings> & { enabled?: boolean }) =>
  (await request<{ data: Webhook }>(`/webhooks/${id}`, { method: 'PATCH', json: changes })).data;

export const deleteWebhook = (id: string) => request(`/webhooks/${id}`, { method: 'DELETE' });

/** The former secret also signs for 24 hours. */
export const rotateSecret = async (id: string) =>
  (await request<{ data: WebhookWithSecret }>(`/webhooks/${id}/secret`, { method: 'POST' })).data;

/** @throws RefusedError at `position`, if it is after the position that follows the end of the log */
export const replayWebhook = async (id: string, position: number) =>
  (await request<{ data: Webhook }>(`/webhooks/${id}/replay`, { method: 'POST', json: { position } })).data;

/** Sends a test message, also if the webhook is disabled. */
export const testWebhook = async (id: string) =>
  (await request<{ data: WebhookDelivery }>(`/webhooks/${id}/test`, { method: 'POST' })).data;
