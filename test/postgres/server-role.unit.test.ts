import { expect } from 'chai';
import { type Replay, createLag, createServerRole } from '../../src/postgres/server.js';
import { silent } from '../support/instance.js';

const CAUGHT_UP: Replay = { replayed: 500, received: 500, receiving: true, sent: null, committed: 1_000, now: 1_000 };

describe('createLag', () => {
  it('is 0 if everything received was replayed, however old', () => {
    const lagOf = createLag();
    expect(lagOf(CAUGHT_UP)).to.equal(0);
    expect(lagOf({ ...CAUGHT_UP, now: 9_000 })).to.equal(0);
  });

  it('is the time since it was current, while data waits for replay', () => {
    const lagOf = createLag();
    lagOf({ ...CAUGHT_UP, committed: 10 });
    expect(lagOf({ ...CAUGHT_UP, committed: 10, received: 600, now: 1_007 })).to.equal(7);
    expect(lagOf({ ...CAUGHT_UP, committed: 1_005, received: 700, replayed: 600, now: 1_010 })).to.equal(5);
  });

  it('is unknown without a connection to the primary, which may have continued', () => {
    const lagOf = createLag();
    expect(lagOf({ ...CAUGHT_UP, receiving: false, committed: 400 })).to.equal(600);
    lagOf({ ...CAUGHT_UP, now: 1_100 });
    expect(lagOf({ ...CAUGHT_UP, receiving: false, now: 1_130 })).to.equal(30);
  });

  it('is unknown on a standby that replays old data as it arrives', () => {
    const lagOf = createLag();
    lagOf({ ...CAUGHT_UP, receiving: false, committed: 100 });
    expect(lagOf({ ...CAUGHT_UP, committed: 200, now: 1_001 })).to.equal(801);
    expect(lagOf({ ...CAUGHT_UP, committed: 900, now: 1_002 })).to.equal(102);
    expect(lagOf({ ...CAUGHT_UP, committed: 1_002, now: 1_003 })).to.equal(0);
  });

  it("uses the primary's sent position if the account may read it", () => {
    const lagOf = createLag();
    expect(lagOf({ ...CAUGHT_UP, sent: 800, committed: 990 })).to.equal(10);
    expect(lagOf({ ...CAUGHT_UP, sent: 500 })).to.equal(0);
  });

  it('is never negative, because clocks differ', () => {
    expect(createLag()({ ...CAUGHT_UP, receiving: false, committed: 2_000 })).to.equal(0);
  });
});

describe('createServerRole', () => {
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const primary = { standby: false, replay: null };
  const standby = { standby: true, replay: CAUGHT_UP };

  it('reports a promotion when its work is done, and a demotion immediately', async () => {
    const role = createServerRole({ logger: silent, standby: true });
    const received: boolean[] = [];
    role.subscribe((isStandby) => received.push(isStandby));
    let finish!: () => void;
    let prepared = 0;
    role.onPromotion(() => {
      prepared += 1;
      return new Promise<void>((resolve) => (finish = resolve));
    });
    expect(role.observe(primary).standby).to.equal(true);
    expect(role.observe(primary).standby).to.equal(true);
    expect(prepared).to.equal(1);
    finish();
    await tick();
    expect(role.current()).to.deep.equal({ standby: false, lag: 0 });
    expect(role.observe(standby).standby).to.equal(true);
    expect(received).to.deep.equal([false, true]);
  });

  it('retries the work of a promotion, and drops it after a demotion', async () => {
    const role = createServerRole({ logger: silent, standby: true });
    let tries = 0;
    role.onPromotion(() => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('away')) : Promise.resolve();
    });
    role.observe(primary);
    await tick();
    expect(role.current().standby).to.equal(true);
    role.observe(primary);
    role.observe(standby);
    await tick();
    expect(role.current().standby).to.equal(true);
    role.observe(primary);
    await tick();
    expect([role.current().standby, tries]).to.deep.equal([false, 3]);
  });
});
