import { mock } from 'node:test';
import { expect } from 'chai';
import { createLoginLimit, type LoginLimit } from '../../src/auth/login-limit.js';

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
    expect(await begin('192.0.2.1', 'ANN@example.com')).within(1, 900);
    expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
  });

  it('lasts fifteen minutes from the first attempt, and returns the remaining time', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(3, '192.0.2.1', 'ann@example.com');
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(900);
      mock.timers.tick(600_000);
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(300);
      mock.timers.tick(299_500);
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(1);
      mock.timers.tick(600);
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(null);
    } finally {
      mock.timers.reset();
    }
  });

  it('lasts as long as the longest matching limit', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      await fail(1, '192.0.2.1', 'bob@example.com');
      await fail(1, '192.0.2.1', 'cleo@example.com');
      mock.timers.tick(600_000);
      await fail(3, '192.0.2.1', 'ann@example.com');
      expect(await begin('192.0.2.1', 'dan@example.com')).equal(300);
      expect(await begin('192.0.2.1', 'ann@example.com')).equal(900);
    } finally {
      mock.timers.reset();
    }
  });

  it('blocks an address that tries many users', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fail(1, '192.0.2.1', `${name}@example.com`);
    expect(await begin('192.0.2.1', 'f@example.com')).within(1, 900);
  });

  it('blocks many addresses that try one user', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await begin('192.0.2.8', 'ann@example.com')).within(1, 900);
  });

  it('treats an IPv6 network as one address', async () => {
    await fail(3, '2001:db8::1', 'ann@example.com');
    expect(await begin('2001:db8::2', 'ann@example.com')).within(1, 900);
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
});
