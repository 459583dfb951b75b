import { spawnSync } from 'node:child_process';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Api, createApi } from '../support/api.js';
import { clientOf, json } from '../support/client.js';
import { ROOT } from '../support/documents.js';
import { type TestService, startService } from '../support/service.js';
import { until } from '../support/until.js';

/* The part of protobuf that OTLP uses. */

type Field = bigint | Buffer;

/** The values of each field of a message, in order. */
function fieldsOf(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  const readers: Record<number, () => Field> = {
    0: varint,
    1: () => bytes(8).readBigUInt64LE(),
    2: () => bytes(Number(varint())),
    5: () => BigInt(bytes(4).readUInt32LE()),
  };
  while (at < message.length) {
    const tag = Number(varint());
    const value = readers[tag & 7]?.() ?? expect.fail(`wire type ${tag & 7}`);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (message: Buffer, field: number): Buffer[] => (fieldsOf(message).get(field) ?? []) as Buffer[];
const textOf = (message: Buffer, field: number): string => messages(message, field)[0]?.toString() ?? '';
const hexOf = (message: Buffer, field: number): string => messages(message, field)[0]?.toString('hex') ?? '';

function attributesOf(message: Buffer, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [value = Buffer.alloc(0)] = messages(pair, 2);
      const number = fieldsOf(value).get(3)?.[0];
      return [textOf(pair, 1), typeof number === 'bigint' ? Number(number) : textOf(value, 1)];
    }),
  );
}

interface Span {
  trace: string;
  id: string;
  parent: string;
  name: string;
  kind: number;
  attributes: Record<string, string | number>;
  status: number;
  resource: Record<string, string | number>;
}

/** The spans of an ExportTraceServiceRequest. */
const spansOf = (request: Buffer): Span[] =>
  messages(request, 1).flatMap((resourceSpans) =>
    messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => ({
        trace: hexOf(span, 1),
        id: hexOf(span, 2),
        parent: hexOf(span, 4),
        name: textOf(span, 5),
        kind: Number(fieldsOf(span).get(6)?.[0]),
        attributes: attributesOf(span, 9),
        status: Number(messages(span, 15).flatMap((status) => fieldsOf(status).get(3) ?? [])[0] ?? 0),
        resource: attributesOf(messages(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1),
      })),
  );

const findSpan = (spans: readonly Span[], name: string): Span =>
  spans.find((span) => span.name === name) ?? expect.fail(`no span "${name}"`);

/** A collector: OTLP over HTTP with protobuf. */
async function startCollector() {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      collector.requests.push({ path: request.url ?? '', headers: request.headers, body });
      collector.respond(response);
    });
  });
  const collector = {
    url: '',
    requests: [] as { path: string; headers: IncomingMessage['headers']; body: Buffer }[],
    respond: (response: ServerResponse): void => void response.writeHead(200).end(),
    spans: () => collector.requests.flatMap(({ body }) => spansOf(body)),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return collector;
}

