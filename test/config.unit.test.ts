import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRETS, readConfig, secretsOf } from '../src/config.js';
import { OperatorError } from '../src/kernel/problem.js';
import { blocksOf } from './support/documents.js';

function rejectionOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  throw new Error('the settings were accepted');
}

const OIDC = {
  OIDC_ISSUER: 'https://id.example',
  OIDC_CLIENT_ID: 'dps',
  OIDC_ROLES: '{"groups":{"team":"admin"}}',
};

describe('readConfig', () => {
  it('returns the defaults if no setting is set', () => {
    expect(readConfig({ LOG_FORMAT: 'json' })).to.deep.equal({
      host: '127.0.0.1',
      port: 8055,
      databaseUrl: null,
      directDatabaseUrl: null,
      databasePooler: null,
      proveDatabaseUrl: null,
      dataDir: './data',
      schema: 'public',
      schemas: ['public'],
      serviceSchema: 'service',
      objects: false,
      objectsOwner: null,
      samples: true,
      poolSize: 10,
      admin: { email: null, password: null, token: null },
      tokenSecret: null,
      oidc: null,
      passwordLogin: true,
      trustProxy: 0,
      corsOrigins: [],
      app: true,
      log: { level: 'info', format: 'json' },
      maxBody: { schema: 33_554_432, other: 1_048_576 },
      quotas: { requests: 200, streams: 50, changes: 200 },
      lockTimeout: 10_000,
      lockWait: 200,
      statementTimeout: 600_000,
      keep: { deleted: 604_800_000, copyRows: 100_000 },
      pace: { rate: null, maxLag: 10_000 },
      primaryUrl: null,
      positionTimeout: 5_000,
      verifyEvery: 0,
      checkpoints: { to: null, every: { events: 100, time: 600_000 }, keyFile: null, standbys: null },
      webhookNetworks: [],
      notifyPostgrest: false,
      traces: { endpoint: null, headers: {} },
      onLogDivergence: 'refuse',
    });
  });

  it('returns the value of each setting that is set', () => {
    const taken = readConfig({
      HOST: '::',
      PORT: '65535',
      DATABASE_URL: 'postgres://u:p@pooler/d',
      DIRECT_DATABASE_URL: 'postgres://u:p@server/d',
      DB_POOLER: 'transaction',
      PROVE_DATABASE_URL: 'postgres://u:p@other/postgres',
      DATA_DIR: '/data',
      DB_SCHEMA: 'shop',
      SERVICE_SCHEMA: 'dps',
      OBJECTS: 'on',
      OBJECTS_OWNER: 'app owner',
      SAMPLES: 'off',
      DB_POOL: '500',
      ADMIN_EMAIL: 'a@example.com',
      ADMIN_PASSWORD: 'a long password',
      ADMIN_TOKEN: 't'.repeat(32),
      TOKEN_SECRET: 's'.repeat(32),
      OIDC_ISSUER: 'https://id.example/realm',
      OIDC_CLIENT_ID: 'dps',
      OIDC_CLIENT_SECRET: 'o',
      OIDC_SCOPES: 'openid groups',
      OIDC_ROLES: '{"groups":{"a b":"auditor"}}',
      OIDC_LABEL: 'Example ID',
      PASSWORD_LOGIN: 'off',
      TRUST_PROXY: '1',
      CORS_ORIGINS: 'https://a.example',
      APP: 'off',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'pretty',
      MAX_BODY: '1gb',
      REQUESTS_PER_USER: '10',
      STREAMS_PER_USER: '11',
      CHANGES_PER_USER: '12',
      LOCK_TIMEOUT: '1s',
      LOCK_WAIT: '2s',
      STATEMENT_TIMEOUT: '3s',
      KEEP_DELETED: '4s',
      KEEP_COPY_ROWS: '5',
      ONLINE_ROWS_PER_SECOND: '6',
      ONLINE_MAX_LAG: '7s',
      PRIMARY_URL: 'https://primary.example',
      POSITION_TIMEOUT: '8s',
      VERIFY_EVERY: '1h',
      CHECKPOINT_TO: '/checkpoints',
      CHECKPOINT_EVERY: '9',
      CHECKPOINT_KEY_FILE: '/key',
      CHECKPOINT_WAIT_FOR_STANDBYS: '0',
      WEBHOOK_PRIVATE_NETWORKS: '10.0.0.0/8, ::1',
      NOTIFY_POSTGREST: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret, tenant=blue',
      ON_LOG_DIVERGENCE: 'continue',
    });
    expect(taken).to.deep.equal({
      host: '::',
      port: 65_535,
      databaseUrl: 'postgres://u:p@pooler/d',
      directDatabaseUrl: 'postgres://u:p@server/d',
      databasePooler: 'transaction',
      proveDatabaseUrl: 'postgres://u:p@other/postgres',
      dataDir: '/data',
      schema: 'shop',
      schemas: ['shop'],
      serviceSchema: 'dps',
      objects: true,
      objectsOwner: 'app owner',
      samples: false,
      poolSize: 500,
      admin: { email: 'a@example.com', password: 'a long password', token: 't'.repeat(32) },
      tokenSecret: 's'.repeat(32),
      oidc: {
        issuer: 'https://id.example/realm',
        clientId: 'dps',
        clientSecret: 'o',
        scopes: 'openid groups',
        roles: { groups: { 'a b': 'auditor' } },
        label: 'Example ID',
      },
      passwordLogin: false,
      trustProxy: 1,
      corsOrigins: ['https://a.example'],
      app: false,
      log: { level: 'debug', format: 'pretty' },
      maxBody: { schema: 1_073_741_824, other: 1_048_576 },
      quotas: { requests: 10, streams: 11, changes: 12 },
      lockTimeout: 1_000,
      lockWait: 2_000,
      statementTimeout: 3_000,
      keep: { deleted: 4_000, copyRows: 5 },
      pace: { rate: 6, maxLag: 7_000 },
      primaryUrl: 'https://primary.example',
      positionTimeout: 8_000,
      verifyEvery: 3_600_000,
      checkpoints: { to: '/checkpoints', every: { events: 9, time: Infinity }, keyFile: '/key', standbys: 0 },
      webhookNetworks: ['10.0.0.0/8', '::1'],
      notifyPostgrest: true,
      traces: {
        endpoint: 'https://collector.example.com:4318',
        headers: { 'api-key': 'a secret', tenant: 'blue' },
      },
      onLogDivergence: 'continue',
    });
  });

  it('names the allowed members of a list in the error', () => {
    for (const [name, members] of Object.entries({
      DB_POOLER: 'none or transaction',
      APP: 'on or off',
      OBJECTS: 'on or off',
      NOTIFY_POSTGREST: 'on or off',
      SAMPLES: 'on or off',
      LOG_LEVEL: 'error, warn, info or debug',
      LOG_FORMAT: 'json or pretty',
      ON_LOG_DIVERGENCE: 'refuse or continue',
    })) {
      expect(rejectionOf({ [name]: 'other' })).to.equal(`The setting ${name} must be ${members}.`);
      for (const member of members.split(/, | or /)) readConfig({ DATABASE_URL: 'postgres://h/d', [name]: member });
    }
  });

  it('accepts the old name of DIRECT_DATABASE_URL, but not both with different values', () => {
    const [address, other] = ['postgres://h/d', 'postgres://h/e'];
    const direct = (input: Record<string, string>) =>
      readConfig({ DATABASE_URL: 'postgres://pooler/d', ...input }).directDatabaseUrl;
    expect(direct({ LISTEN_DATABASE_URL: address })).to.equal(address);
    expect(direct({ LISTEN_DATABASE_URL: address, DIRECT_DATABASE_URL: address })).to.equal(address);
    expect(rejectionOf({ DATABASE_URL: other, LISTEN_DATABASE_URL: address, DIRECT_DATABASE_URL: other })).to.equal(
      'The settings DIRECT_DATABASE_URL and LISTEN_DATABASE_URL differ. LISTEN_DATABASE_URL is the old name of DIRECT_DATABASE_URL. Remove it.',
    );
  });

  it('keeps the service’s own tables in a schema other than the managed one', () => {
    expect(readConfig({ DB_SCHEMA: 'shop' }).serviceSchema).to.equal('service_shop');
    expect(readConfig({ DB_SCHEMA: 'shop', SERVICE_SCHEMA: 'dps' }).serviceSchema).to.equal('dps');
    expect(readConfig({ DB_SCHEMA: 'service' }).serviceSchema).to.equal('service_service');
    expect(rejectionOf({ SERVICE_SCHEMA: 'public' })).to.match(/SERVICE_SCHEMA must not be public/);
    expect(rejectionOf({ DB_SCHEMA: 'shop', SERVICE_SCHEMA: 'public' })).to.match(/SERVICE_SCHEMA must not be public/);
    expect(rejectionOf({ DB_SCHEMA: 'shop', SERVICE_SCHEMA: 'shop' })).to.match(
      /SERVICE_SCHEMA and DB_SCHEMA must differ/,
    );
    for (const name of ['pg_temp', 'pg_catalog', 'information_schema', 'a"b', "a'b", 'x'.repeat(64)]) {
      expect(rejectionOf({ SERVICE_SCHEMA: name }), name).to.match(/^The setting SERVICE_SCHEMA must be the name/);
    }
    expect(rejectionOf({ DB_SCHEMA: 'x'.repeat(60) })).to.match(/SERVICE_SCHEMA is required/);
    // It starts like the names of trash schemas.
    expect(readConfig({ SERVICE_SCHEMA: 'x'.repeat(40) }).serviceSchema).to.have.length(40);
    expect(rejectionOf({ SERVICE_SCHEMA: 'x'.repeat(41) })).to.match(
      /SERVICE_SCHEMA must be another schema: .* 40 bytes/,
    );
  });

  it('treats an empty setting as absent', () => {
    expect(readConfig({ PORT: '', LISTEN_DATABASE_URL: '', ADMIN_TOKEN: '' })).to.deep.equal(readConfig({}));
  });

  it('reads sizes and durations with units', () => {
    const config = readConfig({ MAX_BODY: '512 kb', LOCK_TIMEOUT: '1500', STATEMENT_TIMEOUT: '2min' });
    expect(config.maxBody).to.deep.equal({ schema: 524_288, other: 524_288 });
    expect([config.lockTimeout, config.statementTimeout]).to.deep.equal([1500, 120_000]);
  });

  it('reads the retention of deleted objects', () => {
    expect(readConfig({}).pace).to.deep.equal({ rate: null, maxLag: 10_000 });
    expect(readConfig({ ONLINE_ROWS_PER_SECOND: '5000', ONLINE_MAX_LAG: '2s' }).pace).to.deep.equal({
      rate: 5_000,
      maxLag: 2_000,
    });
    expect(readConfig({}).keep).to.deep.equal({ deleted: 7 * 86_400_000, copyRows: 100_000 });
    const kept = (value: string): number => readConfig({ KEEP_DELETED: value }).keep.deleted;
    expect(['0', '0d', '45s', '30 min', '12H', '3650d'].map(kept)).to.deep.equal([
      0, 0, 45_000, 1_800_000, 43_200_000, 315_360_000_000,
    ]);
    for (const value of ['7', '-1d', '1w', 'd', '3651d', '1.5d', '7d ago'])
      expect(rejectionOf({ KEEP_DELETED: value }), value).to.match(/^The setting KEEP_DELETED must be 0, or a time/);
    expect(readConfig({ KEEP_COPY_ROWS: '0' }).keep.copyRows).to.equal(0);
  });

  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:secret@collector.example.com'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'without a value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=one%0d%0atwo: three'],
    ['WEBHOOK_PRIVATE_NETWORKS', 'loopback'],
    ['WEBHOOK_PRIVATE_NETWORKS', '10.0.0.0/33'],
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['DB_POOL', '0'],
    ['DB_POOL', '1e3'],
    ['DB_SCHEMA', 'pg_temp'],
    ['DB_SCHEMA', 'a"b'],
    ['DB_SCHEMA', 'x'.repeat(64)],
    ['OBJECTS_OWNER', 'pg_monitor'],
    ['OBJECTS_OWNER', 'x'.repeat(64)],
    ['DATABASE_URL', 'localhost:5432/app'],
    ['DATABASE_URL', 'mysql://root@localhost/app'],
    ['LISTEN_DATABASE_URL', 'nowhere'],
    ['DIRECT_DATABASE_URL', 'nowhere'],
    ['PROVE_DATABASE_URL', 'nowhere'],
    ['DB_POOLER', 'session'],
    ['ADMIN_EMAIL', 'root'],
    ['ADMIN_TOKEN', 'two words'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '99'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.1, ::/0'],
    ['TRUST_PROXY', '::ffff:0.0.0.0/96'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://a.example/'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['MAX_BODY', '3 apples'],
    ['MAX_BODY', '99gb'],
    ['LOCK_TIMEOUT', '0'],
    ['LOCK_TIMEOUT', '1 constructor'],
    ['STATEMENT_TIMEOUT', 'forever'],
  ] as const) {
    it(`rejects ${name} = "${value.slice(0, 30)}" in one sentence that does not repeat the value`, () => {
      const message = rejectionOf({ [name]: value });
      expect(message).to.match(new RegExp(`^The setting ${name} must .*[^.]\\.$`));
      if (value.length > 4) expect(message).not.to.contain(value);
    });
  }

  for (const [name, value] of [
    ['DIRECT_DATABASE_URL', 'postgres://h/d'],
    ['LISTEN_DATABASE_URL', 'postgres://h/d'],
    ['DB_POOLER', 'transaction'],
  ] as const) {
    it(`rejects ${name} for the embedded server, which would ignore it`, () => {
      expect(rejectionOf({ [name]: value })).to.match(new RegExp(`^The setting ${name} requires DATABASE_URL`));
    });
  }

  it('rejects an empty database address', () => {
    expect(rejectionOf({ DATABASE_URL: '' })).to.match(/^The setting DATABASE_URL is empty\. /);
  });

  for (const [name, least] of [
    ['ADMIN_PASSWORD', 12],
    ['ADMIN_TOKEN', 32],
    ['TOKEN_SECRET', 32],
  ] as const) {
    it(`requires at least ${least} characters for ${name}`, () => {
      expect(rejectionOf({ [name]: 'a'.repeat(least - 1) })).to.equal(
        `The setting ${name} must have at least ${least} characters.`,
      );
      expect(secretsOf(readConfig({ [name]: 'a'.repeat(least) }))).to.deep.equal(['a'.repeat(least)]);
    });
  }

  it('reads the checkpoint destination and interval', () => {
    expect(readConfig({}).checkpoints).to.deep.equal({
      to: null,
      every: { events: 100, time: 600_000 },
      keyFile: null,
      standbys: null,
    });
    const every = (text: string) => readConfig({ CHECKPOINT_EVERY: text }).checkpoints.every;
    expect(every('5')).to.deep.equal({ events: 5, time: Infinity });
    expect(every('30s')).to.deep.equal({ events: Infinity, time: 30_000 });
    expect(every('2 min, 1000')).to.deep.equal({ events: 1000, time: 120_000 });
    for (const text of ['0', '-1', '1.5', 'often', '10min,20min', '5,6', ',', '5,often', '2000min', '1h']) {
      expect(rejectionOf({ CHECKPOINT_EVERY: text }), text).to.match(
        /^The setting CHECKPOINT_EVERY must be a number of events/,
      );
    }
    for (const to of [
      'ftp://host/',
      'http://',
      'https://u:100%@host/',
      's3://bucket/a',
      'http:',
      'https:/host/a',
      'http:u:%zz@h',
    ]) {
      expect(rejectionOf({ CHECKPOINT_TO: to }), to).to.match(
        /^The setting CHECKPOINT_TO must be a folder, or an address/,
      );
    }
    for (const standbys of ['some', '-1', '101']) {
      expect(rejectionOf({ CHECKPOINT_WAIT_FOR_STANDBYS: standbys })).to.match(
        /^The setting CHECKPOINT_WAIT_FOR_STANDBYS/,
      );
    }
    expect(secretsOf(readConfig({ CHECKPOINT_TO: 'https://u:p%2Fword@host/a/' }))).to.deep.equal([
      'p%2Fword',
      'p/word',
    ]);
    expect(secretsOf(readConfig({ CHECKPOINT_TO: '/backup/checkpoints' }))).to.deep.equal([]);
  });

  it('never shows the address of the server for proofs', () => {
    const address = 'postgres://prover:secret@scratch/postgres';
    expect(secretsOf(readConfig({ PROVE_DATABASE_URL: address }))).to.deep.equal([address]);
  });

  it('lists the secret settings', () => {
    expect(secretsOf(readConfig({}))).to.deep.equal([]);
    const input = {
      ADMIN_PASSWORD: 'hunter2hunter2',
      ADMIN_TOKEN: 't'.repeat(32),
      TOKEN_SECRET: 's'.repeat(32),
      DATABASE_URL: 'postgres://u:p@h/d',
      DIRECT_DATABASE_URL: 'postgres://u:p@server/d',
    };
    expect(secretsOf(readConfig({ ...input, CHECKPOINT_TO: 'https://user@host/' }))).to.deep.equal(
      Object.values(input),
    );
  });

  it('reads proxies as a number or networks, and origins as browsers send them', () => {
    const config = readConfig({
      TRUST_PROXY: 'loopback, 10.0.0.0/8,2001:db8::/32',
      CORS_ORIGINS: 'https://a.example,http://b.example:81',
    });
    expect(config.trustProxy).to.deep.equal(['loopback', '10.0.0.0/8', '2001:db8::/32']);
    expect(config.corsOrigins).to.deep.equal(['https://a.example', 'http://b.example:81']);
    expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).to.equal(2);
    expect(readConfig({})).to.deep.include({ trustProxy: 0, corsOrigins: [] });
  });

  it('rejects incomplete settings of an OpenID provider, addresses that can be forged, and unknown roles', () => {
    for (const name of ['OIDC_CLIENT_ID', 'OIDC_ROLES'] as const) {
      const { [name]: _, ...others } = OIDC;
      expect(rejectionOf(others)).to.match(new RegExp(`^The setting OIDC_ISSUER requires ${name}`));
    }
    expect(rejectionOf({ OIDC_CLIENT_ID: 'dps' })).to.equal('The setting OIDC_CLIENT_ID requires OIDC_ISSUER.');
    expect(rejectionOf({ PASSWORD_LOGIN: 'off' })).to.match(/^The setting PASSWORD_LOGIN=off requires OIDC_ISSUER/);
    for (const issuer of ['http://id.example', 'https://u:p@id.example', 'https://id.example/?a', 'id.example'])
      expect(rejectionOf({ ...OIDC, OIDC_ISSUER: issuer }), issuer).to.match(
        /^The setting OIDC_ISSUER must be the https/,
      );
    // zod drops members called __proto__, so that part of the setting would have no effect.
    const HIDDEN_ROLES = ['{"a":{"b":"admin"},"__proto__":{"b":"admin"}}', '{"a":{"b":"admin","__proto__":"admin"}}'];
    for (const roles of ['admin', '{}', '{"groups":"admin"}', '{"groups":{"a":"owner"}}', '[]', ...HIDDEN_ROLES])
      expect(rejectionOf({ ...OIDC, OIDC_ROLES: roles }), roles).to.match(
        /^The setting OIDC_ROLES must be JSON with roles/,
      );
    expect(rejectionOf({ ...OIDC, OIDC_SCOPES: 'email' })).to.match(/^The setting OIDC_SCOPES must be scopes/);
    expect(readConfig({ ...OIDC, OIDC_ISSUER: 'http://localhost:8080' }).oidc?.clientSecret).to.equal(null);
  });

  describe('secrets in files', () => {
    let directory: string;
    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'dps-secrets-'));
    });
    after(() => rmSync(directory, { recursive: true }));
    const file = (name: string, content: string): string => {
      writeFileSync(join(directory, name), content);
      return join(directory, name);
    };

    it('are read with the settings of docs/sign-in.md', () => {
      const block = blocksOf('docs/sign-in.md').find(({ language }) => language === 'ini');
      const settings = block?.content
        .trim()
        .split('\n')
        .map((line) => [line.replace(/=.*$/, ''), line.replace(/^[^=]*=/, '')] as const);
      const { OIDC_CLIENT_SECRET_FILE: path, ...others } = Object.fromEntries(settings ?? []);
      expect(path).to.be.a('string');
      const { oidc } = readConfig({ ...others, OIDC_CLIENT_SECRET_FILE: file('oidc', 'a secret') });
      expect(oidc).to.deep.include({ clientSecret: 'a secret', label: 'Example ID' });
      expect(oidc?.roles['groups']).to.include({ 'platform-team': 'admin' });
    });

    it('are read without the trailing line break', () => {
      for (const name of SECRETS) {
        const values: Record<string, string> = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret' };
        const value = name.endsWith('URL') ? 'postgres://u:p@h/d' : (values[name] ?? 's'.repeat(32));
        const beside = {
          ...(name !== 'DATABASE_URL' && { DATABASE_URL: 'postgres://u:p@h/d' }),
          ...(name === 'OIDC_CLIENT_SECRET' && OIDC),
        };
        const input = { ...beside, [`${name}_FILE`]: file(name, `${value}\n`) };
        expect(readConfig(input)).to.deep.equal(readConfig({ ...beside, [name]: value }));
      }
    });

    it('are rejected in one sentence if they are unreadable, empty, weak, or given twice', () => {
      expect(rejectionOf({ ADMIN_TOKEN_FILE: join(directory, 'none') })).to.match(
        /^The file of ADMIN_TOKEN_FILE cannot be used: ENOENT/,
      );
      expect(rejectionOf({ ADMIN_TOKEN_FILE: directory })).to.match(/ADMIN_TOKEN_FILE cannot be used: EISDIR/);
      for (const [content, what] of Object.entries({
        '': 'it is empty',
        '\n': 'it is empty',
        '\r\n': 'it is empty',
        ['x'.repeat(65_537)]: 'it is too large for a secret',
      })) {
        expect(rejectionOf({ ADMIN_TOKEN_FILE: file('wrong', content) })).to.equal(
          `The file of ADMIN_TOKEN_FILE cannot be used: ${what}.`,
        );
      }
      expect(rejectionOf({ ADMIN_TOKEN_FILE: '/dev/zero' })).to.contain('too large for a secret');
      expect(rejectionOf({ ADMIN_TOKEN_FILE: file('large', 'x'.repeat(65_536)) })).to.contain('at most 512 characters');
      expect(rejectionOf({ ADMIN_TOKEN_FILE: file('short', 'abc\n') })).to.contain('ADMIN_TOKEN must have at least 32');
      expect(rejectionOf({ ADMIN_TOKEN_FILE: file('both', 'abc'), ADMIN_TOKEN: 'x' })).to.equal(
        'The settings ADMIN_TOKEN and ADMIN_TOKEN_FILE cannot be used together.',
      );
      expect(readConfig({ ADMIN_TOKEN_FILE: '', ADMIN_TOKEN: 't'.repeat(32) }).admin.token).to.equal('t'.repeat(32));
    });
  });
});
