import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Refusal {
  errors: { message: string; extensions: { code: string; path?: string; collection?: string; field?: string } }[];
}

describe('errors of a merge import', () => {
  const { api, client } = withService();

  before(async () => {
    await api.sql(
      'CREATE TABLE inventory (sku text PRIMARY KEY, id int NOT NULL); CREATE TABLE pages (id int PRIMARY KEY)',
    );
    await api.ok('POST', '/schema/adopt', { all: true });
  });

  const rejected = async (parts: object) => {
    const file = {
      version: 1,
      directus: '11.1.0',
      vendor: 'postgres',
      collections: [],
      fields: [],
      relations: [],
      ...parts,
    };
    const reply = await client('/schema/diff?force&mode=merge', json(file));
    expect(reply.status, reply.text).to.equal(400);
    return (reply.json as Refusal).errors;
  };

  it('name the collection, its field and both primary keys', async () => {
    const [error] = await rejected({
      collections: [{ collection: 'inventory', meta: {}, schema: { name: 'inventory' } }],
      fields: [
        {
          collection: 'inventory',
          field: 'id',
          type: 'integer',
          schema: { data_type: 'integer', is_primary_key: true },
        },
      ],
    });
    expect(error?.extensions).to.include({ collection: 'inventory', field: 'id' });
    expect(error?.message).to.contain('collection "inventory"').and.to.contain('"sku" is its primary key');
  });

  it('name the collection that is a folder in the file and a table in the database', async () => {
    const [error] = await rejected({ collections: [{ collection: 'pages', meta: {}, schema: null }] });
    expect(error?.extensions).to.include({ collection: 'pages' });
    expect(error?.message).to.contain('collection "pages" is a table in the database');
  });

  it('contain the collection and field of every invalid member', async () => {
    const errors = await rejected({
      collections: [{ collection: 'fresh', schema: {} }],
      fields: [
        { collection: 'fresh', field: 'x', type: 'nonsense' },
        { collection: 'nowhere', field: 'y', type: 'string' },
      ],
    });
    for (const { extensions, message } of errors) expect(extensions, message).to.have.property('collection');
    expect(errors.map(({ extensions }) => extensions.field)).to.include('x');
  });
});
