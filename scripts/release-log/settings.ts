/** The webhooks and environments of the history. */
import type { Api } from '../../test/support/api.js';

/** Every event about webhooks, with every member. The name of the receiver never resolves. */
export async function writeWebhooks({ api }: { api: Api }): Promise<void> {
  const url = 'https://receiver.invalid/hook';
  const body = { name: 'catalog', url, types: ['field.*'], collections: ['shop_*'] };
  const { id } = (await api.ok<{ data: { id: string } }>('POST', '/webhooks', body)).data;
  const path = `/webhooks/${id}`;
  const changes = { name: 'chat', url: 'https://chat.invalid/', format: 'slack', types: ['*'], collections: null };
  await api.ok('PATCH', path, changes);
  await api.ok('PATCH', path, { enabled: false });
  await api.ok('POST', `${path}/replay`, { position: 1 });
  await api.ok('POST', `${path}/secret`);
  await api.ok('PATCH', path, { enabled: true });
  await api.ok('DELETE', path);
}

/** Every event about environments, with every member. The name of the environment never resolves. */
export async function writeEnvironments({ api }: { api: Api }): Promise<void> {
  const body = { name: 'staging', url: 'https://staging.invalid', token: 'token' };
  const { id } = (await api.ok<{ data: { id: string } }>('POST', '/environments', body)).data;
  const path = `/environments/${id}`;
  await api.ok('PATCH', path, { name: 'test', url: 'https://test.invalid', token: 'other', base: 1 });
  await api.ok('PATCH', path, { base: null });
  await api.ok('DELETE', path);
}
