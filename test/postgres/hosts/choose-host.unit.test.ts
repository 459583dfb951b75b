import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import pg from 'pg';
import { LostConnectionError } from '../../../src/postgres/errors.js';
import { type DatabaseAddress, parseAddress } from '../../../src/postgres/hosts/address.js';
import { createHosts, hostsOf, type Probed, createTimelineGuard } from '../../../src/postgres/hosts/choose-host.js';

const PRIMARY = { found: { standby: false, readOnly: false, timeline: 3 } };
const DEPOSED = { found: { standby: false, readOnly: false, timeline: 2 } };
const STANDBY = { found: { standby: true, readOnly: true, timeline: null } };
const GONE = { error: new Error('connect ECONNREFUSED') };

const failWith = (code: string) => ({
  error: Object.assign(new pg.DatabaseError(`refused with ${code}`, 0, 'error'), { code }),
});

/** Three hosts with these responses; `never`: none. */
function cluster(attrs: string, ...answers: (Probed | 'never')[]) {
  const address = parseAddress(`postgres://a,b,c/db?target_session_attrs=${attrs}`) as DatabaseAddress;
  let asked = 0;
  const hosts = createHosts(address, async (text) => {
    asked += 1;
    const answer = answers['abc'.indexOf(new URL(text).hostname)];
    if (answer !== 'never' && answer !== undefined) return answer;
    return new Promise<never>(() => undefined);
  });
  const choose = async (limit = 0): Promise<string> => (await hosts.choose(limit)).name;
  return { hosts, choose, answers, asked: () => asked };
}

describe('choosing a host', () => {
  const CASES: [string, (Probed | 'never')[], string][] = [
    ['read-write', [STANDBY, GONE, PRIMARY], 'c'],
    ['read-write', ['never', 'never', PRIMARY], 'c'],
    ['primary', [DEPOSED, PRIMARY, STANDBY], 'b'],
    ['read-only', [PRIMARY, STANDBY, STANDBY], 'b'],
    ['standby', [PRIMARY, GONE, STANDBY], 'c'],
    ['prefer-standby', [PRIMARY, STANDBY, GONE], 'b'],
    ['prefer-standby', [PRIMARY, GONE, GONE], 'a'],
    ['any', [GONE, STANDBY, PRIMARY], 'b'],
  ];
  for (const [attrs, answers, chosen] of CASES) {
    const said = answers.map((each) =>
      each === 'never' ? each : 'found' in each ? JSON.stringify(each.found) : 'gone',
    );
    it(`selects ${chosen} for ${attrs} of ${said.join(', ')}`, async () => {
      expect(await cluster(attrs, ...answers).choose()).to.equal(chosen);
    });
  }

  it('waits for a primary, and reports the found servers on timeout', async () => {
    const { choose, answers } = cluster('read-write', STANDBY, GONE, STANDBY);
    const error = await choose().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(LostConnectionError);
    expect((error as Error).message).to.contain('a:5432 is a standby; b:5432: connect ECONNREFUSED');
    setTimeout(() => (answers[2] = PRIMARY), 100);
    expect(await choose(30_000)).to.equal('c');
  });

  it('fails immediately with the reason if every server rejects us', async () => {
    const { choose } = cluster('read-write', failWith('28P01'), failWith('28P01'), failWith('3D000'));
    const error = await choose(3_600_000).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.equal('refused with 28P01');
  });

  it('waits if only some reject us or are full', async () => {
    const chosen = ['28000', '53300'].map((state) => {
      const { choose, answers } = cluster('read-write', failWith(state), STANDBY, failWith('53300'));
      setTimeout(() => (answers[1] = PRIMARY), 100);
      return choose(30_000);
    });
    expect(await Promise.all(chosen)).to.deep.equal(['b', 'b']);
  });

  it('is cached briefly, until an error', async () => {
    const { choose, answers, asked, hosts } = cluster('any', PRIMARY, STANDBY, GONE);
    await choose();
    await Promise.all([choose(), choose(), choose()]);
    expect(asked()).to.equal(3);
    answers[0] = GONE;
    expect(await choose()).to.equal('a');
    hosts.doubt();
    expect(await choose()).to.equal('b');
    answers[0] = PRIMARY;
    hosts.doubt();
    expect(await choose(), 'another one is no better').to.equal('b');
  });
});

