/** PostgreSQL's text of every default leads back to the same normal form. */
import type { ColumnField } from '../../../../src/schema/model/state.js';
import { expect } from 'chai';
import fc from 'fast-check';
import pg from 'pg';
import { columnDefinition } from '../../../../src/projector/ddl/column.js';
import { columnType, defaultFromCatalog, typeFromColumn } from '../../../../src/schema/normal-form/index.js';
import { createDatabase, type TestDatabase } from '../../../support/postgres.js';
import { type GivenColumn, givenColumn } from '../generate.js';
import { field, valueOf } from '../read.js';

interface CatalogColumn {
  format_type: string;
  default: string | null;
}

const COLUMNS = `
  select format_type(a.atttypid, a.atttypmod) as format_type, pg_get_expr(d.adbin, d.adrelid) as default
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = 'probe'::regclass and a.attnum > 0
  order by a.attnum`;

describe('defaults on a real server', () => {
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    await client.query("set timezone = 'UTC'");
  });

  after(async () => {
    await client.end();
    await database.drop();
  });

  async function catalogOf(fields: ColumnField[]): Promise<CatalogColumn[]> {
    await client.query('begin');
    try {
      await client.query(`create table probe (${fields.map((each) => columnDefinition(each)).join(', ')})`);
      return (await client.query<CatalogColumn>(COLUMNS)).rows;
    } finally {
      await client.query('rollback');
    }
  }

  it('read back as sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(givenColumn, { minLength: 30, maxLength: 60 }), async (input: GivenColumn[]) => {
        const fields = input.map(({ type, schema }, index) => {
          const read = valueOf(field({ type, schema }));
          return { ...read, field: `f${index}` } as ColumnField;
        });
        const columns = await catalogOf(fields);
        for (const [index, { type, schema }] of fields.entries()) {
          const { format_type, default: text } = columns[index] as CatalogColumn;
          expect(format_type).to.equal(columnType(schema));
          const known = typeFromColumn(format_type);
          if (type !== 'csv' && type !== 'hash') expect(known.type).to.equal(type);
          const back = text === null ? null : defaultFromCatalog(type, schema, text);
          // As JSON, which has one zero. JavaScript has two.
          const sent: unknown = JSON.parse(JSON.stringify(schema.default_value));
          expect(back, `${type} ${format_type} DEFAULT ${text}`).to.deep.equal(sent);
        }
      }),
      { numRuns: 60 },
    );
  });
});
