import { mock } from 'node:test';
import { expect } from 'chai';
import { createLoginLimit, type LoginLimit } from '../../../src/features/accounts/login-limit.js';

describe('the login limit', () => {
  let limit: LoginLimit;

  beforeEach(() => {
    limit = createLoginLimit({ pair: 3, address: 5, email: 7 });
  });
  afterEach(() => limit.stop());

  const away = () => Promise.resolve(false);
  const home = () => Promise.resolve(true);
  const begin = (address: string, email: string, atHome = away) => limit.begin({ address, email }, atHome);
  const fail = async (times: number, address: string, email: string) => {
    for (let done = 0; done < times; done++) expect(await begin(address, email)).equal(null);
  };

  it('blocks an address that tries one user, and returns the waiting time', async () => {
    await fail(3, '192.0.2.1', 'ann@example.com');
    expect(await begin('192.0.2.1', 'ANN@example.com')).within(1, 30);
    expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
  });

  it('lets one attempt pass after each pause, which doubles up to two minutes', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(3, '192.0.2.1', 'ann@example.com');
      for (const pause of [30, 60, 120, 120]) {
        expect(await begin('192.0.2.1', 'ann@example.com')).equal(pause);
        mock.timers.tick(pause * 1_000 - 500);
        expect(await begin('192.0.2.1', 'ann@example.com')).equal(1);
        mock.timers.tick(500);
        await fail(1, '192.0.2.1', 'ann@example.com');
      }
    } finally {
      mock.timers.reset();
    }
  });

  it('forgets failures fifteen minutes after the first one', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(3, '192.0.2.1', 'ann@example.com');
      mock.timers.tick(900_000);
      await fail(3, '192.0.2.1', 'ann@example.com');
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(30);
    } finally {
      mock.timers.reset();
    }
  });

  it('ends the pause of a user who signs in, and not that of the address', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(3, '192.0.2.1', 'ann@example.com');
      await fail(2, '192.0.2.1', 'bob@example.com');
      mock.timers.tick(30_000);
      await fail(1, '192.0.2.1', 'ann@example.com');
      await limit.succeeded({ address: '192.0.2.1', email: 'ann@example.com' });
      expect(await begin('192.0.2.1', 'bob@example.com')).within(1, 60);
      expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
    } finally {
      mock.timers.reset();
    }
  });

  it('lasts as long as the longest matching pause', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(2, '192.0.2.1', 'bob@example.com');
      await fail(3, '192.0.2.1', 'ann@example.com');
      mock.timers.tick(30_000);
      await fail(1, '192.0.2.1', 'cleo@example.com');
      mock.timers.tick(10_000);
      expect(await begin('192.0.2.1', 'dan@example.com')).equal(50);
    } finally {
      mock.timers.reset();
    }
  });

  it('blocks an address that tries many users', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fail(1, '192.0.2.1', `${name}@example.com`);
    expect(await begin('192.0.2.1', 'f@example.com')).within(1, 30);
  });

  it('blocks many addresses that try one user', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await begin('192.0.2.8', 'ann@example.com')).within(1, 30);
  });

  it('treats an IPv6 network as one address', async () => {
    await fail(3, '2001:db8::1', 'ann@example.com');
    expect(await begin('2001:db8::2', 'ann@example.com')).within(1, 30);
  });

  it('counts only failures', async () => {
    for (let login = 0; login < 20; login++) {
      await fail(1, '192.0.2.1', 'ann@example.com');
      await limit.succeeded({ address: '192.0.2.1', email: 'ann@example.com' });
    }
  });

  it('does not count rejected attempts, so another client cannot lock a user out for longer', async () => {
    await fail(3, '192.0.2.1', 'ann@example.com');
    for (let refused = 0; refused < 100; refused++) expect(await begin('192.0.2.1', 'ann@example.com')).not.equal(null);
    expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
    expect(await begin('192.0.2.1', 'bob@example.com')).equal(null);
  });

  it('admits no more than the limit of concurrent attempts', async () => {
    const waits = await Promise.all(Array.from({ length: 50 }, () => begin('192.0.2.1', 'ann@example.com')));
    expect(waits.filter((wait) => wait === null)).length(3);
  });

  it('admits a user from the network of the last login despite failures elsewhere, up to a limit', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await begin('198.51.100.1', 'ann@example.com')).not.equal(null);
    for (let tries = 0; tries < 3; tries++) expect(await begin('198.51.100.1', 'ann@example.com', home)).equal(null);
    expect(await begin('198.51.100.1', 'ann@example.com', home)).not.equal(null);
  });

  it('looks up the last login only if it decides', async () => {
    const unasked = () => Promise.reject(new Error('asked'));
    for (let tries = 0; tries < 3; tries++) expect(await begin('192.0.2.1', 'ann@example.com', unasked)).equal(null);
    expect(await begin('192.0.2.1', 'ann@example.com', unasked)).not.equal(null);
  });

  describe('with running verifications', () => {
    const ann = { address: '192.0.2.1', email: 'ann@example.com' };
    const verify = (check: () => Promise<string | null>, attempt = ann) => limit.verify(attempt, away, check);
    const right = () => Promise.resolve('ann');
    const wrong = () => Promise.resolve(null);
    const messageOf = async (verified: Promise<unknown>): Promise<string> =>
      verified.then(
        () => 'none',
        (error: Error) => error.message,
      );
    const TOO_MANY = /^Too many failed logins\. Try again in \d+ seconds\.$/u;

    it('admits every concurrent attempt with the right password', async () => {
      const found = await Promise.all(Array.from({ length: 60 }, () => verify(right)));
      expect(found).deep.equal(Array.from({ length: 60 }, () => 'ann'));
    });

    it('verifies no more of 1,000 concurrent wrong passwords than the limit', async () => {
      let verified = 0;
      const guess = () => {
        verified += 1;
        return wrong();
      };
      const guesses = await Promise.allSettled(Array.from({ length: 1_000 }, () => verify(guess)));
      expect(verified).equal(3);
      expect(guesses.filter(({ status }) => status === 'rejected')).length(997);
      expect(await messageOf(verify(right))).match(TOO_MANY);
    });

    it('admits one attempt for each success between concurrent failures, and no more', async () => {
      let verified = 0;
      const attempts = Array.from({ length: 100 }, (_, index) =>
        verify(() => {
          verified += 1;
          return index === 1 ? right() : wrong();
        }),
      );
      await Promise.allSettled(attempts);
      expect(verified).equal(4);
    });

    it('waits for a slot of its own address', async () => {
      const names = Array.from({ length: 30 }, (_, index) => `user${index}@example.com`);
      const found = await Promise.all(names.map((email) => verify(right, { ...ann, email })));
      expect(found).length(30);
    });

    it('does not count an attempt whose verification failed with an error', async () => {
      const broken = () => Promise.reject(new Error('the database is away'));
      for (let tries = 0; tries < 10; tries++) {
        expect(await verify(broken).catch((error: Error) => error.message)).equal('the database is away');
      }
      expect(await verify(right)).equal('ann');
    });

    it('rejects an attempt that got no slot in time, and does not count it', async () => {
      limit.stop();
      limit = createLoginLimit({ pair: 1, address: 5, email: 7 }, 20);
      let finish = (): void => undefined;
      const slow = verify(() => new Promise((resolve) => (finish = () => resolve('ann'))));
      const late = [verify(right), verify(right)].map(messageOf);
      expect(await Promise.all(late)).deep.equal([
        'Too many logins at the same time. Try again.',
        'Too many logins at the same time. Try again.',
      ]);
      finish();
      expect(await slow).equal('ann');
      expect(await verify(right)).equal('ann');
    });
  });
});
