import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Warning {
  code: string;
  collection: string;
  field?: string;
  message: string;
}

interface Relation {
  one_collection: string | null;
  one_field: string | null;
  one_allowed_collections: string[] | null;
  junction_field: string | null;
  schema: { constraint_name: string } | null;
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const alias = (field: string) => ({
  field,
  type: 'alias',
  interface: 'list',
  schema: null,
  meta: { special: ['o2m'] },
});

describe('restoring tables', () => {
  const { api, client } = withService({ consistent: true });

  const make = (collection: string, fields: object[] = [], meta: object = {}) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [plain('id', 'integer', KEY), ...fields], meta });
  const KEY = { is_primary_key: true, has_auto_increment: true };
  const relate = (many_collection: string, many_field: string, one_collection: string, more: object = {}) =>
    api.ok('POST', '/relations', { many_collection, many_field, one_collection, ...more });
  const relation = async (collection: string, field: string): Promise<Relation> =>
    (await api.ok<{ data: Relation }>('GET', `/relations/${collection}/${field}`)).data;
  const remove = async (collection: string): Promise<number> => {
    await api.ok('DELETE', `/collections/${collection}`);
    const { data } = await api.ok<{ data: { position: number; collection: string }[] }>('GET', '/trash');
    const entry = data.find((each) => each.collection === collection);
    return entry?.position ?? 0;
  };
  const restore = async (position: number, body?: object): Promise<Warning[]> =>
    (await api.ok<{ warnings?: Warning[] }>('POST', `/trash/${position}/restore`, body)).warnings ?? [];
  /** Relation ids come from the log. */
  const snapshot = async () => {
    const { relations, ...rest } = await api.ok<{ relations: { id: number }[] }>('GET', '/schema/snapshot');
    return { ...rest, relations: relations.map((each) => ({ ...each, id: 0 })) };
  };

  it('restores relations, alias fields, memberships and groups of the same batch', async () => {
    await make('authors', [alias('books')]);
    await make('books', [
      plain('author', 'integer'),
      plain('shelf', 'integer'),
      plain('note', 'integer'),
      alias('parts'),
    ]);
    await make('shelves', [alias('books')]);
    await make('parts', [plain('book', 'integer')], { group: 'books' });
    await make('anything', [plain('item', 'string'), plain('collection', 'string')]);
    await relate('books', 'author', 'authors', { one_field: 'books' });
    await relate('books', 'shelf', 'shelves', { one_field: 'books', schema: { on_delete: 'CASCADE' } });
    await relate('parts', 'book', 'books', { one_field: 'parts' });
    await relate('books', 'note', 'books');
    await api.ok('POST', '/relations', {
      many_collection: 'anything',
      many_field: 'item',
      one_collection: null,
      one_collection_field: 'collection',
      one_allowed_collections: ['authors', 'books', 'shelves'],
    });
    await api.sql('INSERT INTO authors DEFAULT VALUES');
    await api.sql('INSERT INTO books (author) VALUES (1)');
    await api.sql('INSERT INTO parts (book) VALUES (1)');
    const before = await snapshot();
    const position = await remove('books');
    // Objects in the trash do not block other changes.
    await api.sql('UPDATE authors SET id = 2; UPDATE authors SET id = 1');
    expect(await restore(position)).to.deep.equal([]);

    expect(await snapshot()).to.deep.equal(before);
    expect(await api.sql('SELECT author FROM books')).to.deep.equal([{ author: 1 }]);
    expect((await relation('anything', 'item')).one_allowed_collections).to.deep.equal(['authors', 'books', 'shelves']);
  });

