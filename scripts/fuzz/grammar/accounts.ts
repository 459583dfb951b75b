/** /auth, /users, /webhooks, /environments, /mcp and /server */
import { json } from '../world.js';
import { at, type Context, maybe, type Rules } from './context.js';

const ROLES = ['admin', 'auditor', 'author', 'reader', 'owner'];
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const AUTH: Rules = {
  'POST /auth/login': {
    weight: 0.3,
    make({ random, admin }) {
      const wrong = random.chance(0.3);
      const value = wrong
        ? { email: `x${random.below(1_000)}@example.com`, password: 'wrong, and long enough' }
        : admin;
      return {
        path: '/auth/login',
        body: json({ ...value, ...(random.chance(0.2) && { mode: 'json' }) }),
        caller: 'nobody',
      };
    },
  },
  'POST /auth/refresh': {
    weight: 0.5,
    make: (context) => ({
      path: '/auth/refresh',
      body: json({ refresh_token: refreshToken(context) }),
      caller: 'nobody',
    }),
  },
  'POST /auth/logout': {
    weight: 0.5,
    make: (context) => ({
      path: '/auth/logout',
      body: json({ refresh_token: refreshToken(context) }),
      caller: 'nobody',
    }),
  },
};

const refreshToken = ({ random, world }: Context): string => random.some(world.refreshTokens) ?? 'no such token';

const userId = ({ random, world }: Context): string => random.some(world.users) ?? UNKNOWN;

function newUser({ random }: Context): object {
  return {
    email: `user${random.below(40)}@example.com`,
    role: random.pick(ROLES),
    ...(random.chance(0.5) && { name: "O'Neil" }),
    ...(random.chance(0.3) && { status: random.pick(['active', 'suspended', 'gone']) }),
  };
}

const EXPIRIES = [
  '2099-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '2000-01-01T00:00:00Z',
  null,
];

const SCOPES: readonly (object | null)[] = [
  null,
  null,
  null,
  { actions: ['read', 'propose'] },
  { networks: ['127.0.0.0/8', '::1'] },
  { collections: ['c*', 'shop_*'] },
  { actions: ['read', 'apply'], collections: ['*'] },
  { collections: [''] },
  { actions: [] },
  {},
];

const USERS: Rules = {
  'GET /users': {
    weight: 0.5,
    make: ({ random }) => ({
      path: '/users',
      query: maybe(random, { limit: [0.5, () => '5'], fields: [0.3, () => 'id,email'] }),
    }),
  },
  'POST /users': { weight: 0.7, make: (context) => ({ path: '/users', body: json(newUser(context)) }) },
  'GET /users/me': { weight: 0.3, make: () => ({ path: '/users/me' }) },
  'PATCH /users/me': {
    weight: 0.2,
    make({ random, admin: { password } }) {
      // Never succeeds, because the fuzzer continues to use the password.
      const current = random.chance(0.2) ? 'wrong, and long enough' : password;
      return {
        path: '/users/me',
        body: json({ password: random.chance(0.5) ? password : 'short', current_password: current }),
      };
    },
  },
  'GET /users/me/diagrams': { weight: 0.2, make: () => ({ path: '/users/me/diagrams' }) },
  'PUT /users/me/diagrams': {
    weight: 0.2,
    make: ({ random }) => ({
      path: '/users/me/diagrams',
      body: json({
        depth: random.pick(['names', 'keys', 'columns', 'all']),
        folder: random.pick([null, 'shop', '\u0000', '']),
        places: random.pick([[], [{ collection: '__proto__', x: 0.5, y: -3 }], [{ collection: 'a', x: 1e9, y: 0 }]]),
      }),
    }),
  },
  'GET /users/{id}': { weight: 0.5, make: (context) => ({ path: at`/users/${userId(context)}` }) },
  'PATCH /users/{id}': {
    weight: 0.7,
    make: (context) => ({ path: at`/users/${userId(context)}`, body: json({ ...newUser(context), role: 'reader' }) }),
  },
  'DELETE /users/{id}': { weight: 0.3, make: (context) => ({ path: at`/users/${userId(context)}` }) },
  'GET /users/{id}/tokens': { weight: 0.3, make: (context) => ({ path: at`/users/${userId(context)}/tokens` }) },
  'POST /users/{id}/tokens': {
    weight: 0.7,
    make: (context) => ({
      path: at`/users/${userId(context)}/tokens`,
      body: json({
        name: 'a token',
        expires_at: context.random.pick(EXPIRIES),
        scope: context.random.pick(SCOPES),
      }),
    }),
  },
  'DELETE /users/{id}/tokens/{token}': {
    weight: 0.4,
    make(context) {
      const { user, token } = context.random.some(context.world.tokens) ?? { user: UNKNOWN, token: UNKNOWN };
      return { path: at`/users/${user}/tokens/${token}` };
    },
  },
  'DELETE /users/{id}/sessions': {
    weight: 0.2,
    make: (context) => ({ path: at`/users/${userId(context)}/sessions` }),
  },
  'GET /sessions': {
    weight: 0.3,
    make: (context) => ({
      path: '/sessions',
      query: maybe(context.random, {
        user: [0.4, () => userId(context)],
        limit: [0.3, () => '3'],
        meta: [0.2, () => '*'],
      }),
    }),
  },
  'DELETE /sessions/{id}': {
    weight: 0.2,
    make: (context) => ({ path: at`/sessions/${refreshToken(context).split('.')[0] ?? UNKNOWN}` }),
  },
};

