import { expect } from 'chai';
import pg from 'pg';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { readDatabase } from '../../../src/postgres/server.js';
import { json } from '../../support/client.js';
import { startOpenIdProvider } from '../../support/openid-provider.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';

describe('a pipeline that waits for its turn', () => {
  const { api, client, service } = withService({ settings: { LOCK_TIMEOUT: '5min' }, consistent: true });

  it('changes nothing if its token has ended meanwhile', async () => {
    const provider = await startOpenIdProvider();
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    try {
      await provider.register(service.url);
      const claims = { iss: provider.issuer, aud: 'dps', sub: 'repo:shop/schema' };
      const scope = { role: 'admin', actions: ['read', 'apply'] };
      const rule = { name: 'deploy', issuer: provider.issuer, audience: 'dps', claims: { sub: claims.sub }, scope };
      await api.ok('PUT', '/auth/trust', { rules: [rule] });
      const now = Math.floor(Date.now() / 1000);
      const idToken = await provider.signed({ ...claims, iat: now, exp: now + 300, jti: '1' });
      const exchange = await client('/auth/exchange', { ...json({ token: idToken }), token: null });
      expect(exchange.status, exchange.text).equal(200);
      const { id, token } = (exchange.json as { data: { id: string; token: string } }).data;
      const create = (collection: string) => client('/collections', { ...json({ collection, schema: null }), token });
      expect((await create('first')).status).equal(200);

      const { rows } = await holder.query('SELECT to_jsonb(t) AS row FROM service.service_tokens t WHERE id = $1', [
        id,
      ]);
      const { database } = await readDatabase(holder);
      await holder.query('BEGIN');
      const key = advisoryKey({ database, schema: 'public' }, 'log');
      await holder.query('SELECT pg_advisory_xact_lock($1)', [key]);
      const creation = create('second');
      await until('the pipeline waits for the log lock', async () => {
        const waiting = await holder.query(
          `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
              AND (classid::bigint << 32 | objid::bigint) = $1
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          [key],
        );
        return waiting.rowCount === 1;
      });
      // PUT /auth/trust also deletes the token under this lock.
      await holder.query('DELETE FROM service.service_tokens WHERE id = $1', [id]);
      await holder.query('COMMIT');
      const rejected = await creation;
      expect([rejected.status, rejected.codes], rejected.text).deep.equal([403, ['FORBIDDEN']]);
      expect(rejected.text).include('became invalid while the request waited');
      expect((await client('/collections/second')).status).equal(404);

      const restore =
        'INSERT INTO service.service_tokens SELECT * FROM jsonb_populate_record(NULL::service.service_tokens, $1)';
      await holder.query(restore, [(rows[0] as { row: object }).row]);
      expect((await create('second')).status).equal(200);
    } finally {
      await holder.end();
      await provider.stop();
    }
  });
});
