import { expect } from 'chai';
import { Webhook as Verifier } from 'standardwebhooks';
import { json } from '../../support/client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';

const PRIVATE = { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' };

interface Webhook {
  id: string;
  name: string;
  state: string;
  disabled_because: string | null;
  position: number | null;
  behind: number;
  failures: number;
  failing_since: string | null;
  next_attempt_at: string | null;
  last_error: string | null;
  old_secret_until: string | null;
}

interface CloudEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  subject?: string;
  time: string;
  sequence: string;
  data: { position: number; type: string; actor: { name: string } };
}

const eventOf = ({ body }: { body: string }): CloudEvent => JSON.parse(body) as CloudEvent;

describe('webhooks', () => {
  const { service, api, client: send } = withService({ settings: { ...PRIVATE, OBJECTS: 'on' } });
  const receivers: Receiver[] = [];
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await startReceiver();
    receivers.push(receiver);
  });
  afterEach(async () => {
    const { data } = await api.ok<{ data: Webhook[] }>('GET', '/webhooks');
    for (const { id } of data) await api.ok('DELETE', `/webhooks/${id}`);
    for (const each of receivers.splice(0)) await each.stop();
  });

  let count = 0;
  const unique = (): string => `t${(count += 1)}`;
  const create = (more: object = {}): Promise<{ data: Webhook & { secret: string } }> =>
    api.ok('POST', '/webhooks', { name: unique(), url: receiver.url, ...more });
  const get = async (id: string): Promise<Webhook> => (await api.ok<{ data: Webhook }>('GET', `/webhooks/${id}`)).data;
  const collection = async (name = unique()): Promise<string> => {
    await api.ok('POST', '/collections', { collection: name, schema: {} });
    return name;
  };
  const upToDate = (id: string): Promise<void> =>
    until('the webhook is up to date', async () => (await get(id)).behind === 0);
  const types = (): string[] => receiver.received.map((each) => eventOf(each).data.type);

  it('delivers an event as a signed CloudEvent', async () => {
    const { data } = await create();
    const name = await collection();
    await upToDate(data.id);
    const [received] = receiver.received;
    expect(receiver.received).to.have.length(1);
    const headers = received!.headers as Record<string, string>;
    expect(headers['content-type']).to.equal('application/cloudevents+json; charset=utf-8');
    const event = new Verifier(data.secret).verify(received!.body, headers) as CloudEvent;
    const [stored] = (
      await api.ok<{ data: { id: string; position: number }[] }>('GET', '/history/events?order=desc&limit=1')
    ).data;
    expect(event).to.deep.include({
      specversion: '1.0',
      id: stored?.id,
      type: 'data-platform-service.collection.created',
      subject: name,
      sequence: String(stored?.position).padStart(16, '0'),
    });
    expect(event.source).to.match(/^data-platform-service\/[0-9a-f]{64}$/);
    expect(headers['webhook-id']).to.equal(stored?.id);
    expect(event.data).to.deep.include({ position: stored?.position, collection: name, command: 'create-collection' });
    expect(event.data).to.not.have.any.keys('ip', 'user_agent', 'request_id', 'context');
    expect(() =>
      new Verifier(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(received!.body, headers),
    ).to.throw();
  });

  it('delivers the events that pass the filter, in order, and moves past the others', async () => {
    const { data } = await create({ types: ['collection.*'], collections: ['shop_*', 'pages'] });
    const other = await collection();
    await collection('shop_items');
    await api.ok('POST', '/fields/shop_items', { field: 'price', type: 'integer', interface: 'input' });
    await api.ok('PATCH', `/collections/${other}`, { meta: { note: 'n' } });
    await api.ok('POST', `/collections/${other}/rename`, { to: 'pages' });
    await api.ok('DELETE', '/collections/pages');
    await api.ok('DELETE', '/collections/shop_items');
    await upToDate(data.id);
    expect(receiver.received.map(eventOf).map(({ data: { type }, subject }) => `${type} ${subject}`)).to.deep.equal([
      'collection.created shop_items',
      `collection.renamed ${other}`,
      'collection.deleted pages',
      'collection.deleted shop_items',
    ]);
  });

  it('delivers the events of triggers that concern a collection', async () => {
    const [name, other] = [await collection('With "quotes"'), await collection()];
    const { data } = await create({ types: ['object.*'], collections: [name] });
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: 'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    });
    for (const table of [other, 'With ""quotes""']) {
      const definition = `CREATE TRIGGER "a on b" AFTER INSERT ON "${table}" EXECUTE FUNCTION mark()`;
      await api.ok('POST', '/objects', { kind: 'trigger', definition });
    }
    await api.ok('DELETE', `/collections/${other}`);
    await api.ok('DELETE', `/collections/${encodeURIComponent(name)}`);
    await api.ok('DELETE', '/objects/function/mark()');
    await upToDate(data.id);
    expect(types()).to.deep.equal(['object.created', 'object.deleted']);
  });

  it('delivers the rename of a trigger to webhooks of both tables', async () => {
    const [name, to] = [await collection(), unique()];
    const { data } = await create({ types: ['object.*'], collections: [to] });
    const definition = 'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$';
    await api.ok('POST', '/objects', { kind: 'function', definition });
    const trigger = `CREATE TRIGGER mark AFTER INSERT ON "${name}" EXECUTE FUNCTION mark()`;
    await api.ok('POST', '/objects', { kind: 'trigger', definition: trigger });
    await api.ok('POST', `/collections/${name}/rename`, { to });
    await api.ok('DELETE', `/collections/${to}`);
    await api.ok('DELETE', '/objects/function/mark()');
    await upToDate(data.id);
    expect(types()).to.deep.equal(['object.renamed', 'object.deleted']);
  });

  it('delivers the events of rules to webhooks of their table', async () => {
    const [name, to] = [await collection(), unique()];
    const { data } = await create({ types: ['object.*'], collections: [to] });
    const definition = `CREATE RULE keep AS ON DELETE TO "${name}" DO INSTEAD NOTHING`;
    await api.ok('POST', '/objects', { kind: 'rule', definition });
    await api.ok('POST', `/collections/${name}/rename`, { to });
    await api.ok('DELETE', `/collections/${to}`);
    await upToDate(data.id);
    expect(types()).to.deep.equal(['object.renamed', 'object.deleted']);
  });

  it('delivers the events of privileges to webhooks of their table', async () => {
    const [name, to] = [await collection(), unique()];
    const { data } = await create({ types: ['object.*'], collections: [to] });
    const definition = `GRANT SELECT ON "${name}" TO pg_monitor`;
    await api.ok('POST', '/objects', { kind: 'privileges', definition });
    await api.ok('POST', `/collections/${name}/rename`, { to });
    await api.ok('DELETE', `/collections/${to}`);
    await upToDate(data.id);
    expect(types()).to.deep.equal(['object.renamed', 'object.deleted']);
  });

  it('delivers no events of privileges on functions to webhooks of collections', async () => {
    const { data } = await create({ types: ['object.*'], collections: ['*'] });
    const name = unique();
    const definition = `CREATE FUNCTION "${name}"() RETURNS integer LANGUAGE sql AS 'SELECT 1'`;
    await api.ok('POST', '/objects', { kind: 'function', definition });
    const revoked = `REVOKE EXECUTE ON FUNCTION "${name}"() FROM PUBLIC`;
    await api.ok('POST', '/objects', { kind: 'privileges', definition: revoked });
    await upToDate(data.id);
    expect(types()).to.deep.equal([]);
  });

  it('delivers the events of policies and row security to webhooks of their table', async () => {
    const [name, to] = [await collection(), unique()];
    const { data } = await create({ types: ['object.*'], collections: [to] });
    await api.ok('POST', '/objects', { kind: 'policy', definition: `CREATE POLICY own ON "${name}" USING (true)` });
    const definition = `ALTER TABLE "${name}" ENABLE ROW LEVEL SECURITY`;
    await api.ok('POST', '/objects', { kind: 'row_security', definition });
    await api.ok('POST', `/collections/${name}/rename`, { to });
    await api.ok('DELETE', `/collections/${to}`);
    await upToDate(data.id);
    expect(types()).to.deep.equal(['object.renamed', 'object.renamed', 'object.deleted', 'object.deleted']);
  });

  it('delivers the events of change requests that concern a collection', async () => {
    const name = await collection();
    await create({ types: ['change.*'], collections: [name] });
    const open = async (about: string): Promise<void> => {
      const snapshot = await api.ok<{ collections: { collection: string; meta: object }[] }>('GET', '/schema/snapshot');
      Object.assign(snapshot.collections.find((each) => each.collection === about)?.meta ?? {}, { note: unique() });
      const diff = await api.ok<object>('POST', '/schema/diff', snapshot);
      const opened = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Add a note', diff });
      await api.ok('POST', `/changes/${opened.data.id}/withdraw`);
    };
    await open(await collection());
    await open(name);
    await until('both events have arrived', () => receiver.received.length === 2);
    expect(types()).to.deep.equal(['change.opened', 'change.withdrawn']);
  });

  it('repeats a failed delivery until it succeeds, and keeps the order', async () => {
    const { data } = await create();
    const names: string[] = [];
    for (const status of [500, 302]) {
      receiver.respond = (response) => void response.writeHead(status, { location: receiver.url }).end();
      if (names.length === 0) names.push(await collection(), await collection());
      const error = `The receiver responded with ${status}.`;
      await until(`it fails with ${status}`, async () => (await get(data.id)).last_error?.startsWith(error) === true);
      const failing = await get(data.id);
      expect(failing.state).to.equal('failing');
      expect(failing.failing_since).to.be.a('string');
    }
    receiver.respond = (response) => void response.writeHead(204).end();
    await upToDate(data.id);
    const subjects = receiver.received.map((each) => eventOf(each).subject);
    expect(subjects.length).to.be.at.least(4);
    expect(subjects).to.deep.equal([...subjects.slice(1).map(() => names[0]), names[1]]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(2);
    expect(await get(data.id)).to.deep.include({
      state: 'enabled',
      failures: 0,
      failing_since: null,
      last_error: null,
    });
  });

  it('delivers to a webhook while the receivers of ten others never finish their responses', async () => {
    const unfinished = await startReceiver();
    receivers.push(unfinished);
    unfinished.respond = (response) => void response.writeHead(200).write('.');
    for (let index = 0; index < 10; index += 1) await create({ url: unfinished.url, types: ['collection.*'] });
    const { data } = await create({ types: ['collection.*'] });
    const created = [await collection(), await collection(), await collection()];
    await upToDate(data.id);
    expect(receiver.received.map((each) => eventOf(each).subject)).to.deep.equal(created);
  });

  it('pauses longer and longer before it repeats a delivery that the database could not record', async () => {
    const { data } = await create({ types: ['collection.*'] });
    await api.sql(`CREATE FUNCTION raise_disk_full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file'; END $$`);
    await api.sql(`CREATE TRIGGER is_full BEFORE INSERT ON service.service_webhook_deliveries
        EXECUTE FUNCTION raise_disk_full()`);
    await collection();
    const pausesOf = (): number[] =>
      service
        .log()
        .split('\n')
        .filter((line) => line.includes('a webhook was interrupted') && line.includes(data.id))
        .map((line) => (JSON.parse(line) as { retry_in: number }).retry_in);
    await until('it was interrupted three times', () => pausesOf().length >= 3);
    const [first = NaN, , third = NaN] = pausesOf();
    expect(third).to.be.greaterThan(first);
    await api.sql('DROP FUNCTION raise_disk_full() CASCADE');
    await upToDate(data.id);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
  });

  it('waits as long as Retry-After asks', async () => {
    const { data } = await create();
    receiver.respond = (response) => void response.writeHead(503, { 'retry-after': '3600' }).end();
    await collection();
    await until('the webhook fails', async () => (await get(data.id)).state === 'failing');
    const { next_attempt_at: next } = await get(data.id);
    expect((Date.parse(next ?? '') - Date.now()) / 60_000).to.be.within(55, 60);
    receiver.respond = (response) => void response.writeHead(204).end();
    await api.ok('PATCH', `/webhooks/${data.id}`, { url: `${receiver.url}/new` });
    await upToDate(data.id);
    expect(receiver.received.at(-1)?.path).to.equal('/hook/new');
  });

  it('disables a webhook whose receiver answers 410, and continues after it is enabled again', async () => {
    const { data } = await create({ types: ['collection.*'] });
    receiver.respond = (response) => void response.writeHead(410).end();
    const name = await collection();
    await until('it is disabled', async () => (await get(data.id)).state === 'disabled');
    expect((await get(data.id)).disabled_because).to.equal('gone');
    const [event] = (await api.ok<{ data: object[] }>('GET', '/history/events?subject=webhook&order=desc&limit=1'))
      .data;
    expect(event).to.deep.include({ type: 'webhook.disabled', data: { because: 'gone' }, command: 'disable-webhook' });
    receiver.respond = (response) => void response.writeHead(204).end();
    await collection();
    expect(receiver.received).to.have.length(1);
    await api.ok('PATCH', `/webhooks/${data.id}`, { enabled: true });
    await upToDate(data.id);
    expect(receiver.received.map((each) => eventOf(each).subject).slice(0, 2)).to.deep.equal([name, name]);
    expect(receiver.received).to.have.length(3);
  });

  it('disables a webhook that has failed for three days, and reports this in doctor and metrics', async () => {
    const { data } = await create();
    receiver.respond = (response) => void response.writeHead(500).end();
    await collection();
    await until('the webhook fails', async () => (await get(data.id)).state === 'failing');
    const doctor = async (): Promise<string> => (await send('/server/doctor')).text;
    expect(await doctor()).to.contain('WEBHOOK_FAILING');
    expect((await send('/metrics')).text).to.contain('dps_webhooks{state="failing"} 1');
    await api.sql(
      `UPDATE service.service_webhooks SET failing_since = now() - interval '3 days', next_attempt_at = now()`,
    );
    await collection();
    await until('it is disabled', async () => (await get(data.id)).state === 'disabled');
    expect((await get(data.id)).disabled_because).to.equal('failing');
    expect(await doctor()).to.contain('its receiver failed for three days');
    expect((await send('/metrics')).text).to.contain('dps_webhooks{state="disabled"} 1');
  });

  it('delivers events again from a position, with the same ids', async () => {
    const { data } = await create({ types: ['collection.created'] });
    const first = (await api.head()) + 1;
    const names = [await collection(), await collection()];
    await upToDate(data.id);
    await api.ok('POST', `/webhooks/${data.id}/replay`, { position: first });
    await until('both were delivered again', () => receiver.received.length === 4);
    expect(receiver.received.map((each) => eventOf(each).subject)).to.deep.equal([...names, ...names]);
    expect(receiver.received[0]?.headers['webhook-id']).to.equal(receiver.received[2]?.headers['webhook-id']);
    const end = await api.head();
    const at = `/webhooks/${data.id}/replay`;
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'position' }, 'POST', at, { position: end + 2 });
  });

  it('keeps the last 100 attempts with status and duration', async () => {
    const { data } = await create({ types: ['collection.created'] });
    await api.ok('POST', `/webhooks/${data.id}/replay`, { position: 1 });
    for (let index = 0; index < 2; index += 1) await collection();
    await upToDate(data.id);
    receiver.respond = (response) => void response.writeHead(404).end();
    const tested = await api.ok<{ data: object }>('POST', `/webhooks/${data.id}/test`);
    expect(tested.data).to.deep.include({
      type: 'webhook.test',
      position: null,
      status: 404,
      error: 'The receiver responded with 404.',
    });
    await api.sql(
      `INSERT INTO service.service_webhook_deliveries (webhook, message, type, attempted_at, milliseconds)
       SELECT $1, gen_random_uuid(), 'filler', now(), 1 FROM generate_series(1, 150)`,
      [data.id],
    );
    await api.ok('POST', `/webhooks/${data.id}/test`);
    const list = await api.ok<{ data: { type: string }[] }>('GET', `/webhooks/${data.id}/deliveries`);
    expect(list.data).to.have.length(100);
    expect([list.data[0]?.type, list.data[99]?.type]).to.deep.equal(['webhook.test', 'filler']);
    const [stored] = await api.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM service.service_webhook_deliveries',
    );
    expect(stored?.count).to.equal(100);
  });

  it('signs with both secrets while a rotation overlaps', async () => {
    // No event is delivered, so the last request is always the test.
    const { data } = await create({ types: ['collection.*'] });
    const rotated = await api.ok<{ data: Webhook & { secret: string } }>('POST', `/webhooks/${data.id}/secret`, {
      overlap_hours: 1,
    });
    expect(rotated.data.old_secret_until).to.be.a('string');
    const verifies = async (secret: string): Promise<boolean> => {
      await api.ok('POST', `/webhooks/${data.id}/test`);
      const { body, headers } = receiver.received.at(-1)!;
      try {
        new Verifier(secret).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    };
    expect([await verifies(data.secret), await verifies(rotated.data.secret)]).to.deep.equal([true, true]);
    const last = await api.ok<{ data: { secret: string } }>('POST', `/webhooks/${data.id}/secret`, {
      overlap_hours: 0,
    });
    expect([await verifies(rotated.data.secret), await verifies(last.data.secret)]).to.deep.equal([false, true]);
  });

  it('records each change as an event without secrets or addresses', async () => {
    const before = await api.head();
    const { data } = await create({ url: `${receiver.url}/T0/private-path`, types: ['field.*'], name: 'catalog' });
    await api.ok('PATCH', `/webhooks/${data.id}`, { url: `${receiver.url}/other-path`, collections: ['a*'] });
    await api.ok('PATCH', `/webhooks/${data.id}`, { enabled: false });
    await api.ok('PATCH', `/webhooks/${data.id}`, { enabled: false });
    await api.ok('PATCH', `/webhooks/${data.id}`, { enabled: true });
    const rotated = await api.ok<{ data: { secret: string } }>('POST', `/webhooks/${data.id}/secret`);
    await api.ok('POST', `/webhooks/${data.id}/replay`, { position: 1 });
    await api.ok('DELETE', `/webhooks/${data.id}`);
    const { text } = await send(`/history/events?after=${before}`);
    for (const secret of [data.secret, rotated.data.secret, 'path', 'whsec_']) expect(text).to.not.contain(secret);
    const origin = new URL(receiver.url).origin;
    const { data: events } = JSON.parse(text) as { data: { type: string; data: object; subject: object }[] };
    expect(events.map(({ type, data: content }) => [type, content])).to.deep.equal([
      ['webhook.created', { name: 'catalog', origin, format: 'cloudevents', types: ['field.*'], collections: null }],
      ['webhook.updated', { origin, collections: ['a*'] }],
      ['webhook.disabled', { because: 'requested' }],
      ['webhook.enabled', {}],
      ['webhook.updated', { secret: 'rotated' }],
      ['webhook.updated', { replayed_from: 1 }],
      ['webhook.deleted', {}],
    ]);
    expect(events[0]?.subject).to.deep.equal({ kind: 'webhook', id: data.id });
  });

  it('writes neither secrets nor the path of the address to the log of the service', async () => {
    const { data } = await create({ url: `${receiver.url}/T0/private-path`, types: ['collection.*'] });
    const lines = (): string[] =>
      service
        .log()
        .split('\n')
        .filter((line) => line.includes(data.id));
    receiver.respond = (response) => void response.writeHead(500).end('private-answer');
    await collection();
    await until('the failure is logged', () => lines().some((line) => line.includes('a webhook failed')));
    const rotated = await api.ok<{ data: { secret: string } }>('POST', `/webhooks/${data.id}/secret`);
    receiver.respond = (response) => void response.writeHead(410).end('private-answer');
    await api.ok('PATCH', `/webhooks/${data.id}`, { url: `${receiver.url}/T1/private-path` });
    await until('the end is logged', () => lines().some((line) => line.includes('a webhook is disabled')));
    const secrets = [data.secret, rotated.data.secret].map((secret) => secret.replace('whsec_', ''));
    for (const text of [...secrets, 'whsec_', 'private-path', 'private-answer'])
      expect(service.log()).to.not.contain(text);
  });

  it('rejects invalid webhooks with their location, and creates nothing', async () => {
    const valid = { name: 'valid', url: receiver.url };
    const INVALID: [string, object][] = [
      ['name', { name: '' }],
      ['name', { name: ' a' }],
      ['name', { name: 'a\u202Eb' }],
      ['url', { url: 'ftp://example.com' }],
      ['url', { url: 'example.com' }],
      ['url', { url: 'https://user:secret@example.com' }],
      ['url', { url: 'https://10.0.0.1/' }],
      ['url', { url: 'https://0x0a000001/' }],
      ['url', { url: 'https://[::ffff:10.0.0.1]/' }],
      ['url', { url: 'http://8.8.8.8/' }],
      ['format', { format: 'xml' }],
      ['types[0]', { types: ['collection.create'] }],
      ['types', { types: [] }],
      ['collections', { collections: [] }],
      ['secret', { secret: 'whsec_mine' }],
    ];
    for (const [at, change] of INVALID)
      await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at }, 'POST', '/webhooks', { ...valid, ...change });
    const created = await api.ok<{ data: Webhook }>('POST', '/webhooks', valid);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: 'name' }, 'POST', '/webhooks', valid);
    for (const [at, change] of INVALID.filter(([place]) => place !== 'secret'))
      await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at }, 'PATCH', `/webhooks/${created.data.id}`, change);
    for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['POST', '/test'],
        ['GET', '/deliveries'],
        ['POST', '/secret'],
        ['POST', '/replay', { position: 1 }],
      ] as const)
        await api.refused({ status: 404, code: 'NOT_FOUND' }, method, `/webhooks/${id}${path}`, body);
  });

  it('are available to admins only', async () => {
    const user = await api.ok<{ data: { id: string } }>('POST', '/users', { email: 'a@example.com', role: 'auditor' });
    const { data } = await api.ok<{ data: { token: string } }>('POST', `/users/${user.data.id}/tokens`, {});
    const headers = { authorization: `Bearer ${data.token}` };
    expect((await send('/webhooks', { headers })).status).to.equal(403);
    expect((await send('/webhooks', { ...json({ name: 'x', url: receiver.url }), headers })).status).to.equal(403);
  });

  it('sends plain text to Slack and Teams, without links or mentions from names and reasons', async () => {
    const slack = await create({ format: 'slack', types: ['collection.*'] });
    const teams = await create({ format: 'teams', types: ['collection.*'] });
    const name = 'a <!channel> & [x](http://evil.example)';
    const request = json({ collection: name, schema: {} });
    // The maximum length of a line is within the first emoji.
    const reason = `because${'e'.repeat(484)}${'\u{1f600}'.repeat(9)}`;
    const bytes = Buffer.from(reason).toString('latin1');
    await send('/collections', { ...request, headers: { ...request.headers, 'x-reason': bytes } });
    await until('both have arrived', () => receiver.received.length === 2);
    await Promise.all([upToDate(slack.data.id), upToDate(teams.data.id)]);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    const inSlack = bodies.find((body) => 'blocks' in body) as {
      text: string;
      blocks: [{ text: { type: string; text: string } }];
    };
    expect(inSlack.text).to.contain('a &lt;!channel&gt; &amp; [x]').and.not.contain('<');
    expect(inSlack.blocks[0].text).to.deep.include({ type: 'plain_text' });
    expect(inSlack.blocks[0].text.text).to.contain(`collection.created: ${name}`).and.contain('Reason: because');
    expect(inSlack.text, 'no half of a surrogate pair').to.match(/e\p{So}+…$/u);
    const inTeams = bodies.find((body) => 'attachments' in body) as {
      attachments: [{ content: { body: { type: string }[] } }];
    };
    expect(inTeams.attachments[0]).to.deep.include({ contentType: 'application/vnd.microsoft.card.adaptive' });
    expect(inTeams.attachments[0].content.body.map(({ type }) => type)).to.deep.equal(Array(3).fill('RichTextBlock'));
  });

  it('sends a large event without its content, with the path where it can be read', async () => {
    await create({ types: ['collection.created'] });
    const name = unique();
    await api.ok('POST', '/collections', { collection: name, schema: {}, meta: { note: 'x'.repeat(300_000) } });
    await until('it has arrived', () => receiver.received.length === 1);
    const event = eventOf(receiver.received[0]!) as unknown as Record<string, unknown>;
    expect(event).to.not.have.property('data');
    const { data } = await api.ok<{ data: { id: string } }>('GET', event['dataref'] as string);
    expect(data.id).to.equal(event['id']);
  });
});
