import { expect } from 'chai';
import { json, type Reply } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

const place = (collection: string, x: number) => ({ collection, x, y: 20.5 });
const CODES = (reply: Reply): unknown =>
  (reply.json as { errors: { extensions: { code: string; path?: string } }[] }).errors.map(
    ({ extensions: { code, path } }) => [code, path],
  );

describe('the saved arrangements of the diagram', () => {
  const { client: send, api } = withService();
  const save = (body: unknown, token?: string) =>
    send('/users/me/diagrams', { ...json(body, 'PUT'), ...(token !== undefined && { token }) });
  const saved = async (token?: string): Promise<unknown> => {
    const { status, text, json: body } = await send('/users/me/diagrams', token === undefined ? {} : { token });
    expect(status, text).to.equal(200);
    return (body as { data: unknown }).data;
  };
  const issue = async (body: object) => {
    const { data: me } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    return (await api.ok<{ data: { token: string } }>('POST', `/users/${me.id}/tokens`, body)).data.token;
  };

  it('belong to one user and one view, and are replaced or deleted as a whole', async () => {
    expect(await saved()).to.deep.equal([]);
    const whole = { depth: 'keys', folder: null, places: [place('articles', 1), place('__proto__', -2)] };
    const folder = { depth: 'keys', folder: 'shop', places: [place('orders', 3)] };
    for (const body of [whole, folder]) {
      const { status, text, json: answer } = await save(body);
      expect(status, text).to.equal(200);
      expect(answer).to.deep.equal({ data: body });
    }
    expect(await saved()).to.deep.equal([whole, folder]);
    const moved = { ...whole, places: [place('articles', 7)] };
    await save(moved);
    expect(await saved()).to.deep.equal([moved, folder]);

    const login = { email: 'ada@example.com', password: 'seven purple lanterns' };
    const { data: ada } = await api.ok<{ data: { id: string } }>('POST', '/users', { ...login, role: 'reader' });
    const grant = await send('/auth/login', json(login));
    const { access_token: token } = (grant.json as { data: { access_token: string } }).data;
    expect(await saved(token)).to.deep.equal([]);
    expect((await save(whole, token)).status).to.equal(200);
    expect(await saved(token)).to.deep.equal([whole]);
    expect(await saved()).to.deep.equal([moved, folder]);
    expect((await send(`/users/${ada.id}`, { method: 'DELETE' })).status).to.equal(204);
    expect(await api.sql('SELECT FROM service.service_presets')).to.have.length(2);

    await save({ ...folder, places: [] });
    expect(await saved()).to.deep.equal([moved]);
    const { data: events } = await api.ok<{ data: { type: string }[] }>('GET', '/history/events?limit=100');
    expect(events.filter(({ type }) => type.includes('diagram'))).to.deep.equal([]);
  });

  it('are rejected with the location if they are invalid', async () => {
    const valid = { depth: 'keys', folder: null, places: [place('articles', 1)] };
    const wrong: [body: object, path: string][] = [
      [{ ...valid, depth: 'all' }, 'depth'],
      [{ ...valid, folder: '' }, 'folder'],
      [{ ...valid, places: [{ ...place('articles', 1e8) }] }, 'places[0].x'],
      [{ ...valid, places: [{ collection: 'articles', x: 1 }] }, 'places[0].y'],
      [{ ...valid, places: Array.from({ length: 1_001 }, (_, x) => place('articles', x)) }, 'places'],
      [{ ...valid, more: true }, 'more'],
    ];
    for (const [body, path] of wrong) {
      const reply = await save(body);
      expect(reply.status, path).to.equal(400);
      expect(CODES(reply), path).to.deep.equal([['INVALID_PAYLOAD', path]]);
    }
    const hidden = await save({ ...valid, folder: 'a\u0000b' });
    expect(hidden.status, hidden.text).to.equal(400);
  });

  it('are limited to 100 views', async () => {
    const view = (number: number) => ({ depth: 'names', folder: `folder ${number}`, places: [place('a', number)] });
    await api.sql('DELETE FROM service.service_presets');
    for (let number = 0; number < 100; number++) expect((await save(view(number))).status).to.equal(200);
    const rejected = await save(view(100));
    expect(rejected.status).to.equal(409);
    expect(CODES(rejected)).to.deep.equal([['INVALID_STATE', undefined]]);
    expect((await save({ ...view(5), places: [place('b', 1)] })).status).to.equal(200);
  });

  it('cannot be read or saved with a token that has a scope', async () => {
    const token = await issue({ scope: { actions: ['read', 'propose', 'apply', 'history', 'operate'] } });
    expect((await send('/users/me/diagrams', { token })).status).to.equal(403);
    expect((await save({ depth: 'keys', folder: null, places: [] }, token)).status).to.equal(403);
  });
});
