/** A real OpenID provider on this machine, whose next ID tokens a test can change. */
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, type JWTPayload, SignJWT, UnsecuredJWT, decodeJwt, exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

export interface Person {
  sub: string;
  [claim: string]: unknown;
}

export interface OpenIdProvider {
  issuer: string;
  /** Registers the service as a client. `url` is the address of the service. */
  register(url: string): Promise<void>;
  /** The person who signs in next; null denies consent. */
  person: Person | null;
  /** Replaces the claims of the next ID tokens; `sign` replaces the signature too. */
  change: ((claims: JWTPayload) => JWTPayload) | null;
  sign: ((claims: JWTPayload) => Promise<string> | string) | null;
  /** Signs with the current key of the provider. */
  signed(claims: JWTPayload, header?: { kid?: string; alg?: string }): Promise<string>;
  /** Replaces the key, as a provider does from time to time. */
  rotateKey(): Promise<void>;
  /** The key of a client secret: `client_secret` of the service. */
  readonly secret: string;
  /**
   * Supports sign-in on another device from the next `register` on. `known`: the provider supports it, but not for this
   * client.
   */
  devices: boolean | 'known';
  /** Lifetime of the next codes for other devices, in seconds. */
  deviceCodeSeconds: number;
  /** The error of the next requests for tokens. */
  tokenError: string | null;
  /** While true, the provider rejects every request with 503. */
  isDown: boolean;
  stop(): Promise<void>;
}

export const CLIENT_ID = 'data-platform';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SECRET = 'a-client-secret-of-sufficient-length';

/** The settings of a service that signs in here, without its roles. */
export const settingsOf = ({ issuer, secret }: Pick<OpenIdProvider, 'issuer' | 'secret'>): Record<string, string> => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT_ID,
  OIDC_CLIENT_SECRET: secret,
});

interface Key {
  kid: string;
  privateKey: CryptoKey;
}

async function newKey(): Promise<Key> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { kid: `key-${Math.random().toString(36).slice(2)}`, privateKey };
}

/** Listens immediately, so that its address is known before the service starts. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let handle: ((req: IncomingMessage, res: ServerResponse) => void) | null = null;
  let key = await newKey();
  let url = '';
  const server: Server = createServer((req, res) => {
    if (provider.isDown || handle === null) {
      res.writeHead(503).end();
      return;
    }
    if (req.url === '/token' && provider.tokenError !== null) {
      const status = provider.tokenError === 'server_error' ? 500 : 400;
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: provider.tokenError }));
      return;
    }
    if (req.url === '/token') changeTokens(res);
    handle(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function start(): Promise<void> {
    const jwk = { ...(await exportJWK(key.privateKey)), kid: key.kid, use: 'sig', alg: 'RS256' };
    const oidc = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: SECRET,
          redirect_uris: [`${url}/auth/oidc/callback`],
          backchannel_logout_uri: `${url}/auth/oidc/logout`,
          backchannel_logout_session_required: true,
          grant_types: ['authorization_code', ...(provider.devices === true ? [DEVICE_GRANT] : [])],
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ['test'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        deviceFlow: { enabled: provider.devices !== false },
      },
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ ...provider.person, sub }),
      }),
      ttl: {
        Session: 600,
        Interaction: 600,
        Grant: 600,
        IdToken: 600,
        AccessToken: 600,
        DeviceCode: () => provider.deviceCodeSeconds,
      },
    });
    const callback = oidc.callback();
    handle = (req, res) => {
      if (!req.url?.startsWith('/interaction/')) return void callback(req, res);
      void finishInteraction(oidc, { req, res, person: provider.person });
    };
  }

  /** The provider writes the response with `end`, once. */
  function changeTokens(res: ServerResponse): void {
    const { change, sign } = provider;
    if (change === null && sign === null) return;
    const end = res.end.bind(res) as (body: string) => ServerResponse;
    res.end = ((body: unknown) => {
      const answer = JSON.parse(String(body)) as { id_token?: string };
      void (async () => {
        if (answer.id_token !== undefined) {
          const claims = (change ?? ((same) => same))(decodeJwt(answer.id_token));
          answer.id_token = await (sign ?? provider.signed)(claims);
        }
        const text = JSON.stringify(answer);
        res.setHeader('content-length', Buffer.byteLength(text));
        end(text);
      })();
      return res;
    }) as typeof res.end;
  }

  const provider: OpenIdProvider = {
    issuer,
    person: null,
    change: null,
    sign: null,
    devices: false,
    deviceCodeSeconds: 600,
    tokenError: null,
    isDown: false,
    secret: SECRET,
    async register(address) {
      url = address;
      await start();
    },
    signed: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header }).sign(key.privateKey),
    async rotateKey() {
      key = await newKey();
      await start();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
}

export const unsecured = (claims: JWTPayload): string => new UnsecuredJWT(claims).encode();

/** Signs in and consents immediately, or denies. */
async function finishInteraction(
  oidc: Provider,
  { req, res, person }: { req: IncomingMessage; res: ServerResponse; person: Person | null },
): Promise<void> {
  if (person === null) {
    await oidc.interactionFinished(req, res, { error: 'access_denied', error_description: 'not now' });
    return;
  }
  const { params, grantId } = await oidc.interactionDetails(req, res);
  const grant =
    (grantId && (await oidc.Grant.find(grantId))) ||
    new oidc.Grant({ accountId: person.sub, clientId: params['client_id'] as string });
  grant.addOIDCScope(params['scope'] as string);
  await oidc.interactionFinished(req, res, {
    login: { accountId: person.sub },
    consent: { grantId: await grant.save() },
  });
}

/** A browser without scripts: follows redirects and keeps cookies by origin. */
export class Browser {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** Sends one request without following its redirect. */
  async request(address: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(address);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', ...value] = pair.split('=');
      if (/max-age=0/i.test(line) || value.join('=') === '') jar.delete(name);
      else jar.set(name, value.join('='));
    }
    return response;
  }

  /** Enters the code of a sign-in on another device, and confirms it as the next person of the provider. */
  async enterCode(page: string, code: string): Promise<void> {
    const form = await (await this.request(page)).text();
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form) ?? [];
    const post = (fields: Record<string, string>): Promise<Response> =>
      this.request(page, { method: 'POST', body: new URLSearchParams({ xsrf, user_code: code, ...fields }) });
    await post({});
    let response = await post({ confirm: 'yes' });
    for (let from = page, to = response.headers.get('location'); to !== null; to = response.headers.get('location')) {
      from = new URL(to, from).href;
      response = await this.request(from);
    }
  }

  /** Follows redirects up to the first address that `stop` accepts, which is not requested. */
  async follow(address: string, stop: (address: URL) => boolean): Promise<URL> {
    let next = new URL(address);
    for (let hops = 0; hops < 20; hops += 1) {
      if (stop(next)) return next;
      const response = await this.request(next.href);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next.href} answered ${response.status}: ${await response.text()}`);
      next = new URL(location, next);
    }
    throw new Error('too many redirects');
  }
}
