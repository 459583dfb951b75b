import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { Access, Role } from '../../src/features/accounts/caller.js';
import { authorize } from '../../src/http/serve.js';
import { Refused } from '../../src/http/errors.js';

const CALLERS: Readonly<Record<string, Role>> = { a: 'admin', r: 'reader' };

async function answerTo(authorization: string | undefined, access: Access = 'reader'): Promise<unknown> {
  const req = { headers: authorization === undefined ? {} : { authorization } } as IncomingMessage;
  try {
    return await authorize(req, access, async (token) => {
      const role = CALLERS[token];
      return role === undefined ? null : { id: token, name: token, role, credential: CREDENTIAL };
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
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

  it('responds as RFC 6750 requires otherwise', async () => {
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