  it('lists what cannot be restored', async () => {
    await make('teams', [alias('players')]);
    await make('games', [alias('lineups')]);
    await make('players', [plain('team', 'integer'), plain('game', 'integer'), alias('goals')], { group: 'teams' });
    await make('goals', [plain('player', 'integer')]);
    await make('lineups', [plain('player', 'integer')]);
    await relate('players', 'team', 'teams', { one_field: 'players' });
    await relate('players', 'game', 'games', { one_field: 'lineups' });
    await relate('goals', 'player', 'players', { one_field: 'goals' });
    await relate('lineups', 'player', 'players');
    const position = await remove('players');
    await api.ok('DELETE', '/collections/teams?purge');
    await api.ok('DELETE', '/fields/goals/player');
    await api.ok('POST', '/fields/goals', plain('player', 'integer'));
    await api.ok('POST', '/fields/games', { ...alias('lineups'), meta: { note: 'another' } });
    await relate('lineups', 'player', 'games');
    const warnings = await restore(position);
    expect(warnings.map(({ code, collection, field, message }) => [code, collection, field, message])).to.deep.equal([
      [
        'NOT_RESTORED',
        'players',
        undefined,
        'not restored: group membership of players: collection "teams" no longer exists',
      ],
      [
        'NOT_RESTORED',
        'players',
        'team',
        'not restored: relation of players.team: collection "teams" no longer exists',
      ],
      [
        'NOT_RESTORED',
        'games',
        'lineups',
        'not restored: alias field of games.lineups: another field now has its name',
      ],
      ['NOT_RESTORED', 'goals', 'player', 'not restored: relation of goals.player: the field no longer exists'],
      [
        'NOT_RESTORED',
        'lineups',
        'player',
        'not restored: relation of lineups.player: the field now has a different relation',
      ],
    ]);
    expect((await relation('players', 'game')).one_field).to.equal(null);
    const { status } = await client('/fields/players/goals');
    expect(status).to.equal(404);
  });

