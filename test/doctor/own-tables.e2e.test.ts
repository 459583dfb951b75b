import { expect } from 'chai';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { asSuperuser } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

interface Examined {
  name: string;
  result: string;
  findings: { code: string; message: string }[];
}

describe("the comparison of the service's tables with the migrations", () => {
  const { service, api, client: send } = withService();

  const examined = async (): Promise<Examined[]> => {
    const { out } = await dps(['doctor', '--json'], { DATABASE_URL: service.databaseUrl });
    return (JSON.parse(out) as { checks: Examined[] }).checks;
  };
  const foundBy = async (name: string) => (await examined()).find((check) => check.name === name)?.findings ?? [];

  it('finds no differences, and leaves nothing behind', async () => {
    const objects = `SELECT count(*)::int AS count FROM pg_class`;
    const before = await api.sql(objects);
    expect(await foundBy('own tables = migrations')).to.deep.equal([]);
    expect(await api.sql(objects)).to.deep.equal(before);
  });

  const S = 'service.service_';
  const cases: [what: string, change: string, back: string, told: string][] = [
    [
      'a missing trigger',
      `DROP TRIGGER service_tokens_epoch ON ${S}tokens`,
      `CREATE TRIGGER service_tokens_epoch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${S}tokens
         FOR EACH STATEMENT EXECUTE FUNCTION service.service_next_auth_epoch()`,
      'trigger service_tokens_epoch on service_tokens is missing',
    ],
    [
      'a disabled trigger',
      `ALTER TABLE ${S}users DISABLE TRIGGER service_users_epoch`,
      `ALTER TABLE ${S}users ENABLE TRIGGER service_users_epoch`,
      'trigger service_users_epoch on service_users was changed',
    ],
    [
      'a foreign trigger',
      `CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER stranger BEFORE INSERT ON ${S}events FOR EACH ROW WHEN (false) EXECUTE FUNCTION public.f()`,
      'DROP FUNCTION public.f CASCADE',
      'trigger stranger on service_events was added',
    ],
    [
      'another function',
      `CREATE OR REPLACE FUNCTION service.service_next_auth_epoch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      '',
      'function service_next_auth_epoch() was changed',
    ],
    [
      'a rule',
      `CREATE RULE nothing AS ON DELETE TO ${S}sessions DO INSTEAD NOTHING`,
      `DROP RULE nothing ON ${S}sessions`,
      'rule nothing on service_sessions was added',
    ],
    [
      'row security',
      `ALTER TABLE ${S}tokens ENABLE ROW LEVEL SECURITY; CREATE POLICY hidden ON ${S}tokens USING (false)`,
      `DROP POLICY hidden ON ${S}tokens; ALTER TABLE ${S}tokens DISABLE ROW LEVEL SECURITY`,
      'policy hidden on service_tokens was added',
    ],
    [
      'a dropped constraint',
      `ALTER TABLE ${S}users DROP CONSTRAINT service_users_role_check`,
      `ALTER TABLE ${S}users ADD CHECK (role IN ('admin', 'auditor', 'author', 'reader'))`,
      'constraint service_users_role_check on service_users is missing',
    ],
    [
      'disabled triggers of a foreign key',
      `ALTER TABLE ${S}tokens DISABLE TRIGGER ALL`,
      `ALTER TABLE ${S}tokens ENABLE TRIGGER ALL`,
      'constraint service_tokens_user_id_fkey on service_tokens was changed',
    ],
    [
      'a dropped index',
      `DROP INDEX ${S}users_email`,
      `CREATE UNIQUE INDEX service_users_email ON ${S}users (pg_catalog.lower(email))`,
      'index service_users_email is missing',
    ],
    [
      'another default',
      `ALTER TABLE ${S}users ALTER status SET DEFAULT 'suspended'`,
      `ALTER TABLE ${S}users ALTER status SET DEFAULT 'active'`,
      'column service_users.status was changed',
    ],
    [
      'a column that was added',
      `ALTER TABLE ${S}users ADD extra text GENERATED ALWAYS AS (email) STORED`,
      `ALTER TABLE ${S}users DROP extra`,
      'column service_users.extra was added',
    ],
    [
      'another owner',
      `ALTER TABLE ${S}trash OWNER TO postgres`,
      `DO $$ BEGIN EXECUTE format('ALTER TABLE ${S}trash OWNER TO %I', (SELECT tableowner FROM pg_tables WHERE tablename = 'service_migrations')); END $$`,
      'table service_trash was changed',
    ],
    [
      'a table that inherits',
      `CREATE TABLE public.child () INHERITS (${S}users)`,
      'DROP TABLE public.child',
      'inheritance child of service_users was added',
    ],
    [
      'a table that a crash would empty',
      `ALTER TABLE ${S}projections SET UNLOGGED`,
      `ALTER TABLE ${S}projections SET LOGGED`,
      'table service_projections was changed',
    ],
    [
      'a setting that the service does not use',
      `INSERT INTO ${S}settings (key, value) VALUES (E'evil\\n', '"secret"')`,
      `DELETE FROM ${S}settings WHERE key = E'evil\\n'`,
      String.raw`row "evil\n" of service_settings was added`,
    ],
    [
      'a projection that the service does not have',
      `INSERT INTO ${S}projections (name, kind) VALUES ('other', 'transactional')`,
      `DELETE FROM ${S}projections WHERE name = 'other'`,
      'row "other" of service_projections was added',
    ],
    [
      'a table that others can change',
      `GRANT SELECT, UPDATE ON ${S}users TO PUBLIC`,
      `REVOKE ALL ON ${S}users FROM PUBLIC`,
      'privilege UPDATE on service_users of PUBLIC was added',
    ],
    [
      'a column that others can change',
      `GRANT UPDATE (role) ON ${S}users TO pg_monitor`,
      `REVOKE ALL (role) ON ${S}users FROM pg_monitor`,
      'privilege UPDATE on service_users of pg_monitor was added',
    ],
  ];
  for (const [what, change, back, expected] of cases) {
    it(`reports ${what}`, async () => {
      const [definition] = await api.sql<{ text: string }>(
        `SELECT pg_get_functiondef('service.service_next_auth_epoch()'::regprocedure) AS text`,
      );
      await asSuperuser(service.databaseUrl, change);
      try {
        const [finding] = await foundBy('own tables = migrations');
        expect(finding).to.have.property('code', 'OWN_TABLES_DIFFER');
        expect(finding?.message).to.include(expected);
      } finally {
        await asSuperuser(service.databaseUrl, back === '' ? (definition?.text ?? '') : back);
      }
      expect(await foundBy('own tables = migrations')).to.deep.equal([]);
    });
  }

  it('reports a change request whose state does not follow from its events', async () => {
    await send('/collections', json({ collection: 'articles', schema: {} }));
    const snapshot = (await send('/schema/snapshot')).json as { collections: { meta: { note: string | null } }[] };
    for (const each of snapshot.collections) each.meta.note = 'wanted';
    const opened = await send('/changes', json({ title: 'a note', snapshot }));
    expect(opened.status, opened.text).to.be.oneOf([200, 201, 202]);
    await api.sql(`UPDATE ${S}changes SET state = 'approved'`);
    try {
      const findings = (await examined()).flatMap((check) => check.findings);
      expect(findings.map(({ code }) => code)).to.deep.equal(['CHANGES_DIFFER']);
      expect(findings[0]?.message).to.include('expected "open", found "approved"');
    } finally {
      await api.sql(`UPDATE ${S}changes SET state = 'open'`);
    }
  });

  it('reports a public key that does not match its private key', async () => {
    await send('/history/checkpoint');
    const [key] = await api.sql<{ id: number; public_key: Buffer }>(`SELECT id, public_key FROM ${S}keys`);
    await api.sql(`UPDATE ${S}keys SET public_key = sha256('other')`);
    try {
      expect((await foundBy('own tables = migrations')).map(({ code }) => code)).to.deep.equal(['KEY_ALTERED']);
    } finally {
      await api.sql(`UPDATE ${S}keys SET public_key = $1`, [key?.public_key]);
    }
  });

  it('reports a private key that is not a key, and signs nothing with it', async () => {
    // An empty log has no checkpoint.
    await send('/collections', json({ collection: 'signed', schema: {} }));
    expect((await send('/history/checkpoint')).status).to.equal(200);
    const [key] = await api.sql<{ private_key: Buffer }>(`SELECT private_key FROM ${S}keys`);
    await api.sql(`UPDATE ${S}keys SET private_key = 'none'`);
    try {
      expect((await foundBy('own tables = migrations')).map(({ code }) => code)).to.deep.equal(['KEY_ALTERED']);
      const refused = await send('/history/checkpoint');
      expect([refused.status, refused.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 503 && text.includes('dps keys rotate'),
      );
    } finally {
      await api.sql(`UPDATE ${S}keys SET private_key = $1`, [key?.private_key]);
    }
    expect((await send('/history/checkpoint')).status).to.equal(200);
  });
});
