/** Routes of /users and of their API tokens, for admins. */
import { z } from 'zod';
import { type Caller, issuerOf, ROLES, USER_STATUSES } from './caller.js';
import { actionsOf, newScope } from './scope.js';
import { NAME_LENGTH, PASSWORD_LENGTH } from './account-rules.js';
import { isStorableTime, TIME_RANGE } from '../../kernel/time.js';
import { type AccountChange, unknownUser } from './users.js';
import { ERASE_USER, erasePerson } from './erase.js';
import { refuse } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { createAccountCommand } from './change-account.js';
import { credentials, findPasswordOwner, PASSWORD_LOGIN_OFF } from './routes-login.js';
import { refused } from '../../http/errors.js';
import { type Answer, jsonAnswer, noContent, unwrap, largeJsonAnswer } from '../../http/answer/answer.js';
import { runRecording } from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { listQueryOf, membersOf, pick, USER_MEMBERS } from '../../http/documents/list.js';
import { readCounts, flag, pageLimit, noQuery } from '../../http/request/query.js';
import { data, page } from '../../http/openapi/answers/envelopes.js';
import * as accounts from './routes-answers.js';
import { type Call, jsonBody, route, type Route } from '../../http/route.js';

const listQuery = listQueryOf(USER_MEMBERS).extend({ limit: pageLimit });
const oneQuery = z.strictObject({ fields: membersOf(USER_MEMBERS).optional() });
const ownQuery = z.strictObject({ fields: membersOf([...USER_MEMBERS, 'access']).optional() });
const eraseQuery = z.strictObject({
  erase: flag.describe('Also erases the personal data of the user from the log. This cannot be undone'),
});

const email = z.email().max(320);
const name = z.string().min(NAME_LENGTH.min).max(NAME_LENGTH.max);
const password = z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max).nullable();

const newUser = z.strictObject({
  email,
  name: name.optional(),
  password: password.optional(),
  invitation: z
    .boolean()
    .optional()
    .describe(
      'The password belongs to an invitation: logins with it are rejected after 7 days, unless the user has chosen another password. Default: false',
    ),
  role: z.enum(ROLES),
  status: z.enum(USER_STATUSES).optional(),
});
const userChanges = newUser.partial();
const ownPassword = z.strictObject({
  password: password.unwrap().describe('The new password'),
  current_password: credentials.shape.password.describe(
    'Protects the account if someone else briefly uses the session',
  ),
});

const newToken = z.strictObject({
  name: name.optional(),
  expires_at: z.iso
    .datetime({ offset: true })
    .refine((text) => isStorableTime(new Date(text)), `must be a time ${TIME_RANGE}`)
    .nullable()
    .optional(),
  scope: newScope
    .nullable()
    .optional()
    .describe('Limits the token. Default: it may do everything that its user may do'),
});

/** These routes are for admins, except /users/me, which is for every user. */
export function userRoutes(deps: HttpDeps): Route[] {
  // The path with `me` must come first, because a path with an id also matches `me`.
  return [
    ...allUsers(deps),
    ownUser(deps),
    ownPasswordRoute(deps),
    ...ownDiagrams(deps),
    ...singleUserRoutes(deps),
    ...tokensOfUser(deps),
  ];
}

/**
 * Common options of these routes. They store no response under an Idempotency-Key, because the request hash would cover
 * a password, and the response contains a token.
 */
const admin = { access: 'admin', action: 'operate', query: noQuery, headers: ['X-Reason'] } as const;

/** Options of routes that create or change credentials. */
const unscoped = { ...admin, action: 'unscoped' } as const;

/** Options of routes that delete users or credentials. */
const personal = { ...admin, action: 'personal' } as const;

/** Commits an account change together with its events. */
function changeAccount<T>(
  { pipeline }: Pick<HttpDeps, 'pipeline'>,
  call: Call<unknown>,
  { command, change, render }: { command: string; change: AccountChange<T>; render: (value: T) => Answer },
): Promise<Answer> {
  return runRecording(call, command, {
    run: (context) => pipeline.apply('record', createAccountCommand(change), context),
    render: ({ command: { value }, position }) => ({ ...render(value), position }),
  });
}

const idOf = ({ params }: Call<unknown>): string => params['id'] ?? '';

/** The route for the user's own account. Every role may use it. */
function ownUser({ auth: { users } }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/users/me',
    operationId: 'getMe',
    summary: 'Retrieve the current user',
    access: 'reader',
    action: null,
    collections: 'none',
    query: ownQuery,
    answers: { 200: data(accounts.currentUser) },
    async handle({ caller, query: { fields } }) {
      const user = { ...unwrap(await users.get(caller.id)), access: accessOf(caller) };
      return jsonAnswer(200, { data: pick(user, fields) });
    },
  });
}

