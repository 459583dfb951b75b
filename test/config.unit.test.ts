import { expect } from 'chai';
import { readConfig, secretsOf, weaknesses } from '../src/config.js';
import { OperatorError } from '../src/operator-error.js';

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  throw new Error('the settings were accepted');
}

describe('readConfig', () => {
  it('needs nothing', () => {
    expect(readConfig({})).to.deep.include({
      host: '127.0.0.1',
      port: 8055,
      databaseUrl: null,
      listenDatabaseUrl: null,
      dataDir: './data',
      schema: 'public',
      admin: { email: null, password: null, token: null },
      maxBody: { schema: 33_554_432, other: 1_048_576 },
    });
  });

  it('takes an empty setting for an absent one', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', ADMIN_TOKEN: '' })).to.deep.equal(readConfig({}));
  });

  it('reads sizes and times with units', () => {
    const config = readConfig({ MAX_BODY: '512 kb', LOCK_TIMEOUT: '1500', STATEMENT_TIMEOUT: '2min' });
    expect(config.maxBody).to.deep.equal({ schema: 524_288, other: 524_288 });
    expect([config.lockTimeout, config.statementTimeout]).to.deep.equal([1500, 120_000]);
  });

  for (const [name, value] of [
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['DB_POOL', '0'],
    ['DB_POOL', '1e3'],
    ['DB_SCHEMA', 'pg_temp'],
    ['DB_SCHEMA', 'a"b'],
    ['DB_SCHEMA', 'x'.repeat(64)],
    ['DATABASE_URL', 'localhost:5432/app'],
    ['DATABASE_URL', 'mysql://root@localhost/app'],
    ['LISTEN_DATABASE_URL', 'nowhere'],
    ['ADMIN_EMAIL', 'root'],
    ['ADMIN_TOKEN', 'two words'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['MAX_BODY', '3 apples'],
    ['MAX_BODY', '99gb'],
    ['LOCK_TIMEOUT', '0'],
    ['LOCK_TIMEOUT', '1 constructor'],
    ['STATEMENT_TIMEOUT', 'forever'],
  ] as const) {
    it(`names ${name} when it is "${value.slice(0, 30)}", in one sentence that doesn't repeat the value`, () => {
      const message = refusal({ [name]: value });
      expect(message).to.match(new RegExp(`^The setting ${name} must .*[^.]\\.$`));
      if (value.length > 4) expect(message).not.to.contain(value);
    });
  }

  it('knows which settings are secret and which are weak', () => {
    const config = readConfig({ ADMIN_PASSWORD: 'hunter2', TOKEN_SECRET: 'x', DATABASE_URL: 'postgres://u:p@h/d' });
    expect(secretsOf(config)).to.have.members(['hunter2', 'x', 'postgres://u:p@h/d']);
    expect(weaknesses(config).map((text) => text.split(' ')[2])).to.deep.equal(['ADMIN_PASSWORD', 'TOKEN_SECRET']);
  });
});
