import { expect } from 'chai';
import { ConnectionError, ServiceError, type StreamMessage, createClient } from '../../src/client/index.js';
import { withService } from '../support/with-service.js';

describe('the client', () => {
  const { service } = withService();
  const connect = (more: object = {}) => createClient({ url: service.url, token: service.adminToken, ...more });

  it('sends parameters, lists and bodies, and returns status, headers and body', async () => {
    const client = connect();
    const created = await client.createCollections({
      body: { collection: 'a, "b"', schema: {}, fields: [{ field: 'title', type: 'string', interface: 'input' }] },
      query: { fields: ['collection', 'meta'] },
      headers: { 'X-Reason': 'größer' },
    });
    expect(created.status).equal(200);
    expect(created.body.data).to.have.all.keys('collection', 'meta');
    const { body } = await client.getCollection({ params: { id: 'a, "b"' } });
    expect(body.data.collection).equal('a, "b"');
    const past = await client.getPastDocuments({ query: { at: 'now', parts: ['fields'], collections: ['a, "b"'] } });
    expect(past.body.data.fields?.map(({ field }) => field)).include('title');
    const batch = created.headers.get('x-batch-id') ?? '';
    const events = await client.listEvents({ query: { batch } });
    expect(events.body.data[0]?.reason).equal('größer');
    const deleted = await client.deleteCollection({ params: { id: 'a, "b"' } });
    expect([deleted.status, deleted.body]).deep.equal([204, undefined]);
  });

  it('returns the plan of a dry run with its type', async () => {
    const { body } = await connect().createCollections({
      body: { collection: 'planned', schema: {} },
      query: { dry_run: true },
    });
    expect(body.accepted).equal(true);
    expect(body.statements[0]?.sql).match(/^CREATE TABLE/);
  });

  it('sends a file as it is', async () => {
    const client = connect();
    const yaml = await client.raw('getSnapshot', { query: { export: 'yaml' } });
    const file = { content: await yaml.text(), type: 'application/yaml' };
    const { body } = await client.diffSnapshot({ file, query: { mode: 'merge' } });
    expect(body.diff.collections).deep.equal([]);
  });

  it('throws the errors of the service with code, location and request id', async () => {
    const sent = connect().createCollections({
      // @ts-expect-error: the types contain the field types.
      body: { collection: 'rejected', schema: {}, fields: [{ field: 'age', type: 'numbr', interface: 'input' }] },
    });
    const error = await sent.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ServiceError)) throw new Error('no ServiceError', { cause: error });
    expect([error.status, error.code]).deep.equal([400, 'INVALID_PAYLOAD']);
    expect(error.at('fields[0].type')).equal(error.message);
    expect(error.requestId).match(/^[\w-]+$/);
  });

  it('rejects parameters that would be the address of something else', async () => {
    for (const id of ['', '.', '..']) {
      const error: unknown = await connect()
        .deleteCollection({ params: { id } })
        .catch((thrown: unknown) => thrown);
      expect(error, id).instanceOf(TypeError);
    }
  });

  it('reports an unhealthy service as a response, and a missing one as ConnectionError', async () => {
    const { status, body } = await connect({ token: undefined }).getHealth();
    expect([status, body.status]).deep.equal([200, 'ok']);
    const nobody = createClient({ url: 'http://127.0.0.1:1', retries: 0 });
    const error: unknown = await nobody.getHealth().catch((thrown: unknown) => thrown);
    expect(error).instanceOf(ConnectionError);
  });

  /** Forwards requests to the service, and loses the response of the first ones that have a method. */
  function losing(method: string, times: number): { sent: Request[]; fetch: typeof fetch } {
    const sent: Request[] = [];
    return {
      sent,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const answer = await fetch(request.clone());
        if (request.method !== method) return answer;
        sent.push(request);
        if (sent.length > times) return answer;
        await answer.arrayBuffer();
        throw new TypeError('the connection was lost');
      },
    };
  }

  it('repeats a change whose response was lost, and the change takes effect once', async () => {
    const { sent, fetch } = losing('POST', 2);
    const client = connect({ fetch });
    const { status, headers } = await client.createCollections({ body: { collection: 'once', schema: {} } });
    expect(status).equal(200);
    expect(sent).lengthOf(3);
    expect(new Set(sent.map((request) => request.headers.get('idempotency-key'))).size).equal(1);
    const { body } = await client.listEvents({ query: { collection: 'once', type: 'collection.created' } });
    expect(body.data.map(({ batch }) => batch)).deep.equal([headers.get('x-batch-id')]);
  });

  it('does not repeat a change without an Idempotency-Key', async () => {
    const { sent, fetch } = losing('POST', 1);
    const body = { email: 'once@example.com', role: 'reader' } as const;
    const error: unknown = await connect({ fetch })
      .createUser({ body })
      .catch((thrown: unknown) => thrown);
    expect(error).instanceOf(ConnectionError);
    expect(sent).lengthOf(1);
    const { body: users } = await connect().listUsers();
    expect(users.data.filter(({ email }) => email === body.email)).lengthOf(1);
  });

  it('does not repeat a call of an agent, which may propose a change', async () => {
    const { sent, fetch } = losing('POST', 1);
    const error: unknown = await connect({ fetch })
      .callAgentTools({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
      .catch((thrown: unknown) => thrown);
    expect(error).instanceOf(ConnectionError);
    expect(sent).lengthOf(1);
  });

  it('stops waiting for a repetition when its signal is aborted', async () => {
    const controller = new AbortController();
    const lost = (): Promise<Response> => {
      controller.abort(new Error('no longer needed'));
      return Promise.reject(new TypeError('the connection was lost'));
    };
    const error: unknown = await connect({ fetch: lost })
      .listUsers({ signal: controller.signal })
      .catch((thrown: unknown) => thrown);
    expect(error).equal(controller.signal.reason);
  });

  /** Breaks in the middle of the second event, after the first one was read. */
  function brokenAtSecond({ body }: Response): ReadableStream<Uint8Array> {
    const reader = body!.getReader();
    let text = '';
    let isBroken = false;
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (isBroken) {
          await reader.cancel();
          return controller.error(new TypeError('terminated'));
        }
        const { done, value } = await reader.read();
        if (done) return controller.close();
        const before = text.length;
        text += new TextDecoder('latin1').decode(value);
        const second = [...text.matchAll(/^data: .{20}/gm)][1];
        isBroken = second !== undefined;
        controller.enqueue(second === undefined ? value : value.slice(0, second.index + 20 - before));
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  it('continues a stream after a lost connection, without a missing or repeated event', async () => {
    let streams = 0;
    const breaking: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!new Request(input, init).url.includes('/history/stream')) return answer;
      streams++;
      return new Response(brokenAtSecond(answer), { status: answer.status, headers: answer.headers });
    };
    const client = connect({ fetch: breaking });
    const { body: batches } = await client.listBatches({ query: { limit: 1, order: 'desc' } });
    const after = batches.data[0]?.last_position ?? 0;
    const { body: messages } = await client.streamEvents({ query: { after: String(after) } });
    const names = ['s1', 's2', 's3'];
    for (const collection of names) await client.createCollections({ body: { collection, schema: {} } });
    const found: StreamMessage[] = [];
    for await (const message of messages) {
      found.push(message);
      if (message.event === 'message' && message.data.collection === 's3') break;
    }
    const positions = found.map((message) => (message.event === 'message' ? message.data.position : 0));
    const { body: events } = await client.listEvents({ query: { after: String(after) } });
    expect(positions).deep.equal(events.data.map(({ position }) => position).slice(0, positions.length));
    expect(streams).greaterThan(1);
  });

  it('reads an export event by event, and reports one that ends early', async () => {
    const { body } = await connect().exportLog();
    const positions: number[] = [];
    for await (const { position } of body) positions.push(position);
    expect(positions).deep.equal(positions.map((_, index) => index + 1));
    const cutting: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(_, controller) {
          controller.error(new TypeError('terminated'));
        },
      });
      return new Response(answer.body?.pipeThrough(cut), answer);
    };
    const { body: early } = await connect({ fetch: cutting }).exportLog();
    const error: unknown = await (async () => {
      for await (const event of early) expect(event.position).greaterThan(0);
    })().catch((thrown: unknown) => thrown);
    expect(error).instanceOf(ConnectionError);
  });
});
