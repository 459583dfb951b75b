/** /users and their tokens (admins). */
import { z } from 'zod';
import { issuerOf } from '../../auth/caller.js';
import { newToken, newUser, userChanges } from '../account-bodies.js';
import { jsonAnswer, noContent, unwrap } from '../answer/answer.js';
import { readShape } from '../body/shape.js';
import type { HttpDeps } from '../deps.js';
import { listQueryOf } from '../documents/list.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { membersOf, pick, USER_MEMBERS } from '../documents/shown-members.js';
import { countsIn, pageLimit, noQuery } from '../request/query.js';
import { type Call, route, type Route } from '../route.js';

const listQuery = listQueryOf(USER_MEMBERS).extend({ limit: pageLimit });
const oneQuery = z.strictObject({ fields: membersOf(USER_MEMBERS).optional() });

/** For admins, but for one's own at /users/me. */
export function userRoutes(deps: HttpDeps): Route[] {
  // `me` is no id: its path is asked first.
  return [...allUsers(deps), ownUser(deps), ...oneUser(deps), ...tokensOfUser(deps)];
}

/** What all of these routes have in common. */
const admin = { access: 'admin', query: noQuery, heeds: [] } as const;

const idOf = ({ params }: Call<unknown>): string => params['id'] ?? '';

/** The caller as a user, whatever its role. */
function ownUser({ auth: { users } }: HttpDeps): Route {
  return route({
    method: 'get',
    path: '/users/me',
    access: 'reader',
    query: oneQuery,
    async handle({ caller, query: { fields } }) {
      return jsonAnswer(200, { data: pick(unwrap(await users.get(caller.id)), fields) });
    },
  });
}

function allUsers({ auth: { users } }: HttpDeps): Route[] {
  const path = '/users';
  return [
    route({
      method: 'get',
      path,
      access: 'admin',
      query: listQuery,
      async handle({ query: { offset, limit, meta, fields } }) {
        const data = (await users.list({ offset, limit })).map((user) => pick(user, fields));
        const counts = await countsIn(meta, { total_count: () => users.count(), filter_count: () => users.count() });
        return largeJsonAnswer({ data, ...counts });
      },
    }),
    route({
      ...admin,
      query: oneQuery,
      method: 'post',
      path,
      body: 'json',
      async handle({ body, caller, query: { fields } }) {
        const asked = { ...readShape(newUser, body), passwordSetBy: caller.credential.issuedBy ?? caller.id };
        return jsonAnswer(200, { data: pick(unwrap(await users.create(asked)), fields) });
      },
    }),
  ];
}

function oneUser({ auth: { users } }: HttpDeps): Route[] {
  const path = '/users/:id';
  return [
    route({
      ...admin,
      query: oneQuery,
      method: 'get',
      path,
      async handle(call) {
        return jsonAnswer(200, { data: pick(unwrap(await users.get(idOf(call))), call.query.fields) });
      },
    }),
    route({
      ...admin,
      query: oneQuery,
      method: 'patch',
      path,
      body: 'json',
      async handle(call) {
        const changes = { ...readShape(userChanges, call.body), passwordSetBy: passwordSetBy(call) };
        const user = unwrap(await users.update(idOf(call), changes));
        return jsonAnswer(200, { data: pick(user, call.query.fields) });
      },
    }),
    route({
      ...admin,
      method: 'delete',
      path,
      async handle(call) {
        unwrap(await users.remove(idOf(call)));
        return noContent();
      },
    }),
  ];
}

/** A user who signed in with a password that somebody else set confirms the account by choosing another one. */
function passwordSetBy(call: Call<unknown>): string | null {
  const { id, credential } = call.caller;
  const isOwn = id === idOf(call).toLowerCase();
  return isOwn && credential.kind === 'password' ? null : issuerOf(call.caller, idOf(call));
}

function tokensOfUser({ auth: { tokens } }: HttpDeps): Route[] {
  const path = '/users/:id/tokens';
  return [
    route({
      ...admin,
      method: 'get',
      path,
      async handle(call) {
        return jsonAnswer(200, { data: unwrap(await tokens.list(idOf(call))) });
      },
    }),
    route({
      ...admin,
      method: 'post',
      path,
      body: 'json',
      async handle(call) {
        const asked = { ...readShape(newToken, call.body), issuedBy: issuerOf(call.caller, idOf(call)) };
        return jsonAnswer(200, { data: unwrap(await tokens.create(idOf(call), asked)) });
      },
    }),
    route({
      ...admin,
      method: 'delete',
      path: '/users/:id/tokens/:token',
      async handle(call) {
        unwrap(await tokens.revoke(idOf(call), call.params['token'] ?? ''));
        return noContent();
      },
    }),
  ];
}
