import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Column {
  type: string;
  schema: {
    data_type: string;
    default_value: unknown;
    is_nullable: boolean;
    is_unique: boolean;
    is_indexed: boolean;
    extras?: Record<string, unknown>;
  };
}

interface Snapshot {
  fields: ({ collection: string; field: string } & Column)[];
}

describe('columns of enums and other unnamed types', () => {
  const { api } = withService({ consistent: true });

  before(async () => {
    await api.sql(`CREATE TYPE mood AS ENUM ('sad', 'happy', 'it''s ok');
      CREATE TABLE people (id serial PRIMARY KEY, feels mood DEFAULT 'sad', felt mood[], net inet, spare mood NOT NULL DEFAULT 'happy');
      INSERT INTO people (felt) VALUES ('{sad}')`);
    await api.ok('POST', '/schema/adopt', { all: true });
  });

  const field = async (name: string) => (await api.ok<{ data: Column }>('GET', `/fields/people/${name}`)).data.schema;
  const catalog = async (name: string) => {
    const [row] = await api.sql<{ value: string | null; required: boolean }>(
      `SELECT column_default AS value, is_nullable = 'NO' AS required FROM information_schema.columns
       WHERE table_name = 'people' AND column_name = '${name}'`,
    );
    return row;
  };

  it('change their default, nullability, index and uniqueness by PATCH', async () => {
    for (const schema of [
      { default_value: 'happy' },
      { is_nullable: false },
      { is_indexed: true },
      { is_unique: true, is_indexed: false },
      { default_value: "it's ok", is_unique: false },
    ]) {
      await api.appends(['field.updated people.feels'], 'PATCH', '/fields/people/feels', { schema });
      expect(await field('feels')).to.include(schema);
    }
    expect(await catalog('feels')).to.deep.equal({ value: `'it''s ok'::mood`, required: true });
    await api.ok('PATCH', '/fields/people/spare', { schema: { default_value: null, is_nullable: true } });
    expect(await catalog('spare')).to.deep.equal({ value: null, required: false });
    await api.ok('PATCH', '/fields/people/net', { schema: { default_value: '10.0.0.0/8', is_indexed: true } });
    await api.ok('PATCH', '/fields/people/felt', { schema: { default_value: '{happy}', is_nullable: false } });
    expect((await catalog('felt'))?.value).to.equal(`'{happy}'::mood[]`);
  });

  it('change by diff, and a diff of the result is empty', async () => {
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const document = snapshot.fields.find(({ field: name }) => name === 'feels');
    Object.assign(document?.schema ?? {}, { default_value: 'sad', is_nullable: true, is_indexed: true });
    const created = await api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', snapshot);
    await api.ok('POST', '/schema/apply', { hash: created.hash, diff: created.diff });
    expect(await catalog('feels')).to.deep.equal({ value: `'sad'::mood`, required: false });
    const again = await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot);
    expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(await api.ok<{ data: { ok: boolean } }>('GET', '/schema/drift')).to.have.nested.property('ok', true);
  });

  it('keep their type, and reject defaults that the type does not accept', async () => {
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/fields/people/feels', {
      schema: { data_type: 'inet' },
    });
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', '/fields/people/feels', {
      schema: { default_value: 'angry' },
    });
    expect(error.message).not.to.contain('angry');
  });
});
