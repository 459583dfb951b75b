/** A purge before the end of the retention period is evaluated like a deletion with `purge`. */
import { expect } from 'chai';
import { dps } from '../../support/dps.js';
import { until } from '../../support/until.js';
import { startService } from '../../support/service.js';
import { createApi } from '../../support/api.js';
import { withService } from '../../support/with-service.js';

interface Warning {
  code: string;
  level: string;
  action: string;
  message: string;
}

const REFUSED = { status: 422, code: 'POLICY_REFUSED' } as const;

describe('purging from the trash under a policy', () => {
  const { api, client, service } = withService({ consistent: true });

  const create = async (collection: string): Promise<void> => {
    const fields = [{ field: 'body', type: 'string', interface: 'input', schema: {} }];
    await api.ok('POST', '/collections', { collection, schema: {}, fields });
    await api.sql(`INSERT INTO ${collection} (body) VALUES ('b')`);
  };
  /** Returns the position of the deletion. */
  const deleted = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    return (await api.ok<{ data: { position: number }[] }>('GET', '/trash?limit=1')).data[0]?.position ?? 0;
  };
  const inTrash = async (): Promise<number[]> =>
    (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data.map(({ position }) => position);
  const policy = (body: object) => api.ok('PUT', '/policy', body);
  const verified = async (): Promise<void> => {
    expect(await api.ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
  };

  afterEach(async () => {
    await policy({});
    for (const position of await inTrash()) await api.ok('DELETE', `/trash/${position}`);
    await verified();
  });

  it('follows the names of the collection, even before a rename and in the trash', async () => {
    await policy({ collections: [{ pattern: 'prod_*', findings: { DATA_NOT_KEPT: 'refuse' } }] });
    await create('prod_a');
    const field = await deleted('/fields/prod_a/body');
    await api.ok('POST', '/collections/prod_a/rename', { to: 'tmp_a' });
    const table = await deleted('/collections/tmp_a');
    await create('tmp_a');
    const other = await deleted('/collections/tmp_a');
    const head = await api.head();
    for (const [position, place] of [
      [field, 'prod_a.body'],
      [table, 'tmp_a'],
    ] as const) {
      const { message, extensions } = await api.refused(REFUSED, 'DELETE', `/trash/${position}`);
      expect(extensions).to.include({ finding: 'DATA_NOT_KEPT', action: 'refuse', place });
      expect(message).to.contain('the trash no longer keeps it');
    }
    expect(await api.head()).to.equal(head);
    expect(await inTrash()).to.include.members([field, table, other]);
    await api.ok('DELETE', `/trash/${other}`);
    await create('prod_b');
    for (const path of ['/collections/prod_b', '/fields/prod_b/body']) {
      const { extensions } = await api.refused(REFUSED, 'DELETE', `${path}?purge`);
      expect(extensions).to.include({ finding: 'DATA_NOT_KEPT' });
    }
    await api.ok('DELETE', '/collections/prod_b');
  });

  it('shows its findings in a dry run, and accepts an acknowledgement by header and by dps', async () => {
    await create('seen');
    const field = await deleted('/fields/seen/body');
    const table = await deleted('/collections/seen');
    await policy({ findings: { LOSES_DATA: 'acknowledge' } });
    const { warnings } = await api.ok<{ warnings: Warning[] }>('DELETE', `/trash/${field}?dry_run`);
    expect(warnings.map(({ code, level, action, message }) => [code, level, action, message])).to.deep.equal([
      ['LOSES_DATA', 'danger', 'acknowledge', `purge column seen.body of position ${field}: data is permanently lost`],
      ['DATA_NOT_KEPT', 'danger', 'warn', `purge column seen.body of position ${field}: the trash no longer keeps it`],
    ]);
    await api.refused(REFUSED, 'DELETE', `/trash/${field}`);
    const acknowledging = (place: string) => ({
      method: 'DELETE',
      headers: { 'x-acknowledge': `LOSES_DATA:${place}` },
    });
    expect((await client(`/trash/${field}`, acknowledging('seen'))).status).to.equal(400);
    expect((await client(`/trash/${field}`, acknowledging('seen.body'))).status).to.equal(204);
    const environment = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const purge = ['trash', 'purge', String(table)];
    const refused = await dps(purge, environment);
    expect(refused.code).to.equal(3);
    expect(refused.err).to.contain('(--acknowledge LOSES_DATA:seen): purge table seen');
    const purged = await dps([...purge, '--acknowledge', 'LOSES_DATA:seen'], environment);
    expect(purged).to.deep.equal({ code: 0, out: `seen of position ${table} was purged.`, err: '' });
    const { data } = await api.ok<{ data: { context: { acknowledged: object[] } }[] }>(
      'GET',
      `/history/events?after=${(await api.head()) - 1}`,
    );
    expect(data[0]?.context.acknowledged).to.deep.equal([{ code: 'LOSES_DATA', place: 'seen' }]);
  });

  it('explains how to get an approval, and purges the data with one', async () => {
    await create('kept');
    await policy({ findings: { DATA_NOT_KEPT: 'approve' } });
    const position = await deleted('/fields/kept/body');
    const { message } = await api.refused(REFUSED, 'DELETE', `/trash/${position}`);
    expect(message).to.contain('restore it, and delete it with a change request that has the option purge');
    await api.ok('POST', `/trash/${position}/restore`, {});
    const snapshot = await api.ok<{ fields: { collection: string; field: string }[] }>('GET', '/schema/snapshot');
    const fields = snapshot.fields.filter(({ collection, field }) => collection !== 'kept' || field !== 'body');
    const proposal = { title: 'Purge', snapshot: { ...snapshot, fields }, purge: true };
    const { data } = await api.ok<{ data: { id: string; plan: string } }>('POST', '/changes', proposal);
    await api.refused(REFUSED, 'POST', `/changes/${data.id}/apply`);
    await api.ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    await api.ok('POST', `/changes/${data.id}/apply`);
    expect(await inTrash()).to.deep.equal([]);
    await policy({});
    await api.ok('DELETE', '/collections/kept');
  });

  it('does not apply to the purge of an expired entry', async () => {
    const short = await startService({ KEEP_DELETED: '1s' });
    try {
      const other = createApi(short);
      await other.ok('PUT', '/policy', { findings: { DATA_NOT_KEPT: 'refuse' } });
      await other.ok('POST', '/collections', { collection: 'brief', schema: {}, fields: [] });
      await other.ok('DELETE', '/collections/brief');
      await until('the service purged it', async () => {
        const { data } = await other.ok<{ data: { data: { expired?: true } }[] }>(
          'GET',
          '/history/events?type=trash.purged',
        );
        return data[0]?.data.expired === true;
      });
      expect(await other.ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
    } finally {
      await short.stop();
    }
  });
});