  it('accepts another name, and handles names now in use', async () => {
    await make('countries', [alias('cities')]);
    await make('cities', [
      plain('country', 'integer', { is_indexed: true, is_unique: true }),
      plain('twin', 'integer'),
    ]);
    await relate('cities', 'country', 'countries', { one_field: 'cities' });
    await relate('cities', 'twin', 'cities');
    await api.sql('INSERT INTO countries DEFAULT VALUES');
    await api.sql('INSERT INTO cities (country) VALUES (1)');
    const position = await remove('cities');
    await api.ok('POST', '/collections/countries/rename', { to: 'lands' });
    await make('cities', [plain('country', 'integer', { is_indexed: true, is_unique: true })]);
    const taken = await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', `/trash/${position}/restore`);
    expect(taken.message).to.contain('{"as": "…"}');
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: 'as' }, 'POST', `/trash/${position}/restore`, {
      as: 'lands',
    });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'as' }, 'POST', `/trash/${position}/restore`, {
      as: 'service_users',
    });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'with' }, 'POST', `/trash/${position}/restore`, {
      with: [],
    });
    expect(await restore(position, { as: 'towns' })).to.deep.equal([]);
    const back = await relation('towns', 'country');
    expect(back).to.deep.include({ one_collection: 'lands', one_field: 'cities' });
    expect(back.schema?.constraint_name).to.equal('towns_country_foreign');
    expect((await relation('towns', 'twin')).one_collection).to.equal('towns');
    expect(await api.sql('SELECT country FROM towns')).to.deep.equal([{ country: 1 }]);
    const indexes = await api.sql<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'towns'::regclass ORDER BY 1`,
    );
    expect(indexes.map(({ name }) => name)).to.deep.equal([
      'towns_country_index',
      'towns_country_unique',
      'towns_pkey',
    ]);
  });

  it('rejects keys that no longer hold, with the violating rows, or restores without them', async () => {
    await make('vendors');
    await make('offers', [plain('vendor', 'integer')]);
    await make('votes', [plain('offer', 'integer')]);
    await relate('offers', 'vendor', 'vendors');
    await relate('votes', 'offer', 'offers');
    await api.sql('INSERT INTO vendors DEFAULT VALUES; INSERT INTO offers (vendor) VALUES (1), (1), (NULL)');
    const position = await remove('offers');
    await api.sql('DELETE FROM vendors; INSERT INTO votes (offer) VALUES (7)');
    const own = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', `/trash/${position}/restore`);
    expect(own.message).to.contain('2 rows have no referenced row');
    expect(own.extensions['field']).to.equal('vendor');
    const tried = await api.ok<{ accepted: boolean; optional: string[] }>('POST', `/trash/${position}/restore?dry_run`);
    expect([tried.accepted, tried.optional]).to.deep.equal([false, ['offers_vendor_foreign', 'votes_offer_foreign']]);
    const without = ['offers_vendor_foreign'];
    const others = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', `/trash/${position}/restore`, {
      without,
    });
    expect(others.message).to.contain('1 row has no referenced row');
    const unknown = { without: ['nothing'] };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'without[0]' },
      'POST',
      `/trash/${position}/restore`,
      unknown,
    );
    const all = { without: [...without, 'votes_offer_foreign'] };
    const warnings = await restore(position, all);
    expect(warnings.map(({ collection, field }) => `${collection}.${field}`)).to.deep.equal([
      'offers.vendor',
      'votes.offer',
    ]);
    expect((await relation('offers', 'vendor')).schema).to.equal(null);
  });

  it('rejects a relation to a key of a different type, or restores without it', async () => {
    const fields = [plain('id', 'integer', { is_primary_key: true })];
    await api.ok('POST', '/collections', { collection: 'owners', schema: {}, fields });
    await make('pets', [plain('owner', 'integer')]);
    await relate('pets', 'owner', 'owners');
    const position = await remove('pets');
    await api.ok('PATCH', '/fields/owners/id', { type: 'string' });
    const refused = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `/trash/${position}/restore`);
    expect(refused.message).to.contain('give both the same type');
    expect(await restore(position, { without: ['pets_owner_foreign'] })).to.have.length(1);
  });

  it('shows the plan without changes', async () => {
    await make('plans', [plain('title', 'string')]);
    const position = await remove('plans');
    const head = await api.head();
    const plan = await api.ok<{ accepted: boolean; statements: { summary: string }[] }>(
      'POST',
      `/trash/${position}/restore?dry_run`,
    );
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ summary }) => summary)).to.deep.equal(['restore table plans from the trash']);
    expect(await api.head()).to.equal(head);
    expect(await restore(position)).to.deep.equal([]);
  });

  it('restores a table once: concurrently, with a purge in between, and with a repeated key', async () => {
    await make('races');
    const position = await remove('races');
    const call = (method: string, path: string) => client(path, { method });
    const replies = await Promise.all([
      call('POST', `/trash/${position}/restore`),
      call('POST', `/trash/${position}/restore`),
      call('DELETE', `/trash/${position}`),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 404)).to.have.length(1);
    for (const { status, text } of replies) if (status === 404) expect(text).to.match(/it was (purged|restored) at 20/);
  });

  it('is shown in the history as a restore instead of a creation', async () => {
    const latest = async () => {
      const { data } = await api.ok<{ data: { summary: string; types: object }[] }>('GET', '/history/batches?limit=1');
      return data[0];
    };
    await make('keepers', [alias('things')]);
    await make('things', [plain('owner', 'integer'), plain('title', 'string')]);
    await relate('things', 'owner', 'keepers', { one_field: 'things' });
    const then = await api.head();
    const position = await remove('things');
    await restore(position);
    expect(await latest()).to.deep.include({
      summary: 'restored collection things, restored field keepers.things, created relation things.owner',
      types: { 'collection.created': 1, 'field.created': 1, 'relation.created': 1 },
    });
    await api.ok('DELETE', '/fields/things/title');
    await api.ok('POST', '/fields/things', plain('another', 'string'));
    await remove('things');
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect((await latest())?.summary)
      .to.contain('restored collection things')
      .and.to.contain('restored field things.title');
  });

  it('continues its history under any name', async () => {
    await make('lives', [plain('title', 'string')]);
    const position = await remove('lives');
    await make('lives');
    await restore(position, { as: 'afterlives' });
    await api.ok('PATCH', '/collections/afterlives', { meta: { note: 'again' } });
    interface History {
      data: { type: string; collection: string }[];
      meta: { lives: { identity: string; names: { name: string }[] }[] };
    }
    const { data, meta } = await api.ok<History>('GET', '/history/collections/afterlives');
    expect(data.map(({ type, collection }) => `${type} ${collection}`)).to.deep.equal([
      'collection.created lives',
      'collection.deleted lives',
      'collection.created afterlives',
      'collection.updated afterlives',
    ]);
    expect(meta.lives.map(({ names }) => names.map(({ name }) => name))).to.deep.equal([['lives', 'afterlives']]);
    const old = await api.ok<History>('GET', '/history/collections/lives');
    expect(old.meta.lives.map(({ names }) => names.map(({ name }) => name))).to.deep.equal([
      ['lives', 'afterlives'],
      ['lives'],
    ]);
  });
});
