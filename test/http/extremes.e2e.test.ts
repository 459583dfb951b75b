import { expect } from 'chai';
import { withService } from '../support/with-service.js';

/** For queries and paths: NUL, lone surrogates, invalid UTF-8, extreme times and numbers. */
const EXTREMES = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%FF',
  '%',
  '0000-01-01',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00%2B14:00',
  '9999-12-31',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-14:00',
  '275760-09-13',
  '%2B275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '999999999999999',
  '9223372036854775808',
  '-1',
  'infinity',
];

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
}

describe('extreme values', function () {
  this.timeout(300_000);
  let operations: { method: string; path: string; operation: Operation }[];

  const { api } = withService();
  before(async () => {
    await api.ok('POST', '/collections', { collection: 'a', schema: {} });
    const { json } = await api.client('/server/openapi.json');
    const { paths } = json as { paths: Record<string, Record<string, Operation>> };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    expect(operations).length.above(30);
  });

  /** Logging out would invalidate the session, and an endless stream never ends. */
  const filled = (path: string, value = 'x') => path.replaceAll(/\{\w+\}/g, value);

  async function expectNo5xx(
    method: string,
    path: string,
    send: { body?: string; headers?: Record<string, string> } = {},
  ) {
    const { status, text } = await api.client(path, { method, ...send });
    expect(status, `${method} ${path} ${send.body ?? ''}: ${text}`).below(500);
    return status;
  }

  it('never cause a 5xx response in a path', async () => {
    for (const { method, path, operation } of operations) {
      if (!path.includes('{')) continue;
      const body =
        operation.requestBody === undefined ? {} : { body: '{}', headers: { 'content-type': 'application/json' } };
      for (const value of EXTREMES) {
        const status = await expectNo5xx(method, filled(path, value), body);
        expect(status, `${method} ${filled(path, value)}`).within(400, 499);
      }
    }
  });

  it('never cause a 5xx response in a query', async () => {
    for (const { method, path, operation } of operations) {
      const body =
        operation.requestBody === undefined ? {} : { body: '{}', headers: { 'content-type': 'application/json' } };
      const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      for (const { name } of parameters) {
        // The stream never ends for valid input; a subject is parsed as for /history/events.
        const isEndless = (value: string) =>
          path === '/history/stream' && (name === 'subject' || !value.startsWith('%'));
        const values = EXTREMES.filter((value) => !isEndless(value));
        for (const value of values) {
          await expectNo5xx(method, `${filled(path)}?${name}=${value}`, body);
        }
      }
      expect(await expectNo5xx(method, `${filled(path)}?%00=1`, body)).within(400, 499);
    }
  });

  it('never cause a 5xx response in a body', async () => {
    const texts = ['{"x":"\\u0000"}', '{"\\u0000":1}', '{"x":"\\ud800"}', '["\\udfff"]', '"\\u0000"', '{"x":1e999}'];
    for (const { method, path, operation } of operations) {
      if (operation.requestBody === undefined) continue;
      for (const body of texts) {
        const status = await expectNo5xx(method, filled(path), {
          body,
          headers: { 'content-type': 'application/json' },
        });
        expect(status, `${method} ${path} ${body}`).within(400, 499);
      }
    }
  });

  it('never cause a 5xx response in a header', async () => {
    for (const name of [
      'X-Reason',
      'X-Request-Id',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'User-Agent',
      'Last-Event-ID',
      'Accept-Encoding',
    ]) {
      for (const value of ['\xff', '\xed\xa0\x80', '\xc3\xa4', 'x'.repeat(4000), '""', 'W/', '%00']) {
        const headers = { 'content-type': 'application/json', [name]: value };
        const body = JSON.stringify({ meta: { note: `${name} ${value.length}` } });
        await expectNo5xx('PATCH', '/collections/a', { body, headers });
        await expectNo5xx('GET', '/collections', { headers });
      }
    }
  });

  it('never cause a 5xx response at the end of a token', async () => {
    const [user] = (await api.ok<{ data: { id: string }[] }>('GET', '/users')).data;
    const create = (expires_at: string) =>
      api.client(`/users/${user?.id}/tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ expires_at }),
      });
    for (const time of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
      const { status, text } = await create(time);
      expect(status, text).equal(400);
      expect(text).include('"path":"expires_at"').include('from the year 1 to 9999');
    }
    for (const time of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z']) {
      expect((await create(time)).status, time).equal(200);
    }
    await api.ok('GET', `/users/${user?.id}/tokens`);
  });

  it('the history accepts extreme times', async () => {
    expect((await api.client('/history/events?since=0000-01-01')).codes).deep.equal(['INVALID_QUERY']);
    expect((await api.client('/history/snapshot?at=9999-12-31T23:59:59-14:00')).codes).deep.equal(['INVALID_QUERY']);
    const { data } = await api.ok<{ data: unknown[] }>(
      'GET',
      '/history/events?since=0001-01-01&until=9999-12-31T23:59:59.999Z',
    );
    expect(data).length.above(0);
    expect((await api.client('/history/collections/%00')).codes).deep.equal(['INVALID_QUERY']);
  });
});
