import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCli } from '../../../src/cli/command-line.js';
import { type Client, type Reply, clientOf, json } from '../../support/client.js';
import { expectConsistent } from '../../support/consistent.js';
import { Browser, type OpenIdProvider, settingsOf, startOpenIdProvider } from '../../support/openid-provider.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type TestService, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

const ADA = { sub: 'ada-1815', email: 'ada@example.com', groups: ['authors'] };

interface Started {
  device: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

const messageOf = ({ json: body }: Reply): string =>
  (body as { errors: { message: string }[] }).errors[0]?.message ?? '';

describe('sign-in on another device', () => {
  let provider: OpenIdProvider;
  let service: TestService;
  let send: Client;

  beforeEach(async () => {
    provider = await startOpenIdProvider();
    service = await startService({ ...settingsOf(provider), OIDC_ROLES: '{"groups":{"authors":"author"}}' });
    send = clientOf(service);
    provider.devices = true;
    provider.person = ADA;
    await provider.register(service.url);
  });
  afterEach(async () => {
    await expectConsistent(service.databaseUrl);
    await service.stop();
    await provider.stop();
  });

  const begin = (): Promise<Reply> => send('/auth/oidc/device', { method: 'POST', token: null });
  const started = async (): Promise<Started> => {
    const { status, text, json: body } = await begin();
    expect(status, text).to.equal(200);
    return (body as { data: Started }).data;
  };
  const finish = (device: string): Promise<Reply> =>
    send('/auth/oidc/device/token', { ...json({ device }), token: null });
  const confirm = ({ verification_uri: page, user_code: code }: Started): Promise<void> =>
    new Browser().enterCode(page, code);
  const expectRejected = async (device: string, message: RegExp): Promise<void> => {
    const reply = await finish(device);
    expect([reply.status, reply.codes], reply.text).to.deep.equal([401, ['UNAUTHENTICATED']]);
    expect(messageOf(reply)).to.match(message);
  };

  it('returns a session once the user has confirmed the code, and only once', async () => {
    const sign = await started();
    expect(sign).to.include({ expires_in: 600, interval: 5 });
    expect(sign.verification_uri_complete).to.equal(`${sign.verification_uri}?user_code=${sign.user_code}`);
    const pending = await finish(sign.device);
    expect([pending.status, pending.json]).to.deep.equal([202, { data: { device: sign.device, interval: 5 } }]);
    await confirm(sign);
    const done = await finish(sign.device);
    expect(done.status, done.text).to.equal(200);
    const { access_token: token } = (done.json as { data: { access_token: string } }).data;
    const me = (await send('/users/me', { token })).json as { data: object };
    expect(me.data).to.include({ email: 'ada@example.com', role: 'author' });
    await expectRejected(sign.device, /was used before/);
    expect((await send('/metrics')).text).to.contain('dps_sign_ins_total{kind="device",outcome="done"} 1\n');
  });

  it('logs the command line in, and stores its session', async () => {
    const home = await mkdtemp(join(tmpdir(), 'dps-device-'));
    const environment = { HOME: home, DPS_URL: service.url };
    const messages: string[] = [];
    const note = (text: string): void => {
      messages.push(text);
      const [, page, code] = /^Open (\S+) in a browser on any device, and enter the code (\S+)\.$/.exec(text) ?? [];
      if (page !== undefined && code !== undefined) void new Browser().enterCode(page, code);
    };
    const terminal = { print: () => undefined, note, read: () => Promise.resolve('') };
    try {
      expect(await runCli(['login', '--device'], { environment, terminal }), messages.join('\n')).to.equal(0);
      expect(messages.at(-1)).to.equal(`Logged in to ${service.url} as ada@example.com (author).`);
      const file = join(home, '.config/dps/sessions.json');
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect(await readFile(file, 'utf8')).to.include('access_token');
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('waits longer if the provider asks to slow down', async () => {
    const { device } = await started();
    provider.tokenError = 'slow_down';
    const slower = await finish(device);
    expect(slower.status, slower.text).to.equal(202);
    const { data } = slower.json as { data: Started };
    expect(data.interval).to.equal(10);
    provider.tokenError = null;
    const pending = await finish(data.device);
    expect([pending.status, pending.json]).to.deep.equal([202, { data }]);
  });

  it('can continue after a failure of the provider', async () => {
    const { device } = await started();
    provider.tokenError = 'server_error';
    const failed = await finish(device);
    expect([failed.status, failed.codes], failed.text).to.deep.equal([503, ['UNAVAILABLE']]);
    provider.tokenError = null;
    expect((await finish(device)).status).to.equal(202);
  });

  it('is rejected if the user denies it, if the code has expired, and if the text is not its own', async () => {
    provider.person = null;
    const denied = await started();
    await confirm(denied);
    await expectRejected(denied.device, /You cancelled/);
    provider.deviceCodeSeconds = 1;
    const { device } = await started();
    await until('the code has expired', async () => (await finish(device)).status === 401);
    await expectRejected(device, /has expired/);
    await expectRejected('x', /has expired/);
  });

  it('is rejected without a role, and for the e-mail address of another account', async () => {
    provider.person = { ...ADA, groups: ['guests'] };
    const guest = await started();
    await confirm(guest);
    await expectRejected(guest.device, /no role in this service/);
    await send('/users', json({ email: 'ada@example.com', role: 'reader', password: 'correct horse battery' }));
    provider.person = ADA;
    const other = await started();
    await confirm(other);
    await expectRejected(other.device, /Sign in once in the app/);
  });

  it('is rejected if the provider does not support it, does not allow it, or is down', async () => {
    const { device } = await started();
    provider.isDown = true;
    for (const reply of [await begin(), await finish(device)])
      expect([reply.status, reply.codes], reply.text).to.deep.equal([503, ['UNAVAILABLE']]);
    provider.isDown = false;
    for (const [devices, status, code] of [
      ['known', 409, 'INVALID_STATE'],
      [false, 404, 'NOT_FOUND'],
    ] as const) {
      provider.devices = devices;
      await provider.register(service.url);
      const other = await startService({ ...settingsOf(provider), OIDC_ROLES: '{"groups":{"authors":"author"}}' });
      try {
        const reply = await clientOf(other)('/auth/oidc/device', { method: 'POST', token: null });
        expect([reply.status, reply.codes], reply.text).to.deep.equal([status, [code]]);
      } finally {
        await other.stop();
      }
    }
  });

  it('limits unconfirmed sign-ins from an address', async () => {
    for (let count = 0; count < 20; count += 1) await started();
    // One may still begin from time to time.
    await until('a sign-in is rejected', async () => (await begin()).status === 429);
  });
});

describe('dps login --device', () => {
  let receiver: Receiver;
  let home: string;

  beforeEach(async () => {
    receiver = await startReceiver();
    home = await mkdtemp(join(tmpdir(), 'dps-device-'));
  });
  afterEach(async () => {
    await receiver.stop();
    await rm(home, { recursive: true });
  });

  interface Poll {
    status: number;
    body: object;
  }

  /** @param polls the responses while the command waits; the last one repeats. Null breaks the connection */
  async function logIn(expiresIn: number, polls: (Poll | null)[]): Promise<{ code: number; message: string }> {
    const started = {
      user_code: 'WDJB-MJHT',
      verification_uri: 'https://id.example.com',
      verification_uri_complete: null,
    };
    const known: Record<string, object> = {
      '/auth/providers': { data: { password: false, oidc: { label: 'Example ID' } } },
      '/auth/oidc/device': { data: { ...PENDING.body.data, ...started, expires_in: expiresIn } },
      '/users/me': { data: { email: 'ada@example.com', role: 'author' } },
    };
    receiver.respond = (response, { path }) => {
      const body = known[path];
      const poll = body === undefined ? (polls.length > 1 ? polls.shift() : polls[0]) : { status: 200, body };
      if (poll === null || poll === undefined) response.destroy();
      else response.writeHead(poll.status, { 'content-type': 'application/json' }).end(JSON.stringify(poll.body));
    };
    const messages: string[] = [];
    const terminal = {
      print: () => undefined,
      note: (text: string) => void messages.push(text),
      read: () => Promise.resolve(''),
    };
    const environment = { HOME: home, DPS_URL: new URL(receiver.url).origin };
    const code = await runCli(['login', '--device'], { environment, terminal });
    return { code, message: messages.at(-1) ?? '' };
  }

  const UNAVAILABLE = {
    status: 503,
    body: { errors: [{ message: 'The provider does not respond.', extensions: { code: 'UNAVAILABLE' } }] },
  };
  const PENDING = { status: 202, body: { data: { device: 'x', interval: 0 } } };
  const DONE = { status: 200, body: { data: { access_token: 'a', refresh_token: 'r', expires: 900_000 } } };

  it('continues to poll after a 503 and a lost connection', async () => {
    const { code, message } = await logIn(600, [UNAVAILABLE, null, PENDING, DONE]);
    expect([code, message.replace(/http\S+/, '…')], message).to.deep.equal([
      0,
      'Logged in to … as ada@example.com (author).',
    ]);
  });

  it('reports the last failure when the code has expired', async () => {
    const { code, message } = await logIn(1, [UNAVAILABLE]);
    expect(code).to.equal(2);
    expect(message).to.contain('The provider does not respond.');
  });
});
