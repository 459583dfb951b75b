/** Expired entries are purged once by any running process, within the limits of an account. */
import { expect } from 'chai';
import { type Api, createApi } from '../../support/api.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { keepInLog } from '../../support/tamper.js';
import { until } from '../../support/until.js';

interface Warning {
  code: string;
  message: string;
}

/** Messages that deleted objects are not kept in the trash. */
const NOTHING_KEPT = 'deleted objects are not kept in the trash';

describe('the trash', () => {
  let database: TestDatabase;
  const services: TestService[] = [];
  const apis: Api[] = [];

  beforeEach(async () => {
    database = await createDatabase('migrated');
  });
  afterEach(async () => {
    for (const api of apis.splice(0)) await api.stop();
    for (const service of services.splice(0)) await service.stop();
    await database.drop();
  });

  const start = async (settings: Record<string, string> = {}): Promise<Api> => {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    services.push(service);
    const api = createApi(service);
    apis.push(api);
    return api;
  };
  const make = (api: Api, collection: string) => api.ok('POST', '/collections', { collection, schema: {} });
  const trash = async (api: Api): Promise<{ position: number; collection: string }[]> =>
    (await api.ok<{ data: { position: number; collection: string }[] }>('GET', '/trash')).data;
  const purges = (api: Api) =>
    api.sql<{ collection: string; reason: string; data: object; actor: string }>(
      `SELECT collection, reason, data, actor ->> 'id' AS actor FROM service.service_events WHERE type = 'trash.purged' ORDER BY position`,
    );

  const revokeSchemas = async (): Promise<void> => {
    const { pathname, username } = new URL(database.connectionString);
    const name = pathname.slice(1);
    await asSuperuser(database.connectionString, `REVOKE CREATE ON DATABASE "${name}" FROM "${username}", PUBLIC`);
  };

  it('is purged at the expiry by one of several processes', async () => {
    const api = await start({ KEEP_DELETED: '1s' });
    await start({ KEEP_DELETED: '1s' });
    await make(api, 'short');
    await api.ok('DELETE', '/collections/short');
    // It may be purged before the list can be read.
    const [entry] = await api.sql<{ position: number }>(
      `SELECT position::int FROM service.service_events WHERE type = 'collection.deleted'`,
    );
    await until('it is purged', async () => (await trash(api)).length === 0);
    await make(api, 'later');
    expect(await purges(api)).to.deep.equal([
      {
        collection: 'short',
        reason: 'KEEP_DELETED',
        data: { position: entry?.position, expired: true, kept_in: 1 },
        actor: 'service',
      },
    ]);
    expect(await api.sql(`SELECT FROM pg_class WHERE relnamespace = 'service_trash_s1'::regnamespace`)).to.deep.equal(
      [],
    );
    const gone = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${entry?.position}/restore`);
    expect(gone.extensions['purged_at']).to.match(/^20/);
    for (const service of services) expect(service.log()).not.to.contain(NOTHING_KEPT);
  });

  it('continues after an entry that cannot be purged, and catches up after downtime', async () => {
    const api = await start();
    for (const name of ['needed', 'expired', 'kept']) {
      await make(api, name);
      await api.ok('DELETE', `/collections/${name}`);
    }
    const needed = (await trash(api)).find(({ collection }) => collection === 'needed');
    await api.sql(`CREATE VIEW odd AS SELECT id FROM service_trash_s1.needed`);
    await keepInLog(api, 'now()', `collection <> 'kept'`);
    await api.sql(`UPDATE service.service_trash SET kept_until = now() WHERE collection <> 'kept'`);
    await apis.pop()?.stop();
    await services.pop()?.stop();
    const again = await start();
    await until('the other one is purged', async () => (await purges(again)).length > 0);
    expect((await purges(again)).map(({ collection }) => collection)).to.deep.equal(['expired']);
    expect((await trash(again)).map(({ collection }) => collection)).to.deep.equal(['kept', 'needed']);
    await until('it was told', () => services[0]?.log().includes('cannot be purged') === true);
    const refused = await again.refused({ status: 409, code: 'IN_USE' }, 'DELETE', `/trash/${needed?.position}`);
    expect(refused.message).to.contain('view odd depends on table');
  });

  it('continues after an entry whose purge PostgreSQL rejects for any reason', async () => {
    const api = await start();
    for (const name of ['rejected', 'expired']) {
      await make(api, name);
      await api.ok('DELETE', `/collections/${name}`);
    }
    await asSuperuser(
      database.connectionString,
      `CREATE FUNCTION public.no_drop() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
         IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_name = 'rejected') THEN RAISE EXCEPTION 'not this one'; END IF; END $$`,
      'CREATE EVENT TRIGGER no_drop ON sql_drop EXECUTE FUNCTION public.no_drop()',
    );
    await keepInLog(api, 'now()', 'true');
    await api.sql(
      `UPDATE service.service_trash SET kept_until = now() - position * interval '-1 second' - interval '1 day'`,
    );
    // Wakes the purger, which may have looked before the entries expired.
    await make(api, 'later');
    await until('the other one is purged', async () => (await purges(api)).length > 0);
    expect((await purges(api)).map(({ collection }) => collection)).to.deep.equal(['expired']);
    expect((await trash(api)).map(({ collection }) => collection)).to.deep.equal(['rejected']);
    expect(services[0]?.log()).contain('cannot be purged').and.contain('the function no_drop() raised');
  });

  it('creates one shared schema in a dry run, and eight in the change', async () => {
    const api = await start();
    await make(api, 'articles');
    // A rollback does not reset a sequence.
    await asSuperuser(
      database.connectionString,
      'CREATE SEQUENCE public.created MINVALUE 0',
      'GRANT ALL ON SEQUENCE public.created TO PUBLIC',
      `CREATE FUNCTION public.count_schema() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('public.created'); END $$`,
      `CREATE EVENT TRIGGER count_schema ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION public.count_schema()`,
      `SELECT nextval('public.created')`,
    );
    const created = async () => (await api.sql<{ n: number }>('SELECT last_value::int AS n FROM public.created'))[0]?.n;
    const plan = await api.ok<{ accepted: boolean }>('DELETE', '/collections/articles?dry_run');
    expect(plan.accepted).equal(true);
    expect(await created()).equal(1);
    await api.ok('DELETE', '/collections/articles');
    expect(await created()).equal(9);
  });

  it('rejects a delete if PostgreSQL rejects new schemas, and gives the reason', async () => {
    const api = await start();
    await make(api, 'articles');
    await asSuperuser(
      database.connectionString,
      `CREATE FUNCTION public.no_schemas() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no new schemas'; END $$`,
      `CREATE EVENT TRIGGER no_schemas ON ddl_command_start WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION public.no_schemas()`,
    );
    const refused = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'DELETE', '/collections/articles');
    expect(refused.message).contain('create the trash schema of position 2: the function no_schemas() raised');
    await asSuperuser(database.connectionString, 'DROP EVENT TRIGGER no_schemas');
    await api.ok('DELETE', '/collections/articles');
  });

  it('purges nothing before the expiry in the log, regardless of the list', async () => {
    const api = await start();
    await make(api, 'articles');
    await api.ok('DELETE', '/collections/articles');
    await api.sql(`UPDATE service.service_trash SET kept_until = now() - interval '1 day'`);
    // Wakes the purger, which may have looked before the update and then waits for a minute.
    await make(api, 'later');
    await until('it was told', () => services[0]?.log().includes('the trash keeps it until') === true);
    expect(await purges(api)).deep.equal([]);
    expect((await trash(api)).map(({ collection }) => collection)).deep.equal(['articles']);
    await api.sql(`UPDATE service.service_trash SET collection = 'others'`);
    const [entry] = await trash(api);
    const refused = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', `/trash/${entry?.position}`);
    expect(refused.message).contain('does not match the log');
  });

  it('is reported by verification if it was purged before its expiry', async () => {
    const api = await start({ KEEP_DELETED: '1s' });
    await make(api, 'articles');
    await api.ok('DELETE', '/collections/articles');
    await until('it is purged', async () => (await purges(api)).length === 1);
    const differences = async () =>
      (await api.ok<{ data: { differences: { where: string; found: unknown }[] } }>('GET', '/projections/verify')).data
        .differences;
    expect(await differences()).deep.equal([]);
    await keepInLog(api, `now() + interval '1 day'`, 'true');
    const [{ where, found } = { where: '', found: '' }] = await differences();
    expect([where, found]).deep.equal(['trash', `purged as expired by position ${await api.head()}`]);
  });

  it('keeps nothing with KEEP_DELETED=0', async () => {
    await revokeSchemas();
    const api = await start({ KEEP_DELETED: '0' });
    await make(api, 'gone');
    await api.ok('DELETE', '/collections/gone');
    expect(await trash(api)).to.deep.equal([]);
    expect(await api.sql(`SELECT data FROM service.service_events WHERE type = 'collection.deleted'`)).to.deep.equal([
      { data: {} },
    ]);
    expect(services[0]?.log()).not.to.contain(NOTHING_KEPT);
  });

  it('keeps nothing if the account cannot create schemas, and reports it', async () => {
    await revokeSchemas();
    const api = await start();
    await until('it was told', () => services[0]?.log().includes(NOTHING_KEPT) === true);
    await make(api, 'gone');
    const snapshot = await api.ok<Record<string, unknown>>('GET', '/schema/snapshot');
    const diff = await api.ok<object>('POST', '/schema/diff', { ...snapshot, collections: [], fields: [] });
    const plan = await api.ok<{ warnings: Warning[] }>('POST', '/schema/apply?dry_run', diff);
    expect(plan.warnings.map(({ code }) => code)).to.deep.equal(['LOSES_DATA', 'DATA_NOT_KEPT']);
    expect(plan.warnings[0]?.message).to.contain('permanently lost');
    const because =
      'the trash keeps nothing, because the database role of the service cannot create schemas in this database (GRANT CREATE ON DATABASE)';
    expect(plan.warnings[1]).to.include({ collection: 'gone', message: `drop table gone: ${because}` });
    await api.ok('POST', '/fields/gone', { field: 'n', type: 'integer', interface: 'input', schema: {} });
    const back = await api.ok<object>('GET', `/history/diff?to=${(await api.head()) - 1}`);
    const { warnings } = await api.ok<{ warnings: (Warning & { field: string })[] }>(
      'POST',
      '/schema/apply?dry_run',
      back,
    );
    const reported = warnings.filter(({ code }) => code === 'DATA_NOT_KEPT');
    expect(reported.map(({ field, message }) => [field, message])).to.deep.equal([
      ['n', `delete field gone.n: ${because}`],
    ]);
    await api.ok('DELETE', '/fields/gone/n');
    await api.ok('DELETE', '/collections/gone');
    expect(await trash(api)).to.deep.equal([]);
  });

  it('rejects deleting a table it may drop but not keep, and drops it on request', async () => {
    const api = await start();
    await make(api, 'foreign_news');
    await asSuperuser(database.connectionString, 'CREATE PUBLICATION theirs FOR TABLE foreign_news');
    const refused = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/foreign_news');
    const why = 'it is in the publication "theirs", which the database role of the service does not own';
    expect(refused.message).to.equal(
      `Table "foreign_news" cannot be kept in the trash: ${why}. Use "purge" to drop it immediately.`,
    );
    expect(refused.extensions['collection']).to.equal('foreign_news');
    await api.ok('DELETE', '/collections/foreign_news?purge');
    await make(api, 'heir');
    await api.sql('CREATE TABLE ancestor (id integer NOT NULL); ALTER TABLE heir INHERIT ancestor');
    const inherits = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/heir');
    expect(inherits.message).to.equal(
      'Table "heir" cannot be kept in the trash: it inherits from ancestor, whose queries would still return its rows. Use "purge" to drop it immediately.',
    );
    await api.sql('ALTER TABLE heir NO INHERIT ancestor; DROP TABLE ancestor');
    await api.ok('DELETE', '/collections/heir?purge');
    expect(await trash(api)).to.deep.equal([]);
  });

  it('uses schemas other than the managed one, regardless of its name', async () => {
    const api = await start({ DB_SCHEMA: 'Other places' });
    await make(api, 'moved');
    await api.ok('POST', '/fields/moved', {
      field: 'n',
      type: 'integer',
      interface: 'input',
      schema: { is_unique: true },
    });
    await api.sql('INSERT INTO "Other places".moved (n) VALUES (7)');
    await api.ok('DELETE', '/collections/moved');
    const [entry] = await trash(api);
    const kept = await api.sql(`SELECT n FROM "service_Other places_trash_s1".moved`);
    expect(kept).to.deep.equal([{ n: 7 }]);
    await api.ok('POST', `/trash/${entry?.position}/restore`, { as: 'back' });
    expect(await api.sql('SELECT n FROM "Other places".back')).to.deep.equal([{ n: 7 }]);
    const verified = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(verified.data.ok).to.equal(true);
    await api.ok('DELETE', '/collections/back');
    const [again] = await trash(api);
    await api.ok('DELETE', `/trash/${again?.position}`);
  });
});
