/** Whether news of changes would reach an instance: said on the one connection, heard on the other. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createClient } from '../../postgres/pool.js';
import type { Check, DoctorContext } from './check.js';
import { finding } from './finding.js';

/** Milliseconds. */
const PATIENCE = 3_000;

export const listening: Check = {
  name: 'notifications',
  async run(context) {
    const { config, connectionString } = context;
    const address = config.listenDatabaseUrl ?? connectionString;
    const more = { applicationName: 'dps doctor', connectTimeout: PATIENCE };
    const client = createClient({ ...config, ...more, connectionString: address });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      return [finding('LISTENER_UNREACHABLE', `The connection for LISTEN can't be made: ${(error as Error).message}.`)];
    }
    try {
      if (await isHeard(context, client)) return [];
      return [finding('LISTENER_DEAF', `What DATABASE_URL notifies is not heard within ${PATIENCE} ms.`)];
    } finally {
      await client.end().catch(() => undefined);
    }
  },
};

async function isHeard({ pool }: DoctorContext, client: pg.Client): Promise<boolean> {
  const channel = `service_doctor_${randomUUID().replaceAll('-', '')}`;
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<boolean>((resolve) => {
    client.on('notification', () => resolve(true));
    timer = setTimeout(() => resolve(false), PATIENCE);
  });
  try {
    await client.query(`LISTEN ${channel}`);
    await pool.query('SELECT pg_notify($1, $2)', [channel, '']);
    return await heard;
  } finally {
    clearTimeout(timer);
  }
}
