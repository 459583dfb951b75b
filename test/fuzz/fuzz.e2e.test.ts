/** A short run of the fuzzer over every kind of request: `npm run fuzz` runs longer. */
import { expect } from 'chai';
import { checkAll } from '../../scripts/fuzz/checkpoint.js';
import { judge } from '../../scripts/fuzz/judge.js';
import { sentOf } from '../../scripts/fuzz/leaks.js';
import { createRandom } from '../../scripts/fuzz/random.js';
import type { FuzzRequest, Reply } from '../../scripts/fuzz/request.js';
import { findingText } from '../../scripts/fuzz/report.js';
import { fuzz } from '../../scripts/fuzz/run.js';
import { createSession, type Session } from '../../scripts/fuzz/session.js';
import type { Target } from '../../scripts/fuzz/target.js';
import { startService } from '../support/service.js';
import { tamper } from '../support/tamper.js';

const SEED = 20261121;
const REQUESTS = 300;

const request: FuzzRequest = {
  route: 'POST /collections',
  method: 'POST',
  path: '/collections',
  query: [],
  headers: {},
  caller: 'admin',
  body: { kind: 'json', value: { collection: 'a' } },
};

async function inThisProcess(): Promise<Target> {
  const service = await startService({ OBJECTS: 'on' });
  return {
    ...service,
    admin: { email: service.adminEmail, password: service.adminPassword },
    memory: () => null,
    ended: () => null,
  };
}

describe('the fuzzer', () => {
  it(`finds nothing in ${REQUESTS} requests`, async () => {
    const { findings, counts, events } = await fuzz({
      seed: SEED,
      requests: REQUESTS,
      every: 150,
      start: inThisProcess,
    });
    expect(findings.map(findingText)).to.deep.equal([]);
    expect(events, 'hardly anything was accepted').to.be.above(REQUESTS / 10);
    expect(counts.size, 'hardly any route was met').to.be.above(40);
  });
});

describe("the fuzzer's criteria", () => {
  const refusal = (code: string, more: object = {}) => ({
    errors: [{ message: 'It is not possible.', extensions: { code, ...more } }],
  });
  const ruleOf = (reply: Partial<Reply>, sent: readonly FuzzRequest[] = []): string | undefined => {
    const full = { status: 400, headers: { 'content-type': 'application/json' }, took: 1, appended: 0, ...reply };
    const known = new Set(sent.flatMap(sentOf));
    return judge(request, { text: JSON.stringify(full.json ?? ''), json: undefined, ...full }, known)?.rule;
  };

  it('report every response that breaks a promise, and no other', () => {
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD', { path: 'schema' }) })).to.equal(undefined);
    expect(ruleOf({ status: 500, json: refusal('INTERNAL') })).to.equal('serverErrors');
    expect(ruleOf({ status: 503, json: refusal('UNAVAILABLE') })).to.equal('serverErrors');
    expect(ruleOf({ json: { error: 'no' } })).to.equal('errorFormat');
    expect(ruleOf({ status: 409, json: refusal('INVALID_PAYLOAD') })).to.equal('errorFormat');
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD', { cause: 'at /app/src/x.ts:12' }) })).to.equal('leaks');
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD'), appended: 1 })).to.equal('nothingLeft');
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD'), took: 5_001 })).to.equal('inTime');
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD', { path: 'fields[0]' }) })).to.equal('places');
    expect(ruleOf({ status: 402, json: refusal('INVALID_PAYLOAD') })).to.equal('errorFormat');
    expect(ruleOf({ status: 201, json: {} })).to.equal('contract');
  });

  it('report SQL in a response, unless the request contained such a name', () => {
    const collection = '"(SELECT max(position) FROM service_events)"';
    const json = refusal('INVALID_PAYLOAD', { collection });
    expect(ruleOf({ json })).to.equal('leaks');
    expect(ruleOf({ json }, [{ ...request, body: { kind: 'yaml', value: { collection } } }])).to.equal(undefined);
    expect(ruleOf({ json }, [{ ...request, path: `/fields/${encodeURIComponent(collection)}` }])).to.equal(undefined);
    expect(ruleOf({ json: refusal('INVALID_PAYLOAD', { cause: 'INSERT INTO a' }) }, [request])).to.equal('leaks');
  });
});

describe("the fuzzer's checks between requests", () => {
  let session: Session;

  beforeEach(async () => {
    session = await createSession(await inThisProcess(), createRandom(1));
    const body = { kind: 'json', value: { collection: 'a', schema: {} } } as const;
    const reply = await session.execute({ ...request, body });
    expect(reply).to.include({ status: 200 });
  });
  afterEach(() => session.stop());

  const rules = async () => (await checkAll(session)).map(({ rule }) => rule);

  it('pass for a healthy service', async () => {
    expect(await rules()).to.deep.equal([]);
  });

  it('find a table that was changed by hand', async () => {
    await session.db.query('ALTER TABLE a ADD COLUMN by_hand integer');
    expect(await rules()).to.include.members(['threeAgree', 'hasNoDrift']);
  });

  it('find a log that was changed', async () => {
    await tamper(session.target.databaseUrl, (client) =>
      client.query(`UPDATE service.service_events SET reason = 'x' WHERE position = 1`),
    );
    expect(await rules()).to.include('chainIsWhole');
  });
});