describe('connections to a chosen host', () => {
  /** Like one of the driver; `ended`: why its socket was destroyed. */
  function connection() {
    const ended: string[] = [];
    const stream = { destroy: (error: Error) => ended.push(error.message) };
    return { client: Object.assign(new EventEmitter(), { connection: { stream } }) as unknown as pg.Client, ended };
  }
  const replaced = (host: string): string[] => [`another server replaces ${host}:5432`];

  it('end when another host is chosen, which is reported', async () => {
    const { hosts, choose, answers } = cluster('any', PRIMARY, STANDBY, GONE);
    const warned: unknown[] = [];
    const logger = { warn: (...told: unknown[]) => warned.push(told) };
    hosts.tell(logger as unknown as Parameters<typeof hosts.tell>[0]);
    const a = await hosts.choose(0);
    const [one, other] = [connection(), connection()];
    hosts.joined(one.client, a);
    hosts.doubt();
    await choose();
    expect({ ended: one.ended, warned }, 'the same one again').to.deep.equal({ ended: [], warned: [] });
    answers[0] = GONE;
    hosts.doubt();
    const b = await hosts.choose(0);
    expect(one.ended).to.deep.equal(replaced('a'));
    expect(warned).to.deep.equal([
      ['the address now leads to a different server', { host: 'b:5432', before: 'a:5432' }],
    ]);
    hosts.joined(other.client, b);
    answers[0] = PRIMARY;
    hosts.doubt();
    await choose();
    expect(other.ended).to.deep.equal([]);
  });

  it('end immediately if they connect too late', async () => {
    const { hosts, answers } = cluster('any', PRIMARY, STANDBY, GONE);
    const a = await hosts.choose(0);
    answers[0] = GONE;
    hosts.doubt();
    await hosts.choose(0);
    const late = connection();
    hosts.joined(late.client, a);
    expect(late.ended).to.deep.equal(replaced('a'));
  });

  it('trigger a new probe when they end', async () => {
    const { hosts, choose, answers } = cluster('any', PRIMARY, STANDBY, GONE);
    const lost = connection();
    hosts.joined(lost.client, await hosts.choose(0));
    answers[0] = GONE;
    expect(await choose(), 'held').to.equal('a');
    lost.client.emit('end');
    expect(await choose()).to.equal('b');
    expect(lost.ended).to.deep.equal([]);
  });
});

describe('the hosts of an address', () => {
  it('are probed if there are several or one with a required role, once per address', () => {
    expect(hostsOf('postgres://a/db')).to.equal(null);
    expect(hostsOf('postgres://a/db?target_session_attrs=any')).to.equal(null);
    const one = hostsOf('postgres://a/db?target_session_attrs=read-write');
    expect(one?.any).to.contain('postgres://a');
    expect(hostsOf('postgres://a/db?target_session_attrs=read-write')).to.equal(one);
    const several = hostsOf('postgres://a,b/db');
    expect(several).to.not.equal(null);
    expect(new URL(several?.any ?? '').hostname).to.equal('a');
    expect(several).to.not.equal(one);
  });
});

describe('a deposed primary', () => {
  it('is rejected while a newer timeline was seen recently', () => {
    let now = 0;
    const guard = createTimelineGuard(() => now);
    guard.admit(1);
    guard.admit(3);
    guard.admit(null);
    now += 30_000;
    expect(() => guard.admit(2)).to.throw(LostConnectionError, 'timeline 2');
    guard.admit(3);
    now += 59_000;
    expect(() => guard.admit(2)).to.throw(LostConnectionError);
    now += 2_000;
    guard.admit(2);
    guard.admit(2);
  });
});
