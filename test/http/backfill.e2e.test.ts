import { expect } from 'chai';
import { column } from '../support/online.js';
import { withService } from '../support/with-service.js';

interface Finding {
  code: string;
  level: string;
  message: string;
  collection?: string;
  field?: string;
}

interface Plan {
  events: { type: string; data: Record<string, unknown> }[];
  statements: { sql: string; summary: string }[];
  warnings: Finding[];
  accepted: boolean | null;
}

interface Problem {
  message: string;
  extensions: { code: string; path?: string; [more: string]: unknown };
}

describe('the backfill of a field', () => {
  const { api } = withService({ consistent: true });
  let table: string;
  let tables = 0;

  const TEXT = { field: 'title', type: 'string', interface: 'input', schema: {} };

  beforeEach(async () => {
    table = `orders${++tables}`;
    await api.ok('POST', '/collections', {
      collection: table,
      schema: {},
      fields: [
        TEXT,
        column('status'),
        column('amount', 'integer'),
        column('created', 'timestamp'),
        column('code', 'uuid'),
      ],
    });
    await api.sql(`INSERT INTO ${table} (title, status) VALUES (' Big ', NULL), ('Small', 'paid'), (NULL, NULL)`);
  });

  const patch = (field: string, body: object, query = '') =>
    api.client(`/fields/${table}/${field}${query}`, json(body));
  const json = (body: object, method = 'PATCH') => ({
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const accepted = async (field: string, body: object): Promise<void> => {
    const answer = await patch(field, body);
    expect(answer.status, answer.text).to.equal(200);
  };
  const plan = async (field: string, body: object, query = '?dry_run'): Promise<Plan> => {
    const answer = await patch(field, body, query);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as Plan;
  };
  const refused = async (field: string, body: object, method = 'PATCH'): Promise<Problem> => {
    const path = method === 'POST' ? `/fields/${table}` : `/fields/${table}/${field}`;
    const answer = await api.client(path, json(body, method));
    expect(answer.status, answer.text).to.be.within(400, 422);
    return (answer.json as { errors: [Problem] }).errors[0];
  };
  const values = async (name: string): Promise<unknown[]> =>
    (await api.sql<{ value: unknown }>(`SELECT ${name} AS value FROM ${table} ORDER BY id`)).map(({ value }) => value);
  const lastEvent = async (): Promise<{ type: string; data: Record<string, unknown> }> =>
    ((await api.ok('GET', '/history/events?order=desc&limit=1')) as { data: [never] }).data[0];

  const REQUIRED = { schema: { is_nullable: false } };

  describe('in an update', () => {
    it('writes a value to the rows without one, and then makes the field required', async () => {
      await accepted('status', { ...REQUIRED, backfill: { value: 'new' } });
      expect(await values('status')).to.deep.equal(['new', 'paid', 'new']);
      expect((await lastEvent()).data['backfill']).to.deep.equal({ value: 'new' });
    });

    it('writes the values of another field', async () => {
      await api.sql(`UPDATE ${table} SET title = 'None' WHERE title IS NULL`);
      await accepted('status', { ...REQUIRED, backfill: { field: 'title' } });
      expect(await values('status')).to.deep.equal([' Big ', 'paid', 'None']);
    });

    it('writes the result of each expression', async () => {
      await api.sql(`UPDATE ${table} SET title = 'None' WHERE title IS NULL`);
      await accepted('status', { ...REQUIRED, backfill: { expression: 'trim', field: 'title' } });
      expect(await values('status')).to.deep.equal(['Big', 'paid', 'None']);
      await accepted('created', { ...REQUIRED, backfill: { expression: 'now' } });
      expect(await values('created IS NOT NULL')).to.deep.equal([true, true, true]);
      await accepted('code', {
        schema: { is_nullable: false, is_unique: true },
        backfill: { expression: 'gen_random_uuid' },
      });
      expect(new Set(await values('code')).size).to.equal(3);
    });

    it('fills rows without requiring a value', async () => {
      await accepted('amount', { meta: { note: 'In cents' }, backfill: { value: 0 } });
      expect(await values('amount')).to.deep.equal([0, 0, 0]);
    });

    it('fills rows after a change to the type', async () => {
      await accepted('amount', {
        type: 'string',
        schema: { is_nullable: false, max_length: 10 },
        backfill: { value: 'x' },
      });
      expect(await values('amount')).to.deep.equal(['x', 'x', 'x']);
    });

    it('changes nothing when it is sent again', async () => {
      const body = { ...REQUIRED, backfill: { value: 'new' } };
      await accepted('status', body);
      const answer = await patch('status', body);
      expect([answer.status, answer.headers.get('x-batch-id')]).to.deep.equal([200, null]);
    });

    it('fills several fields at once', async () => {
      const answer = await api.client(
        `/fields/${table}`,
        json([
          { field: 'status', ...REQUIRED, backfill: { value: 'new' } },
          { field: 'amount', ...REQUIRED, backfill: { value: 1 } },
        ] as never),
      );
      expect(answer.status, answer.text).to.equal(200);
      expect(await values('amount')).to.deep.equal([1, 1, 1]);
    });

    it('counts the rows that remain without a value', async () => {
      const { message, extensions } = await refused('status', { ...REQUIRED, backfill: { field: 'title' } });
      expect(message).to.contain('(1 row is null)');
      expect(extensions).to.deep.include({
        code: 'DATABASE_REFUSED',
        offending: { kind: 'null', count: 1, more: false },
      });
      expect(await values('status'), 'nothing was filled').to.deep.equal([null, 'paid', null]);
    });

    it('runs triggers, and checks deferred constraints before it alters the table', async () => {
      await api.sql(`ALTER TABLE ${table} ADD CONSTRAINT later UNIQUE (status) DEFERRABLE INITIALLY DEFERRED`);
      const { extensions } = await refused('status', { ...REQUIRED, backfill: { value: 'new' } });
      expect(extensions).to.deep.include({ code: 'DATABASE_REFUSED', sqlstate: '23505' });
      await api.sql(`ALTER TABLE ${table} DROP CONSTRAINT later`);
      await api.sql(
        `CREATE FUNCTION mark_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.amount := 7; RETURN NEW; END $$`,
      );
      await api.sql(`CREATE TRIGGER marks BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION mark_${table}()`);
      await accepted('status', { ...REQUIRED, backfill: { value: 'new' } });
      expect(await values('amount')).to.deep.equal([7, null, 7]);
      await api.sql(`DROP FUNCTION mark_${table} CASCADE`);
    });

    it('is rejected if a rule or a trigger keeps rows without a value', async () => {
      const body = { meta: { note: 'x' }, backfill: { value: 'new' } };
      const obstacles = [
        [`CREATE RULE kept AS ON UPDATE TO ${table} DO INSTEAD NOTHING`, `DROP RULE kept ON ${table}`],
        ...['NULL', 'OLD'].map((row) => [
          `CREATE FUNCTION keep_${table}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN ${row}; END';
           CREATE TRIGGER kept BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION keep_${table}()`,
          `DROP FUNCTION keep_${table} CASCADE`,
        ]),
      ];
      for (const [create, drop] of obstacles) {
        for (const statement of String(create).split(/;\n/)) await api.sql(statement);
        const { message } = await refused('status', body);
        expect(message).to.contain('a trigger or a rule of the table prevented rows from being filled');
        await api.sql(String(drop));
      }
      expect(await values('status'), 'nothing was filled').to.deep.equal([null, 'paid', null]);
      await accepted('status', body);
    });

    it('is rejected if row security hides rows from the owner of the table', async () => {
      await api.sql(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
      const { message } = await refused('status', { meta: { note: 'x' }, backfill: { value: 'new' } });
      expect(message).to.contain('Policies of table');
      await api.sql(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY`);
    });
  });

  describe('in a new field', () => {
    const create = async (body: object): Promise<void> => {
      const answer = await api.client(`/fields/${table}`, json(body, 'POST'));
      expect(answer.status, answer.text).to.equal(200);
    };
    const added = (type: string, more: object, backfill: object) => ({ ...column('added', type, more), backfill });

    it('writes a value to all rows, and keeps another default', async () => {
      await create(added('string', { is_nullable: false, default_value: 'new' }, { value: "it's old" }));
      await api.sql(`INSERT INTO ${table} (title) VALUES ('More')`);
      expect(await values('added')).to.deep.equal(["it's old", "it's old", "it's old", 'new']);
    });

    it('writes the values of another field, and then adds NOT NULL, unique and an index', async () => {
      await api.sql(`UPDATE ${table} SET title = 'None' WHERE title IS NULL`);
      await create(added('text', { is_nullable: false, is_unique: true }, { expression: 'lower', field: 'title' }));
      expect(await values('added')).to.deep.equal([' big ', 'small', 'none']);
    });

    it('writes the time and uuids without a default that remains', async () => {
      await create(added('dateTime', { is_nullable: false }, { expression: 'now' }));
      expect(await values('added IS NOT NULL')).to.deep.equal([true, true, true]);
      await create({
        ...added('uuid', { is_nullable: false, is_unique: true }, { expression: 'gen_random_uuid' }),
        field: 'key',
      });
      expect(new Set(await values('key')).size).to.equal(3);
      const field = (await api.ok('GET', `/fields/${table}/key`)) as { data: { schema: { default_value: unknown } } };
      expect(field.data.schema.default_value).to.equal(null);
    });

    it('writes JSON, numbers, dates and booleans', async () => {
      await create(added('json', { is_nullable: false }, { value: { a: ['b'] } }));
      expect(await values('added')).to.deep.equal([{ a: ['b'] }, { a: ['b'] }, { a: ['b'] }]);
      await create({ ...added('boolean', { is_nullable: false }, { value: true }), field: 'done' });
      expect(await values('done')).to.deep.equal([true, true, true]);
      await create({ ...added('date', {}, { value: '2026-01-31' }), field: 'day' });
      expect(await values('day::text')).to.deep.equal(['2026-01-31', '2026-01-31', '2026-01-31']);
      await create({ ...added('decimal', {}, { value: '1.50' }), field: 'price' });
      expect(await values('price::text')).to.deep.equal(['1.50000', '1.50000', '1.50000']);
    });
  });

  describe('in a plan', () => {
    it('shows the statement, the event and the number of rows', async () => {
      const shown = await plan('status', { ...REQUIRED, backfill: { value: 'secret value' } });
      expect(shown.accepted).to.equal(true);
      expect(shown.events[0]?.data['backfill']).to.deep.equal({ value: 'secret value' });
      expect(shown.statements.slice(2).map(({ summary }) => summary)).to.deep.equal([
        `fill column ${table}.status in rows without a value`,
        `alter column ${table}.status: nullability`,
      ]);
      const update = `UPDATE "public"."${table}" t SET "status" = 'secret value' WHERE t."status" IS NOT DISTINCT FROM NULL`;
      expect(shown.statements[2]?.sql).to.equal(update);
      const finding = shown.warnings.find(({ code }) => code === 'FILLS_ROWS');
      expect(finding).to.deep.include({ collection: table, field: 'status' });
      expect(finding?.message).to.match(/with one value: the service writes the rows in which it is null \(.*rows/);
      expect(shown.warnings.map(({ message }) => message).join('\n')).not.to.contain('secret value');
      expect(shown.warnings.map(({ code }) => code)).not.to.include.any.members(['MAY_FAIL', 'ROWS_IN_THE_WAY']);
      expect(await values('status'), 'nothing was filled').to.deep.equal([null, 'paid', null]);
    });

    it('warns that rows may remain without a value if another field is the source', async () => {
      const { warnings } = await plan('status', { ...REQUIRED, backfill: { field: 'title' } }, '?explain');
      expect(warnings.map(({ code }) => code)).to.include.members(['FILLS_ROWS', 'MAY_FAIL']);
    });
  });

  describe('is rejected at its location', () => {
    const cases: [string, string, object, string | undefined, RegExp][] = [
      ['a wrong type', 'amount', { value: 'many' }, 'backfill.value', /must be an integer/],
      ['null', 'status', { value: null }, 'backfill.value', /must not be null/],
      ['a function', 'created', { value: 'now()' }, 'backfill.value', /Use expression/],
      ['an unknown expression', 'status', { expression: 'random' }, 'backfill.expression', /must be one of now/],
      ['an expression of another type', 'status', { expression: 'now' }, 'backfill.expression', /does not fit/],
      ['a missing source', 'status', { expression: 'lower' }, 'backfill.field', /name of a field/],
      ['a superfluous source', 'created', { expression: 'now', field: 'title' }, 'backfill.field', /takes no field/],
      ['an unknown field', 'status', { field: 'missing' }, 'backfill.field', /does not exist/],
      ['the field itself', 'status', { field: 'status' }, 'backfill.field', /another field/],
      ['a field of another type', 'amount', { field: 'title' }, 'backfill.field', /do not fit/],
      [
        'an expression of numbers',
        'status',
        { expression: 'lower', field: 'amount' },
        'backfill.field',
        /needs two text fields/,
      ],
      ['two sources', 'status', { value: 1, field: 'title' }, 'backfill', /one of value, field and expression/],
      ['nothing', 'status', {}, 'backfill', /one of value, field and expression/],
      ['an unknown member', 'status', { only: 'null', value: 1 }, 'backfill.only', /unknown member/],
      ['no object', 'status', [1], 'backfill', /one of value/],
    ];
    for (const [what, field, backfill, path, message] of cases) {
      it(`rejects ${what}`, async () => {
        const problem = await refused(field, { ...REQUIRED, backfill });
        expect(problem.extensions).to.deep.include({ code: 'INVALID_PAYLOAD', path });
        expect(problem.message).to.match(message);
      });
    }

    it('rejects a backfill without a change', async () => {
      const { extensions, message } = await refused('status', { backfill: { value: 'new' } });
      expect(extensions.path).to.equal('backfill');
      expect(message).to.contain('does not change the field');
    });

    it('rejects fields that do not store values', async () => {
      const generated = column('twice', 'integer', { generation_expression: 'amount * 2' });
      const problem = await refused('', { ...generated, backfill: { value: 1 } }, 'POST');
      expect([problem.extensions.path, problem.message.includes('generates')]).to.deep.equal(['backfill', true]);
      const alias = { field: 'notes', type: 'alias', interface: 'presentation-notice', backfill: { value: 1 } };
      expect((await refused('', alias, 'POST')).message).to.contain('alias field');
      const counter = column('number', 'integer', { has_auto_increment: true, is_nullable: false });
      expect((await refused('', { ...counter, backfill: { value: 1 } }, 'POST')).message).to.contain(
        'auto-increment field',
      );
    });

    it('rejects fields of a new collection', async () => {
      const fields = [{ ...column('name'), backfill: { value: 'x' } }];
      const answer = await api.client('/collections', json({ collection: 'fresh', schema: {}, fields }, 'POST'));
      expect(answer.status, answer.text).to.equal(400);
    });

    it('rejects partitioned tables and parents', async () => {
      const parted = `parted${tables}`;
      await api.sql(`CREATE TABLE ${parted} (id int, day date, note text) PARTITION BY RANGE (day)`);
      await api.sql(`CREATE TABLE parent${tables} (id int PRIMARY KEY, note text)`);
      await api.sql(`CREATE TABLE child${tables} () INHERITS (parent${tables})`);
      await api.ok('POST', '/schema/adopt', { tables: [parted, `parent${tables}`] });
      for (const [name, why] of [
        [parted, 'partitioned'],
        [`parent${tables}`, 'inherits'],
      ] as const) {
        const body = { meta: { note: 'x' }, backfill: { value: 'x' } };
        const answer = await api.client(`/fields/${name}/note`, json(body));
        const [problem] = (answer.json as { errors: [Problem] }).errors;
        const shown = [answer.status, problem.extensions.path, problem.message.includes(why)];
        expect(shown, problem.message).to.deep.equal([400, 'backfill', true]);
      }
    });
  });

  describe('in a diff', () => {
    interface Snapshot {
      fields: { collection: string; field: string; schema: Record<string, unknown> | null }[];
    }
    interface Diff {
      hash: string;
      diff: { fields: { collection: string; field: string; backfill?: unknown; diff: unknown[] }[] };
    }
    const diffOf = async (edit: (snapshot: Snapshot) => void): Promise<Diff> => {
      const snapshot = (await api.ok('GET', '/schema/snapshot')) as Snapshot;
      edit(snapshot);
      return (await api.ok('POST', '/schema/diff', snapshot)) as Diff;
    };
    const requires = (name: string) => (snapshot: Snapshot) => {
      const document = snapshot.fields.find(({ collection, field }) => collection === table && field === name);
      if (document?.schema) document.schema['is_nullable'] = false;
    };

    it('belongs to the item of the field', async () => {
      const document = await diffOf(requires('status'));
      Object.assign(document.diff.fields[0] as object, { backfill: { value: 'new' } });
      await api.ok('POST', '/schema/apply', document);
      expect(await values('status')).to.deep.equal(['new', 'paid', 'new']);
    });

    it('is rejected at the location in the item', async () => {
      const document = await diffOf(requires('amount'));
      Object.assign(document.diff.fields[0] as object, { backfill: { field: 'title' } });
      const answer = await api.client('/schema/apply', json(document, 'POST'));
      const [problem] = (answer.json as { errors: [Problem] }).errors;
      expect([answer.status, problem.extensions.path]).to.deep.equal([400, 'diff.fields[0].backfill.field']);
    });

    it('is rejected for a deleted field', async () => {
      const document = await diffOf((snapshot) => {
        snapshot.fields = snapshot.fields.filter(({ collection, field }) => collection !== table || field !== 'code');
      });
      Object.assign(document.diff.fields[0] as object, { backfill: { value: 'x' } });
      const answer = await api.client('/schema/apply', json(document, 'POST'));
      const [problem] = (answer.json as { errors: [Problem] }).errors;
      expect([answer.status, problem.extensions.path]).to.deep.equal([400, 'diff.fields[0].backfill']);
    });

    it('is not part of the diff that reverts the change', async () => {
      const before = ((await api.ok('GET', '/server/info')) as { data: { position: number } }).data.position;
      await accepted('status', { ...REQUIRED, backfill: { value: 'new' } });
      const back = (await api.ok('GET', `/history/diff?from=now&to=${before}`)) as Diff;
      expect(back.diff.fields[0]?.backfill).to.equal(undefined);
      await api.ok('POST', '/schema/apply', back);
      expect(await values('status'), 'the values remain').to.deep.equal(['new', 'paid', 'new']);
    });
  });

  it('does not fill again in a rebuild of the projections', async () => {
    await accepted('status', { meta: { note: 'x' }, backfill: { value: 'new' } });
    await api.sql(`UPDATE ${table} SET status = NULL`);
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await values('status')).to.deep.equal([null, null, null]);
  });
});
