import type { Request } from 'express';
import { expect } from 'chai';
import type { Access, Role } from '../../src/features/accounts/caller.js';
import type { RouteAction, RouteCollections } from '../../src/features/accounts/scope.js';
import type { TokenScope } from '../../src/schema/model/token-scope.js';
import { authorize } from '../../src/http/serve.js';
import { RejectedError } from '../../src/http/errors.js';

const CALLERS: Readonly<Record<string, Role>> = { a: 'admin', r: 'reader' };

async function answerTo(
  authorization: string | undefined,
  access: Access = 'reader',
  {
    action = 'read',
    collections = null,
    scope,
  }: { action?: RouteAction; collections?: RouteCollections; scope?: TokenScope } = {},
): Promise<unknown> {
  const headers = authorization === undefined ? {} : { authorization };
  const req = { headers, ip: '10.1.2.3', socket: {} } as Request;
  try {
    return await authorize(req, { access, action, collections }, async (token) => {
      const role = CALLERS[token];
      return role === undefined
        ? null
        : { id: token, name: token, role, credential: { ...CREDENTIAL, ...(scope && { scope }) } };
    });
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    const [problem] = error.problems;
    return [problem?.code, problem?.message, ...error.headers];
  }
}

const CHALLENGE = 'Bearer realm="data-platform-service"';

const CREDENTIAL = { kind: 'token', issuedBy: null } as const;

describe('authorization', () => {
  it('accepts a known token with a sufficient role', async () => {
    expect(await answerTo('Bearer a', 'admin')).to.deep.equal({
      id: 'a',
      name: 'a',
      role: 'admin',
      credential: CREDENTIAL,
    });
    expect(await answerTo('Bearer r')).to.deep.equal({ id: 'r', name: 'r', role: 'reader', credential: CREDENTIAL });
    expect(await answerTo('Bearer r', 'author or auditor')).to.deep.equal([
      'FORBIDDEN',
      'This request requires the role author or auditor, and your role is reader.',
    ]);
  });

  it('rejects a token whose scope lacks the action or the network, and names what is missing', async () => {
    const lacking = (missing: string) => `${CHALLENGE}, error="insufficient_scope", scope="${missing}"`;
    const rejected = async (action: RouteAction, scope: Omit<TokenScope, 'role'>): Promise<unknown> => {
      const answer = await answerTo('Bearer a', 'admin', { action, scope: { role: 'admin', ...scope } });
      return Array.isArray(answer) ? answer.at(-1) : null;
    };
    expect(await rejected('apply', { actions: ['read', 'apply'] })).equal(null);
    expect(await rejected('apply', { actions: ['read', 'propose'] })).equal(lacking('apply'));
    expect(await rejected('apply', { networks: ['10.0.0.0/8', 'fd00::/8'] })).equal(null);
    expect(await rejected('read', { networks: ['10.1.2.4', 'fd00::/8'] })).equal(lacking('networks'));
    expect(await rejected(null, { networks: ['10.1.2.4'] })).equal(lacking('networks'));
    expect(await rejected(null, { actions: ['read'] })).equal(null);
    expect(await rejected('unscoped', { networks: ['10.0.0.0/8'] })).equal(lacking('unscoped'));
  });

  it('rejects a token with collections on a route that does not declare how it limits them', async () => {
    const scope = { role: 'admin', collections: ['shop_*'] };
    const rejected = async (collections: RouteCollections): Promise<unknown> => {
      const answer = await answerTo('Bearer a', 'admin', { collections, scope });
      return Array.isArray(answer) ? answer.at(-1) : null;
    };
    expect(await rejected(null)).equal(`${CHALLENGE}, error="insufficient_scope", scope="collections"`);
    for (const collections of ['none', 'filtered', 'judged'] as const) expect(await rejected(collections)).equal(null);
  });

  it('otherwise responds as RFC 6750 requires', async () => {
    const code = 'UNAUTHENTICATED';
    expect(await answerTo(undefined)).to.deep.equal([
      code,
      'Authentication is required. Send the header Authorization: Bearer with a token.',
      'WWW-Authenticate',
      CHALLENGE,
    ]);
    expect(await answerTo('Basic eDp5')).to.deep.equal([
      code,
      'Authorization must be Bearer and a token.',
      'WWW-Authenticate',
      `${CHALLENGE}, error="invalid_request"`,
    ]);
    expect(await answerTo('Bearer x')).to.deep.equal([
      code,
      'The token is unknown, expired or revoked.',
      'WWW-Authenticate',
      `${CHALLENGE}, error="invalid_token"`,
    ]);
  });
});