/** Every user may change their own password. Admins change the passwords of others. */
function ownPasswordRoute(deps: HttpDeps): Route {
  const { auth } = deps;
  return route({
    ...unscoped,
    method: 'patch',
    path: '/users/me',
    operationId: 'changeOwnPassword',
    summary: 'Change your own password',
    description:
      'Ends all sessions of the user, including the current one. API tokens stay valid. An admin sets the first password of a user who has none.',
    access: 'reader',
    query: noQuery,
    body: jsonBody(ownPassword, {
      example: { password: 'correct horse battery', current_password: 'chosen by an admin' },
    }),
    answers: { 200: data(accounts.user) },
    errors: ['INVALID_STATE', 'TOO_MANY_REQUESTS'],
    async handle(call) {
      const { req, caller, body } = call;
      if (!auth.passwordLogin) throw refused('FORBIDDEN', PASSWORD_LOGIN_OFF);
      const { email } = unwrap(await auth.users.get(caller.id));
      // An admin may reset the password or suspend the user after the check. The transaction compares the hash again.
      const formerHash = await auth.users.readPasswordHash(caller.id);
      const owner = await findPasswordOwner(auth, req, { email, password: body.current_password });
      if (owner?.id !== caller.id)
        throw refused('INVALID_PAYLOAD', 'The current password is wrong.', { path: 'current_password' });
      if (body.password === body.current_password)
        throw refused('INVALID_PAYLOAD', 'The new password must differ from the current one.', { path: 'password' });
      return changeAccount(deps, call, {
        command: 'update-user',
        change: await auth.users.update(caller.id, { password: body.password, passwordSetBy: null, formerHash }),
        render: (user) => jsonAnswer(200, { data: user }),
      });
    },
  });
}

/** Every user may arrange their own diagrams. Tokens with a scope may not, because diagrams name collections. */
function ownDiagrams({ auth: { diagrams } }: HttpDeps): Route[] {
  const own = { path: '/users/me/diagrams', access: 'reader', action: 'unscoped', query: noQuery } as const;
  return [
    route({
      ...own,
      method: 'get',
      operationId: 'listDiagrams',
      summary: 'List your arrangements of the diagram in the admin app',
      answers: { 200: data(z.array(accounts.diagram)) },
      async handle({ caller }) {
        return largeJsonAnswer({ data: await diagrams.list(caller.id) });
      },
    }),
    route({
      ...own,
      method: 'put',
      operationId: 'saveDiagram',
      summary: 'Save your arrangement of one view of the diagram. Without places, the view is arranged automatically',
      headers: [],
      body: jsonBody(accounts.diagram, {
        example: { depth: 'keys', folder: null, places: [{ collection: 'articles', x: 0, y: 120 }] },
      }),
      answers: { 200: data(accounts.diagram) },
      errors: ['INVALID_STATE'],
      async handle({ caller, body }) {
        return largeJsonAnswer({ data: unwrap(await diagrams.save(caller.id, body)) });
      },
    }),
  ];
}

function accessOf(caller: Caller): z.infer<typeof accounts.currentUser>['access'] {
  const { role, credential } = caller;
  const { kind, expiresAt, scope, rule } = credential;
  return {
    credential: kind,
    role,
    actions: actionsOf(caller),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    scope: (scope as z.infer<typeof accounts.token>['scope'] | undefined) ?? null,
    rule: rule ?? null,
  };
}

function allUsers(deps: HttpDeps): Route[] {
  const { users } = deps.auth;
  const path = '/users';
  return [
    route({
      method: 'get',
      path,
      operationId: 'listUsers',
      summary: 'List users',
      access: 'admin',
      query: listQuery,
      answers: { 200: page(accounts.user) },
      async handle({ query: { offset, limit, meta, fields } }) {
        const picked = (await users.list({ offset, limit })).map((user) => pick(user, fields));
        const counts = await readCounts(meta, { total_count: () => users.count(), filter_count: () => users.count() });
        return largeJsonAnswer({ data: picked, ...counts });
      },
    }),
    route({
      ...unscoped,
      query: oneQuery,
      method: 'post',
      path,
      operationId: 'createUser',
      summary: 'Create a user',
      body: jsonBody(newUser, {
        example: { email: 'ada@example.com', name: 'Ada', role: 'auditor', password: 'correct horse battery' },
      }),
      answers: { 200: data(accounts.user) },
      errors: ['ALREADY_EXISTS'],
      async handle(call) {
        const { body, caller, query } = call;
        const input = { ...body, passwordSetBy: caller.credential.issuedBy ?? caller.id };
        return changeAccount(deps, call, {
          command: 'create-user',
          change: await users.create(input),
          render: (user) => jsonAnswer(200, { data: pick(user, query.fields) }),
        });
      },
    }),
  ];
}

