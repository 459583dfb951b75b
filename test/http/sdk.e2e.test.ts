/**
 * The Directus SDK against this service: every call with a counterpart here. SDK 18 is the newest one that supports
 * Node 20; requests of newer SDKs are written out.
 */
import {
  authentication,
  createCollection,
  createDirectus,
  createField,
  createRelation,
  createUser,
  customEndpoint,
  deleteCollection,
  deleteField,
  deleteRelation,
  deleteUser,
  readCollection,
  readCollections,
  readField,
  readFields,
  readFieldsByCollection,
  readMe,
  readOpenApiSpec,
  readRelation,
  readRelationByCollection,
  readRelations,
  readUser,
  readUsers,
  rest,
  schemaApply,
  schemaDiff,
  schemaSnapshot,
  serverHealth,
  serverInfo,
  serverPing,
  staticToken,
  updateCollection,
  updateCollectionsBatch,
  updateField,
  updateRelation,
  updateUser,
  type SchemaSnapshotOutput,
} from '@directus/sdk';
import { expect } from 'chai';
import type { TestService } from '../support/service.js';
import { withService } from '../support/with-service.js';

describe('the Directus SDK', () => {
  const clientOf = ({ url, adminToken }: TestService) => createDirectus(url).with(staticToken(adminToken)).with(rest());
  let directus: ReturnType<typeof clientOf>;

  const { service } = withService();
  before(async () => {
    directus = clientOf(service);
  });

  const refusal = async (call: Promise<unknown>): Promise<{ code: string; path?: string }> =>
    call.then(
      () => expect.fail('it was accepted'),
      (error: { errors: { extensions: { code: string; path?: string } }[] }) => error.errors[0]!.extensions,
    );

  it('creates, reads, updates and deletes collections', async () => {
    const created = await directus.request(
      createCollection({
        collection: 'authors',
        schema: { name: 'authors', schema: 'public', comment: 'who writes' },
        meta: { note: 'people' },
        fields: [
          {
            field: 'id',
            type: 'uuid',
            meta: { interface: 'input', special: ['uuid'], hidden: true, readonly: true },
            schema: { is_primary_key: true, length: 36, has_auto_increment: false } as object,
          },
          { field: 'code', type: 'string', meta: { interface: 'input' }, schema: { length: 8 } as object },
        ],
      }),
    );
    expect(created.schema).include({ name: 'authors', comment: 'who writes' });
    const code = await directus.request(readField('authors', 'code'));
    expect(code.schema.max_length).equal(8);

    await directus.request(
      createCollection({ collection: 'posts', schema: { name: 'posts', comment: null }, meta: {} }),
    );
    const all = await directus.request(readCollections());
    expect(all.map(({ collection }) => collection)).include.members(['authors', 'posts']);
    const read = await directus.request(readCollection('posts'));
    expect(read.meta.note).equal(null);

    const noted = await directus.request(updateCollection('posts', { meta: { note: 'texts' } }));
    expect(noted.meta.note).equal('texts');
    const batch = await directus.request(
      updateCollectionsBatch([
        { collection: 'posts', meta: { icon: 'article' } },
        { collection: 'authors', meta: { icon: 'person' } },
      ]),
    );
    expect((batch as unknown as { meta: { icon: string } }[]).map(({ meta }) => meta.icon)).deep.equal([
      'article',
      'person',
    ]);
    const same = await directus.request(updateCollection('posts', await directus.request(readCollection('posts'))));
    expect(same.meta.note).equal('texts');

    await directus.request(createCollection({ collection: 'gone', schema: {}, meta: {} }));
    await directus.request(deleteCollection('gone'));
    expect(await refusal(directus.request(readCollection('gone')))).include({ code: 'NOT_FOUND' });
  });

  it('reports another database schema with its location', async () => {
    const other = {
      collection: 'elsewhere',
      schema: { name: 'elsewhere', schema: 'other', comment: null },
      meta: {},
    };
    expect(await refusal(directus.request(createCollection(other)))).include({
      code: 'INVALID_PAYLOAD',
      path: 'schema.schema',
    });
  });

  it('creates, reads, updates and deletes fields, with the members of Directus', async () => {
    const answered = {
      collection: 'posts',
      field: 'title',
      type: 'string',
      meta: { id: 1841, collection: 'posts', field: 'title', interface: 'input', searchable: true, sort: 2 },
      schema: {
        name: 'title',
        table: 'posts',
        schema: 'public',
        data_type: 'character varying',
        default_value: null,
        generation_expression: null,
        max_length: 255,
        numeric_precision: null,
        numeric_scale: null,
        is_generated: false,
        is_nullable: true,
        is_unique: false,
        is_indexed: false,
        is_primary_key: false,
        has_auto_increment: false,
        foreign_key_schema: null,
        foreign_key_table: null,
        foreign_key_column: null,
        comment: null,
      },
    };
    const created = await directus.request(createField('posts', answered));
    expect(created.schema).include({ data_type: 'character varying', max_length: 255 });
    expect(await directus.request(updateField('posts', 'title', answered))).deep.equal(created);

    await directus.request(createField('posts', { field: 'author', type: 'uuid', meta: {}, schema: {} }));
    expect((await directus.request(readFields())).length).greaterThan(4);
    const own = await directus.request(readFieldsByCollection('posts'));
    expect(own.map(({ field }) => field)).deep.equal(['id', 'title', 'author']);

    const noted = await directus.request(updateField('posts', 'title', { meta: { note: 'the headline' } }));
    expect(noted.meta.note).equal('the headline');
    // The request that "updateFields" of SDK 26 sends.
    const several = await directus.request(
      customEndpoint<{ field: string }[]>({
        path: '/fields/posts',
        method: 'PATCH',
        body: JSON.stringify([
          { field: 'title', meta: { required: true } },
          { field: 'author', meta: { width: 'half' } },
        ]),
      }),
    );
    expect(several.map(({ field }) => field)).deep.equal(['title', 'author']);
    const back = await directus.request(readField('posts', 'title'));
    expect(await directus.request(updateField('posts', 'title', back))).deep.equal(back);

    await directus.request(createField('posts', { field: 'spare', type: 'text', meta: {}, schema: {} }));
    await directus.request(deleteField('posts', 'spare'));
    expect(await refusal(directus.request(readField('posts', 'spare')))).include({ code: 'NOT_FOUND' });
  });

  it('creates, reads, updates and deletes relations', async () => {
    const created = await directus.request(
      createRelation({
        collection: 'posts',
        field: 'author',
        related_collection: 'authors',
        meta: { many_collection: 'posts', many_field: 'author', one_collection: 'authors' },
        schema: { on_delete: 'SET NULL' },
      }),
    );
    expect(created).deep.include({ collection: 'posts', field: 'author', related_collection: 'authors' });
    expect(created.schema).deep.equal({
      constraint_name: 'posts_author_foreign',
      table: 'posts',
      column: 'author',
      foreign_key_table: 'authors',
      foreign_key_column: 'id',
      on_update: 'NO ACTION',
      on_delete: 'SET NULL',
    });
    expect(created.meta).include({ many_field: 'author', one_collection: 'authors', one_deselect_action: 'nullify' });

    const read = await directus.request(readRelation('posts', 'author'));
    expect(read).deep.equal(created);
    expect(await directus.request(readRelations())).deep.equal([created]);
    expect(await directus.request(readRelationByCollection('posts'))).deep.equal([created]);
    expect(await directus.request(updateRelation('posts', 'author', read))).deep.equal(read);

    const answered = {
      ...read,
      schema: { ...read.schema!, foreign_key_schema: 'public', on_delete: 'CASCADE' as const },
      meta: { ...read.meta!, id: 178 },
    };
    const changed = await directus.request(updateRelation('posts', 'author', answered));
    expect(changed.schema?.on_delete).equal('CASCADE');
    await directus.request(deleteRelation('posts', 'author'));
    expect(await refusal(directus.request(readRelation('posts', 'author')))).include({ code: 'NOT_FOUND' });
  });

  it('creates a relation to directus_users', async () => {
    await directus.request(createField('posts', { field: 'owner', type: 'uuid', meta: {}, schema: {} }));
    const owner = { collection: 'posts', field: 'owner', related_collection: 'directus_users' };
    const created = await directus.request(createRelation(owner as Parameters<typeof createRelation>[0]));
    expect(created.related_collection).equal('service_users');
    expect(created.schema?.foreign_key_table).equal('service_users');
    const again = { related_collection: 'directus_users', schema: { foreign_key_table: 'directus_users' } };
    expect(await directus.request(updateRelation('posts', 'owner', again as never))).deep.equal(created);
  });

  it('transfers the schema: snapshot, diff, apply', async () => {
    const snapshot = await directus.request(schemaSnapshot());
    expect(snapshot.relations.map((relation) => Object.keys(relation))).deep.equal([
      [
        'id',
        'many_collection',
        'many_field',
        'one_collection',
        'one_field',
        'one_collection_field',
        'one_allowed_collections',
        'junction_field',
        'sort_field',
        'one_deselect_action',
        'schema',
      ],
    ]);
    const none = await directus.request(schemaDiff(snapshot));
    expect(none).deep.include({ diff: { collections: [], fields: [], relations: [] } });

    const posts = snapshot.collections.find(({ collection }) => collection === 'posts');
    posts!.meta = { ...posts!.meta, note: 'from elsewhere' };
    const diff = await directus.request(schemaDiff(snapshot));
    await directus.request(schemaApply(diff));
    expect((await directus.request(readCollection('posts'))).meta.note).equal('from elsewhere');
    // The requests that "schemaSnapshot" and "schemaDiff" of SDK 26 send with options.
    const part = await directus.request(
      customEndpoint<SchemaSnapshotOutput>({
        path: '/schema/snapshot',
        method: 'GET',
        params: { includeCollections: 'posts' },
      }),
    );
    expect(part.collections.map(({ collection }) => collection)).deep.equal(['posts']);
    const forced = customEndpoint({
      path: '/schema/diff',
      method: 'POST',
      params: { force: true },
      body: JSON.stringify(part),
    });
    expect(await directus.request(forced)).property('hash');
  });

  it('reads server information and users', async () => {
    expect(await directus.request(serverPing())).equal('pong');
    expect(await directus.request(serverHealth())).include({ status: 'ok' });
    expect(await directus.request(serverInfo())).property('hash');
    expect(await directus.request(readOpenApiSpec())).property('openapi');

    const me = await directus.request(readMe());
    expect(me.email).equal(service.adminEmail);
    expect(await directus.request(readMe({ fields: ['id', 'email'] }))).deep.equal({ id: me.id, email: me.email });
    const user = await directus.request(
      createUser({ email: 'r@example.com', role: 'reader', password: 'a long password' }),
    );
    expect(await directus.request(readUser(user.id, { fields: ['email'] }))).deep.equal({ email: 'r@example.com' });
    const listed = await directus.request(readUsers({ fields: ['email'] }));
    expect(listed.map(({ email }) => email)).deep.equal([service.adminEmail, 'r@example.com']);
    expect(await directus.request(updateUser(user.id, { status: 'suspended' }))).include({ status: 'suspended' });
    await directus.request(deleteUser(user.id));
    expect(await refusal(directus.request(readUser(user.id)))).include({ code: 'NOT_FOUND' });
  });

  it('logs in, refreshes and logs out', async () => {
    const session = createDirectus(service.url)
      .with(authentication('json', { autoRefresh: false }))
      .with(rest());
    const { adminEmail: email, adminPassword: password } = service;
    const granted = await session.login(email, password);
    expect(granted.access_token).a('string');
    expect((await session.request(readMe())).email).equal(email);
    const refreshed = await session.refresh();
    expect(refreshed.refresh_token).not.equal(granted.refresh_token);
    await session.logout();
    expect(await session.getToken()).equal(null);
  });
});