const SECRET = 'a key of the collector';

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let service: TestService;
  let api: Api;
  let stopped: boolean;

  beforeEach(async () => {
    // Read by the SDK: an export starts soon after a span ends.
    process.env['OTEL_BSP_SCHEDULE_DELAY'] = '50';
    collector = await startCollector();
    service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `api-key=${encodeURIComponent(SECRET)}`,
    });
    api = createApi(service);
    stopped = false;
  });
  afterEach(async () => {
    delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
    await stop();
    await collector.stop();
  });

  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    await api.stop();
    await service.stop();
  }

  /** All spans: the service exports the last ones when it stops. */
  async function spans(): Promise<Span[]> {
    await stop();
    return collector.spans();
  }

  it('have one span per request, and one per command inside it', async () => {
    await api.client('/collections', json({ collection: 'books', schema: {} }));
    const found = await spans();
    const request = findSpan(found, 'POST /collections');
    const command = findSpan(found, 'command create-collection');
    const { 'dps.request_id': id, 'dps.position': position, ...attributes } = request.attributes;
    expect(attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/collections',
      'http.response.status_code': 200,
    });
    expect(service.log()).to.contain(`"request_id":"${id}"`);
    expect(command.attributes).to.deep.equal({
      'dps.command': 'create-collection',
      'dps.outcome': 'accepted',
      'dps.position': position,
      'dps.events': 1,
    });
    expect([command.trace, command.parent]).to.deep.equal([request.trace, request.id]);
    expect([request.kind, command.kind, request.parent]).to.deep.equal([2, 1, '']);
    expect(request.resource).to.include({ 'service.name': 'data-platform-service' });
    const exports = collector.requests.map(({ path, headers }) => [path, headers['content-type'], headers['api-key']]);
    expect(exports[0]).to.deep.equal(['/v1/traces', 'application/x-protobuf', SECRET]);
  });

  it('continue the trace of the client', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await api.client('/collections', { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    await api.client('/fields', { headers: { traceparent: 'nonsense' } });
    const found = await spans();
    const continued = findSpan(found, 'GET /collections');
    const other = findSpan(found, 'GET /fields');
    expect([continued.trace, continued.parent]).to.deep.equal([trace, 'b7ad6b7169203331']);
    expect(other.trace).not.to.equal(trace);
    expect(other.parent).to.equal('');
  });

  it('name the error code of a rejected command, and no detail', async () => {
    await api.client('/collections', json({ collection: 'books', schema: {} }));
    await api.client('/collections', json({ collection: 'books', schema: {} }));
    const found = await spans();
    const outcomes = found
      .filter(({ name }) => name === 'command create-collection')
      .map(({ attributes, status }) => [attributes['dps.outcome'], attributes['error.type'], status]);
    expect(outcomes).to.deep.equal([
      ['accepted', undefined, 0],
      ['rejected', 'ALREADY_EXISTS', 0],
    ]);
  });

  it('contain no secret, no name of a collection and no value of a row', async () => {
    await api.ok('POST', '/collections', {
      collection: 'private_name',
      schema: {},
      fields: [{ field: 'title', type: 'string', interface: 'input' }],
    });
    await api.sql(`INSERT INTO private_name (title) VALUES ('private value'), ('private value')`);
    const unique = { schema: { is_unique: true } };
    // PostgreSQL names the duplicated value in its error.
    const refused = await api.client('/fields/private_name/title?search=private%20query', json(unique, 'PATCH'));
    expect(refused.status).to.be.within(400, 499);
    await api.client('/auth/login', json({ email: service.adminEmail, password: 'private password' }));
    await api.client('/auth/login', json({ email: service.adminEmail, password: service.adminPassword }));
    await stop();
    const { length } = await spans();
    expect(length).to.be.greaterThan(4);
    const sent = collector.requests.map(({ body }) => body.toString('latin1')).join('\n');
    const hidden = [
      service.adminToken,
      service.adminEmail,
      service.adminPassword,
      SECRET,
      service.databaseUrl,
      'private',
    ];
    for (const text of hidden) expect(sent).not.to.contain(text);
    expect(service.log()).not.to.contain(SECRET);
  });

  it('are exported when the service stops', async () => {
    process.env['OTEL_BSP_SCHEDULE_DELAY'] = '600000';
    const later = await startService({ DATABASE_URL: service.databaseUrl, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await clientOf(later)('/server/ping');
    const isPing = ({ name }: Span): boolean => name === 'GET /server/ping';
    expect(collector.spans().some(isPing)).to.equal(false);
    await later.stop();
    expect(collector.spans().some(isPing)).to.equal(true);
  });

  it('delay neither requests nor shutdown while the collector does not respond', async () => {
    const held: ServerResponse[] = [];
    collector.respond = (response) => void held.push(response);
    await api.ok('POST', '/collections', { collection: 'books', schema: {} });
    await until('an export waits for the collector', () => held.length > 0);
    await api.ok('POST', '/collections', { collection: 'authors', schema: {} });
    await stop();
    expect(held.filter(({ writableEnded }) => !writableEnded)).to.have.length(held.length);
    expect(service.log()).to.contain('the last traces could not be exported before the service stopped');
  });

  it('are lost with one warning while the collector rejects them, and the service continues', async () => {
    const exported = (): number => collector.requests.length;
    collector.respond = (response) => void response.writeHead(400).end();
    for (let count = 1; count <= 3; count += 1) {
      const before = exported();
      await api.ok('POST', '/collections', { collection: `books_${count}`, schema: {} });
      await until('the spans arrive', () => exported() > before);
    }
    const lines = (text: string): number => service.log().split(text).length - 1;
    await until('the failure is logged', () => lines('traces cannot be exported') > 0);
    collector.respond = (response) => void response.writeHead(200).end();
    await api.ok('GET', '/collections');
    await until('the success is logged', () => lines('traces are exported again') > 0);
    expect(lines('traces cannot be exported')).to.equal(1);
    const { text } = await api.client('/metrics');
    for (const result of ['exported', 'lost'])
      expect(text).to.match(new RegExp(`dps_spans_total{result="${result}"} [1-9]`));
  });

  it('are lost while nothing listens at the address, and the service continues', async () => {
    await collector.stop();
    await api.ok('POST', '/collections', { collection: 'books', schema: {} });
    await api.ok('GET', '/collections/books');
    await stop();
    expect(service.log()).to.match(/traces cannot be exported|the last traces could not be exported/);
  });
});

describe('the OpenTelemetry SDK', () => {
  it('is not loaded without an endpoint', () => {
    const script = `
      await import('./src/app.ts');
      const { startTraces } = await import('./src/metrics/traces.ts');
      const loaded = async () => Object.keys((await import('node:module')).default._cache).filter((file) => file.includes('otlp')).length;
      const before = await loaded();
      await startTraces({ endpoint: null, headers: {}, release: '1', logger: console, onExport: () => undefined });
      const without = await loaded();
      const traces = await startTraces({ endpoint: 'http://127.0.0.1:9', headers: {}, release: '1', logger: console, onExport: () => undefined });
      await traces.stop();
      console.log(JSON.stringify([before, without, (await loaded()) > 0]));
    `;
    const options = ['--no-experimental-require-module', '--import', './test/support/typescript.mjs'];
    const args = [...options, '--input-type=module', '--eval', script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect(stdout.trim(), stderr).to.equal('[0,0,true]');
  });
});