function singleUserRoutes(deps: HttpDeps): Route[] {
  const { users } = deps.auth;
  const path = '/users/:id';
  return [
    route({
      ...admin,
      query: oneQuery,
      method: 'get',
      path,
      operationId: 'getUser',
      summary: 'Retrieve a user',
      answers: { 200: data(accounts.user) },
      async handle(call) {
        return jsonAnswer(200, { data: pick(unwrap(await users.get(idOf(call))), call.query.fields) });
      },
    }),
    route({
      ...unscoped,
      query: oneQuery,
      method: 'patch',
      path,
      operationId: 'updateUser',
      summary: 'Update a user',
      body: jsonBody(userChanges, { example: { status: 'suspended' } }),
      answers: { 200: data(accounts.user) },
      errors: ['ALREADY_EXISTS', 'IN_USE'],
      async handle(call) {
        const changes = { ...call.body, passwordSetBy: passwordSetBy(call) };
        return changeAccount(deps, call, {
          command: 'update-user',
          change: await users.update(idOf(call), changes),
          render: (user) => jsonAnswer(200, { data: pick(user, call.query.fields) }),
        });
      },
    }),
    route({
      ...personal,
      query: eraseQuery,
      method: 'delete',
      path,
      operationId: 'deleteUser',
      summary: 'Delete a user with its API tokens and sessions, and optionally erase its personal data from the log',
      description:
        'With `erase`, the response is 200 and describes what was erased. The user may already be deleted. The "Privacy" page of the documentation lists the data that remains.',
      answers: { 200: data(accounts.erasure), 204: null },
      errors: ['IN_USE'],
      handle(call) {
        if (call.query.erase === true) return erase(deps, call);
        return changeAccount(deps, call, {
          command: 'delete-user',
          change: users.remove(idOf(call)),
          render: () => noContent(),
        });
      },
    }),
  ];
}

async function erase({ pool, pipeline, auth: { users } }: HttpDeps, call: Call<unknown>): Promise<Answer> {
  const id = idOf(call).toLowerCase();
  if (!isUuid(id)) return unwrap(refuse(unknownUser(idOf(call))));
  return runRecording(call, ERASE_USER, {
    run: (context) => erasePerson({ pool, pipeline, users }, { id }, context),
    render: ({ command: { value }, position }) => ({ ...jsonAnswer(200, { data: value }), position }),
  });
}

/**
 * Returns the id of another user who sets the password, or null. A user who signed in with a password set by another
 * user confirms the account by choosing a new one.
 */
function passwordSetBy(call: Call<unknown>): string | null {
  const { id, credential } = call.caller;
  const isOwn = id === idOf(call).toLowerCase();
  return isOwn && credential.kind === 'password' ? null : issuerOf(call.caller, idOf(call));
}

function tokensOfUser(deps: HttpDeps): Route[] {
  const { tokens } = deps.auth;
  const path = '/users/:id/tokens';
  return [
    route({
      ...admin,
      method: 'get',
      path,
      operationId: 'listTokens',
      summary: 'List the API tokens of a user',
      answers: { 200: data(z.array(accounts.token)) },
      async handle(call) {
        return jsonAnswer(200, { data: unwrap(await tokens.list(idOf(call))) });
      },
    }),
    route({
      ...unscoped,
      method: 'post',
      path,
      operationId: 'createToken',
      summary: 'Create an API token. Only this response contains it',
      body: jsonBody(newToken, {
        example: { name: 'deployment', expires_at: '2030-01-01T00:00:00Z', scope: { actions: ['read', 'propose'] } },
      }),
      answers: { 200: data(accounts.newToken) },
      handle(call) {
        const input = { ...call.body, issuedBy: issuerOf(call.caller, idOf(call)) };
        return changeAccount(deps, call, {
          command: 'create-token',
          change: tokens.create(idOf(call), input),
          render: (token) => jsonAnswer(200, { data: token }),
        });
      },
    }),
    route({
      ...personal,
      method: 'delete',
      path: '/users/:id/tokens/:token',
      operationId: 'revokeToken',
      summary: 'Revoke an API token',
      answers: { 204: null },
      handle(call) {
        return changeAccount(deps, call, {
          command: 'revoke-token',
          change: tokens.revoke(idOf(call), call.params['token'] ?? ''),
          render: () => noContent(),
        });
      },
    }),
  ];
}
