/** Checks notifications: sent on one connection, received on the other. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createClient, directly } from '../postgres/pool.js';
import type { Check } from './check.js';
import { finding } from './finding.js';

/** Milliseconds. */
const PATIENCE = 3_000;

export const listening: Check = {
  name: 'notifications',
  needsPrimary: true,
  async run({ config, addresses }) {
    const connection = { ...config, applicationName: 'dps doctor', connectTimeout: PATIENCE, ...addresses };
    const [listener, speaker] = [createClient(directly(connection)), createClient(connection)];
    const clients = [listener, speaker];
    for (const client of clients) client.on('error', () => undefined);
    try {
      await Promise.all(clients.map((client) => client.connect()));
      if (await isHeard(speaker, listener)) return [];
      return [finding('LISTENER_DEAF', `What DATABASE_URL notifies is not heard within ${PATIENCE} ms.`)];
    } finally {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    }
  },
};

async function isHeard(speaker: pg.Client, listener: pg.Client): Promise<boolean> {
  const channel = `service_doctor_${randomUUID().replaceAll('-', '')}`;
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<boolean>((resolve) => {
    listener.on('notification', () => resolve(true));
    timer = setTimeout(() => resolve(false), PATIENCE);
  });
  try {
    await listener.query(`LISTEN ${channel}`);
    await speaker.query('SELECT pg_catalog.pg_notify($1, $2)', [channel, '']);
    return await heard;
  } finally {
    clearTimeout(timer);
  }
}