/** The fuzzed service has no OpenID provider, so these requests are rejected. */
const OIDC: Rules = {
  'GET /auth/providers': { weight: 0.1, make: () => ({ path: '/auth/providers', caller: 'nobody' }) },
  'GET /auth/oidc/login': {
    weight: 0.1,
    make: ({ random }) => ({
      path: '/auth/oidc/login',
      query: maybe(random, {
        to: [0.5, () => random.pick(['/app', '/app/timeline', '//receiver.invalid', 'x'])],
        port: [0.3, () => random.pick(['1', '51234', '0', 'x'])],
      }),
      caller: 'nobody',
    }),
  },
  'GET /auth/oidc/callback': {
    weight: 0.1,
    make: ({ random }) => ({
      path: '/auth/oidc/callback',
      query: maybe(random, { code: [0.7, () => 'x'], state: [0.7, () => 'y'], iss: [0.2, () => 'z'] }),
      caller: 'nobody',
    }),
  },
  'POST /auth/oidc/token': {
    weight: 0.1,
    make: () => ({ path: '/auth/oidc/token', body: json({ code: 'x', verifier: 'y'.repeat(43) }), caller: 'nobody' }),
  },
  'POST /auth/oidc/device': {
    weight: 0.1,
    make: () => ({ path: '/auth/oidc/device', caller: 'nobody' }),
  },
  'POST /auth/oidc/device/token': {
    weight: 0.1,
    make: () => ({ path: '/auth/oidc/device/token', body: json({ device: 'x' }), caller: 'nobody' }),
  },
  'POST /auth/oidc/logout': {
    weight: 0.1,
    make: () => ({ path: '/auth/oidc/logout', body: json({ logout_token: 'x' }), caller: 'nobody' }),
  },
  'POST /auth/oidc/link': {
    weight: 0.1,
    make: ({ admin }) => ({ path: '/auth/oidc/link', body: json(admin), caller: 'nobody' }),
  },
  'GET /users/{id}/identities': {
    weight: 0.1,
    make: (context) => ({ path: at`/users/${userId(context)}/identities` }),
  },
  'DELETE /users/{id}/identities/{identity}': {
    weight: 0.1,
    make: (context) => ({ path: at`/users/${userId(context)}/identities/${UNKNOWN}` }),
  },
};

