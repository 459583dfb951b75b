import { expect } from 'chai';
import { asSuperuser } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';

interface Plan {
  accepted: boolean;
  errors?: { message: string }[];
}

const plain = (field: string, schema: object = {}) => ({ field, type: 'string', schema, meta: { interface: 'input' } });

describe('the trash after manual changes', () => {
  const { api, service } = withService();

  it('reports that a missing table cannot be kept when its collection is deleted', async () => {
    await api.ok('POST', '/collections', { collection: 'away', schema: {} });
    const snapshot = await api.ok<{ collections: { collection: string }[]; fields: { collection: string }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const others = ({ collection }: { collection: string }) => collection !== 'away';
    const without = {
      ...snapshot,
      collections: snapshot.collections.filter(others),
      fields: snapshot.fields.filter(others),
    };
    const diff = await api.ok<object>('POST', '/schema/diff', without);
    const notKept = async () => {
      const { warnings } = await api.ok<{ warnings: { code: string; message: string }[] }>(
        'POST',
        '/schema/apply?dry_run',
        diff,
      );
      return warnings.filter(({ code }) => code === 'DATA_NOT_KEPT').map(({ message }) => message);
    };
    expect(await notKept()).to.deep.equal([]);
    await api.sql('ALTER TABLE away RENAME TO elsewhere');
    expect(await notKept()).to.deep.equal([
      'drop table away: the trash keeps nothing, because the table does not exist: it was dropped or renamed by hand',
    ]);
  });

  it('rejects restoring a field whose table or primary key was dropped by hand, with its location', async () => {
    for (const [name, byHand] of [
      ['gone', 'ALTER TABLE gone RENAME TO hidden'],
      ['keyless', 'ALTER TABLE keyless DROP COLUMN id'],
    ] as const) {
      await api.ok('POST', '/collections', {
        collection: name,
        schema: {},
        fields: [plain('a', { is_nullable: false }), plain('b')],
      });
      await api.sql(`INSERT INTO ${name} (a) VALUES ('x')`);
      await api.ok('DELETE', `/fields/${name}/a`);
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      const position = data[0]!.position;
      await api.sql(byHand);
      const tried = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, {});
      expect([tried.accepted, tried.errors?.length]).to.deep.equal([false, 1]);
      const where = { status: 422, code: 'DATABASE_REFUSED' } as const;
      const { extensions } = await api.refused(where, 'POST', `/trash/${position}/restore`, {});
      expect(extensions['collection']).to.equal(name);
    }
  });

  it('rejects deleting a field if the primary key was dropped by hand, until the key exists again or with purge', async () => {
    const fields = [plain('a'), plain('b')];
    await api.ok('POST', '/collections', { collection: 'unkeyed', schema: {}, fields });
    await api.sql(`INSERT INTO unkeyed (a) VALUES ('x'), ('y');
      ALTER TABLE unkeyed DROP CONSTRAINT unkeyed_pkey; ALTER TABLE unkeyed ALTER id DROP IDENTITY IF EXISTS`);
    const isRefused = async () => {
      const where = { status: 422, code: 'DATABASE_REFUSED' } as const;
      const { extensions, message } = await api.refused(where, 'DELETE', '/fields/unkeyed/a');
      expect([extensions['option'], message.includes('was dropped by hand')]).to.deep.equal(['purge', true]);
    };
    await api.sql('UPDATE unkeyed SET id = 1');
    await isRefused();
    await api.sql(
      `UPDATE unkeyed SET id = 2 WHERE a = 'y'; ALTER TABLE unkeyed ALTER id DROP NOT NULL, ADD UNIQUE (id)`,
    );
    await isRefused();
    await api.sql('ALTER TABLE unkeyed ALTER id SET NOT NULL');
    await api.ok('DELETE', '/fields/unkeyed/a');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]!.position}/restore`, {});
    expect(await api.sql('SELECT a FROM unkeyed ORDER BY id')).to.deep.equal([{ a: 'x' }, { a: 'y' }]);
    await api.sql('ALTER TABLE unkeyed DROP CONSTRAINT unkeyed_id_key');
    await isRefused();
    await api.ok('DELETE', '/fields/unkeyed/a?purge');
  });

  it('rejects restoring a table without the privilege CREATE, names the GRANT, and leaves the table in the trash', async () => {
    await api.ok('POST', '/collections', { collection: 'denied', schema: {}, fields: [plain('a')] });
    await api.sql(`INSERT INTO denied (a) VALUES ('x')`);
    await api.ok('DELETE', '/collections/denied');
    const trash = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const { position } = trash.data[0]!;
    const [role] = await api.sql<{ name: string }>('SELECT current_user::text AS name');
    const [schema] = await api.sql<{ owner: string }>(
      `SELECT nspowner::regrole::text AS owner FROM pg_namespace WHERE nspname = 'public'`,
    );
    const head = await api.head();
    await asSuperuser(
      service.databaseUrl,
      'ALTER SCHEMA public OWNER TO CURRENT_USER',
      `REVOKE CREATE ON SCHEMA public FROM PUBLIC, "${role?.name}"`,
    );
    try {
      for (const body of [{}, { as: 'other' }]) {
        const expected = { status: 422, code: 'DATABASE_REFUSED' } as const;
        const { message } = await api.refused(expected, 'POST', `/trash/${position}/restore`, body);
        expect(message)
          .to.contain('permission denied for schema public')
          .and.contain('GRANT USAGE, CREATE ON SCHEMA public TO');
        const tried = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, body);
        expect([tried.accepted, tried.errors?.[0]?.message]).to.deep.equal([false, message]);
      }
      expect(await api.head()).to.equal(head);
      expect(await api.ok('GET', '/trash')).to.deep.equal(trash);
    } finally {
      await asSuperuser(
        service.databaseUrl,
        `ALTER SCHEMA public OWNER TO ${schema?.owner}`,
        `GRANT USAGE, CREATE ON SCHEMA public TO "${role?.name}"`,
      );
    }
    await api.ok('POST', `/trash/${position}/restore`, { as: 'other' });
    expect(await api.sql('SELECT a FROM other')).to.deep.equal([{ a: 'x' }]);
  });

  describe('in the kept table', () => {
    const deleted = async (name: string): Promise<{ position: number; kept: string }> => {
      await api.ok('POST', '/collections', { collection: name, schema: {}, fields: [plain('a'), plain('b')] });
      await api.sql(`INSERT INTO ${name} (a, b) VALUES ('x', 'y')`);
      await api.ok('DELETE', `/collections/${name}`);
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      const [row] = await api.sql<{ kept: string }>(
        `SELECT c.oid::regclass::text AS kept FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relname = $1 AND n.nspname LIKE 'service_trash_%'`,
        [name],
      );
      return { position: data[0]!.position, kept: row?.kept ?? '' };
    };

    for (const [what, change, lost] of [
      ['lacks a column', (kept: string) => `ALTER TABLE ${kept} DROP COLUMN b`, '"b"'],
      ['was replaced', (kept: string) => `DROP TABLE ${kept}; CREATE TABLE ${kept} (a text, c text)`, '"id", "b"'],
    ] as const)
      it(`neither restores nor purges it if it ${what}, and names the columns`, async () => {
        const { position, kept } = await deleted(`kept_${what.length}`);
        await api.sql(change(kept));
        const conflict = { status: 409, code: 'IN_USE' } as const;
        const purge = await api.refused(conflict, 'DELETE', `/trash/${position}`);
        expect(purge.message).to.contain(`has no column ${lost}`).and.contain('was not purged');
        const restore = await api.refused(conflict, 'POST', `/trash/${position}/restore`, {});
        expect(restore.message).to.contain(`has no column ${lost}`).and.contain('cannot be restored');
        const planned = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, {});
        expect(planned.accepted).to.equal(false);
        const back = await api.ok<object>('GET', `/history/diff?to=${position - 1}`);
        await api.refused(conflict, 'POST', '/schema/apply', back);
        expect(await api.sql(`SELECT a FROM ${kept}`)).to.have.length(what === 'was replaced' ? 0 : 1);
        await api.sql(`DROP TABLE ${kept}`);
        await api.ok('DELETE', `/trash/${position}`);
      });

    const altered = async (): Promise<string[]> => {
      const { data } = await api.ok<{ data: { checks: { findings: { code: string; message: string }[] }[] } }>(
        'GET',
        '/server/doctor',
      );
      const found = data.checks.flatMap(({ findings }) => findings).filter(({ code }) => code === 'TRASH_DIFFERS');
      return found.flatMap(({ message }) => message.split('\n').slice(1));
    };

    for (const type of ['bigint', 'character varying(50)'])
      it(`restores it only after a column of type ${type} has its own type again, which the doctor reports`, async () => {
        const name = `typed_${type.length}`;
        const { position, kept } = await deleted(name);
        await api.sql(`ALTER TABLE ${kept} ALTER COLUMN b TYPE ${type} USING '1'`);
        const conflict = { status: 409, code: 'IN_USE' } as const;
        const { message } = await api.refused(conflict, 'POST', `/trash/${position}/restore`, {});
        const fault = `column "b" has the type ${type} instead of character varying(255)`;
        expect(message).to.contain(fault).and.contain('Change the type back');
        const planned = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, {});
        expect(planned.accepted).to.equal(false);
        expect(await altered()).to.deep.equal([`  table "${name}" (position ${position}): ${fault}`]);
        await api.sql(`ALTER TABLE ${kept} ALTER COLUMN b TYPE character varying(255), DROP COLUMN a`);
        expect(await altered()).to.deep.equal([`  table "${name}" (position ${position}): column "a" does not exist`]);
        await api.sql(`ALTER TABLE ${kept} ADD COLUMN a character varying(255)`);
        expect(await altered()).to.deep.equal([]);
        await api.ok('POST', `/trash/${position}/restore`, {});
      });

    it('reports changed values of a field, and restores tables with columns of many types', async () => {
      await api.sql(`CREATE TYPE mood AS ENUM ('calm'); CREATE DOMAIN code AS numeric(8,2); CREATE SCHEMA elsewhere;
        CREATE TYPE elsewhere.size AS ENUM ('s');
        CREATE TABLE many (id int PRIMARY KEY, a text[], b numeric, c numeric(10), d numeric(10,2), e char, f char(3),
          g timestamp(3) with time zone, h time, i interval(2), j bit(4), k varbit, l mood, m code, n "char", o name,
          p elsewhere.size, q mood[], r int4range, s double precision, t jsonb, u varchar, v varchar(7)[])`);
      await api.ok('POST', '/schema/adopt', { tables: ['many'] });
      await api.ok('DELETE', '/fields/many/d');
      await api.ok('DELETE', '/fields/many/p');
      const { data } = await api.ok<{ data: { position: number; field: string }[] }>('GET', '/trash');
      const { position } = data.find(({ field }) => field === 'd')!;
      expect(await altered()).to.deep.equal([]);
      const [column] = await api.sql<{ name: string }>(`SELECT attname::text AS name FROM pg_attribute
        WHERE attrelid = 'service_trash_${position}.values'::regclass AND atttypid = 'numeric'::regtype`);
      await api.sql(`ALTER TABLE service_trash_${position}.values ALTER COLUMN "${column?.name}" TYPE text`);
      expect(await altered()).to.deep.equal([
        `  values of "many.d" (position ${position}): column "${column?.name}" has the type text instead of numeric(10,2)`,
      ]);
      await api.sql(
        `ALTER TABLE service_trash_${position}.values ALTER COLUMN "${column?.name}" TYPE numeric(10,2) USING 1`,
      );
      const deletion = (await api.head()) + 1;
      await api.ok('DELETE', '/collections/many');
      expect(await altered()).to.deep.equal([]);
      const { data: all } = await api.ok<{ data: { position: number; collection: string; field: null }[] }>(
        'GET',
        '/trash',
      );
      const table = all.find(({ collection, field }) => collection === 'many' && field === null)!;
      expect(table.position).to.be.at.least(deletion);
      await api.ok('POST', `/trash/${table.position}/restore`, {});
      await api.ok('POST', `/trash/${position}/restore`, {});
    });

    for (const [what, column, change, back, fault] of [
      [
        'values with a different type',
        'a',
        'TYPE integer USING 7',
        'TYPE character varying(255)',
        'has the type integer instead of character varying(255)',
      ],
      [
        'values with a different length',
        'a',
        'TYPE character varying(3)',
        'TYPE character varying(255)',
        'has the type character varying(3) instead of character varying(255)',
      ],
      ['a key of another type', 'id', 'TYPE text', 'TYPE integer USING 1', 'has the type text instead of integer'],
    ] as const)
      it(`rejects restoring ${what} than the log says, and changes nothing`, async () => {
        const collection = `copied_${fault.length}`;
        await api.ok('POST', '/collections', { collection, schema: {}, fields: [plain('a')] });
        await api.sql(`INSERT INTO ${collection} (a) VALUES ('7')`);
        await api.ok('DELETE', `/fields/${collection}/a`);
        const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
        const { position } = data[0]!;
        const kept = `service_trash_${position}.values`;
        const columns = await api.sql<{ name: string }>(`SELECT attname::text AS name FROM pg_attribute
          WHERE attrelid = '${kept}'::regclass AND attnum > 0 ORDER BY attnum`);
        const name = columns[column === 'id' ? 0 : 1]?.name;
        await api.sql(`ALTER TABLE ${kept} ALTER COLUMN "${name}" ${change}`);
        const head = await api.head();
        const conflict = { status: 409, code: 'IN_USE' } as const;
        const restored = [`/trash/${position}/restore`, {}] as const;
        const going = ['/schema/apply', await api.ok<object>('GET', `/history/diff?to=${position - 1}`)] as const;
        for (const [path, body] of [restored, going])
          for (const query of ['', '?dry_run', '?explain']) {
            const { message } = await api.refused(conflict, 'POST', path + query, body);
            expect(message, path + query).to.equal(
              `Field "${collection}.a" cannot be restored: in the table service_trash_${position}."values" in the trash, ` +
                `column "${name}" ${fault}, so someone changed or replaced it. Change it back with SQL, then restore the field.`,
            );
          }
        expect(await api.head()).to.equal(head);
        expect(await api.sql(`SELECT "${columns[1]?.name}"::text AS a FROM ${kept}`)).to.deep.equal([{ a: '7' }]);
        await api.sql(`ALTER TABLE ${kept} ALTER COLUMN "${name}" ${back}`);
        await api.ok('POST', ...restored);
        expect(await api.sql(`SELECT a FROM ${collection}`)).to.deep.equal([{ a: '7' }]);
      });

    it('restores it with a column that was added by hand, even before the deletion', async () => {
      const { position, kept } = await deleted('extended');
      await api.sql(`ALTER TABLE ${kept} ADD COLUMN further int`);
      await api.ok('POST', `/trash/${position}/restore`, {});
      expect(await api.sql('SELECT a, b, further FROM extended')).to.deep.equal([{ a: 'x', b: 'y', further: null }]);
      await api.ok('DELETE', '/collections/extended');
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      await api.ok('DELETE', `/trash/${data[0]!.position}`);
    });

    it('purges no values of a field whose table was replaced', async () => {
      await api.ok('POST', '/collections', { collection: 'valued', schema: {}, fields: [plain('a')] });
      await api.sql(`INSERT INTO valued (a) VALUES ('x')`);
      await api.ok('DELETE', '/fields/valued/a');
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      const { position } = data[0]!;
      const kept = `service_trash_${position}.values`;
      await api.sql(`DROP TABLE ${kept}; CREATE TABLE ${kept} (own text)`);
      const refused = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', `/trash/${position}`);
      expect(refused.message).to.contain('someone changed or replaced the table that keeps its values');
      await api.sql(`DROP TABLE ${kept}`);
      await api.ok('DELETE', `/trash/${position}`);
    });
  });
});