/** No issuer resolves, so no ID token is accepted. Nothing leaves the machine. */
const newRule = ({ random, world }: Context): object => ({
  name: `rule ${random.below(5)}`,
  issuer: random.pick(['https://issuer.invalid', 'https://issuer.invalid/a', 'http://issuer.invalid', 'no address']),
  audience: random.pick(['dps', 'https://dps.example.com', '']),
  claims: random.pick<object>([{ sub: 'repo:a/b:*' }, { sub: 'x', protected: 'true' }, { sub: '*' }, {}]),
  scope: random.pick<object>([{ role: 'reader', actions: ['read'] }, { role: 'admin', actions: ['apply'] }, {}]),
  ...(random.chance(0.3) && { user: random.some(world.users) ?? UNKNOWN }),
  ...(random.chance(0.3) && { minutes: random.pick([1, 60, 61]) }),
});

/** Unsigned: `{"alg":"none"}` and `{"iss":"https://issuer.invalid"}`. */
const ID_TOKEN = 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5pbnZhbGlkIn0.';

const TRUST: Rules = {
  'GET /auth/trust': {
    weight: 0.1,
    make: ({ random }) => ({
      path: '/auth/trust',
      query: maybe(random, { at: [0.3, () => random.pick(['1', 'now'])] }),
    }),
  },
  'PUT /auth/trust': {
    weight: 0.2,
    make: (context) => ({
      path: '/auth/trust',
      body: json({ rules: Array.from({ length: context.random.below(3) }, () => newRule(context)) }),
    }),
  },
  'POST /auth/exchange': {
    weight: 0.1,
    make: ({ random }) => ({
      path: '/auth/exchange',
      body: json({ token: random.pick([ID_TOKEN, 'x', '']) }),
      caller: 'nobody',
    }),
  },
};

/** The name of the receiver never resolves, so nothing leaves the machine. */
const newWebhook = ({ random }: Context): object => ({
  name: `hook ${random.below(20)}`,
  url: random.pick(['https://receiver.invalid/', 'http://receiver.invalid', 'https://10.0.0.1/', 'no address']),
  ...(random.chance(0.5) && { types: random.pick([['*'], ['collection.*', 'field.created'], ['nothing'], []]) }),
  ...(random.chance(0.5) && { collections: random.pick([null, ['a*'], ["it's", '%_\\']]) }),
  ...(random.chance(0.3) && { format: random.pick(['slack', 'teams', 'cloudevents', 'xml']) }),
});

/** Rules see no responses, so most requests name a webhook that does not exist. */
const WEBHOOKS: Rules = {
  'GET /webhooks': { weight: 0.2, make: () => ({ path: '/webhooks' }) },
  'POST /webhooks': { weight: 0.4, make: (context) => ({ path: '/webhooks', body: json(newWebhook(context)) }) },
  'GET /webhooks/{id}': { weight: 0.1, make: () => ({ path: `/webhooks/${UNKNOWN}` }) },
  'PATCH /webhooks/{id}': {
    weight: 0.1,
    make: (context) => ({ path: `/webhooks/${UNKNOWN}`, body: json(newWebhook(context)) }),
  },
  'DELETE /webhooks/{id}': { weight: 0.1, make: () => ({ path: `/webhooks/${UNKNOWN}` }) },
  'GET /webhooks/{id}/deliveries': { weight: 0.1, make: () => ({ path: `/webhooks/${UNKNOWN}/deliveries` }) },
  'POST /webhooks/{id}/secret': { weight: 0.1, make: () => ({ path: `/webhooks/${UNKNOWN}/secret` }) },
  'POST /webhooks/{id}/test': { weight: 0.1, make: () => ({ path: `/webhooks/${UNKNOWN}/test` }) },
  'POST /webhooks/{id}/replay': {
    weight: 0.1,
    make: ({ random }) => ({ path: `/webhooks/${UNKNOWN}/replay`, body: json({ position: random.below(3) }) }),
  },
};

/** The name of the environment never resolves, so nothing leaves the machine. */
const newEnvironment = ({ random }: Context): object => ({
  name: `environment ${random.below(20)}`,
  url: random.pick(['https://staging.invalid', 'http://staging.invalid/', 'https://10.0.0.1', 'https://u:p@a', 'none']),
  ...(random.chance(0.8) && { token: random.pick(['token', 'a token', '', 'é']) }),
  ...(random.chance(0.2) && { base: random.pick([null, 0, 1, 2 ** 40]) }),
});

const ENVIRONMENTS: Rules = {
  'GET /environments': { weight: 0.2, make: () => ({ path: '/environments' }) },
  'POST /environments': {
    weight: 0.4,
    make: (context) => ({ path: '/environments', body: json(newEnvironment(context)) }),
  },
  'GET /environments/{id}': { weight: 0.1, make: () => ({ path: `/environments/${UNKNOWN}` }) },
  'PATCH /environments/{id}': {
    weight: 0.1,
    make: (context) => ({ path: `/environments/${UNKNOWN}`, body: json(newEnvironment(context)) }),
  },
  'DELETE /environments/{id}': { weight: 0.1, make: () => ({ path: `/environments/${UNKNOWN}` }) },
  'POST /environments/{id}/test': { weight: 0.1, make: () => ({ path: `/environments/${UNKNOWN}/test` }) },
  'POST /environments/{id}/merge': {
    weight: 0.1,
    make: ({ random }) => ({
      path: `/environments/${UNKNOWN}/merge`,
      body: json(random.pick([{}, { resolve: [] }, { resolve: 1 }])),
    }),
  },
};

const AGENT_CALLS = [
  { name: 'list_collections', arguments: { limit: 5 } },
  { name: 'search', arguments: { text: 'a' } },
  { name: 'blame', arguments: { collection: 'a' } },
  { name: 'plan_change', arguments: { change: { collections: [{ collection: 'planned', schema: {} }] } } },
  { name: 'none', arguments: {} },
];

const AGENTS: Rules = {
  'POST /mcp': {
    weight: 0.3,
    make: ({ random }) => ({
      path: '/mcp',
      body: json(
        random.chance(0.2)
          ? { jsonrpc: '2.0', id: 1, method: random.pick(['ping', 'tools/list', 'tools/none']) }
          : { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: random.pick(AGENT_CALLS) },
      ),
    }),
  },
};

const SERVER: Rules = {
  'GET /server/ping': { weight: 0.2, make: () => ({ path: '/server/ping', caller: 'nobody' }) },
  'GET /server/live': { weight: 0.1, make: () => ({ path: '/server/live', caller: 'nobody' }) },
  'GET /server/ready': { weight: 0.1, make: () => ({ path: '/server/ready', caller: 'nobody' }) },
  'GET /server/health': { weight: 0.3, make: () => ({ path: '/server/health', caller: 'nobody' }) },
  'GET /server/doctor': { weight: 0.05, make: () => ({ path: '/server/doctor' }) },
  'GET /server/info': { weight: 0.5, make: () => ({ path: '/server/info' }) },
  'GET /server/openapi.json': { weight: 0.2, make: () => ({ path: '/server/openapi.json' }) },
  'GET /server/specs/oas': { weight: 0.2, make: () => ({ path: '/server/specs/oas' }) },
  'GET /docs': { weight: 0.1, make: () => ({ path: '/docs', caller: 'nobody' }) },
  'GET /metrics': { weight: 0.3, make: () => ({ path: '/metrics' }) },
};

export const ACCOUNTS_AND_SERVER: Rules = {
  ...AUTH,
  ...OIDC,
  ...TRUST,
  ...USERS,
  ...WEBHOOKS,
  ...ENVIRONMENTS,
  ...AGENTS,
  ...SERVER,
};
