import { mock } from 'node:test';
import { expect } from 'chai';
import { createLoginLimit, type LoginLimit } from '../../src/auth/login-limit.js';

describe('the limit of failing logins', () => {
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

  it('stops an address that tries one user, and says for how long', async () => {
    await fail(3, '192.0.2.1', 'ann@example.com');
    expect(await begin('192.0.2.1', 'ANN@example.com')).within(1, 900);
    expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
  });

  it('holds for fifteen minutes from the first try, and says how much of that is left', async () => {
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

  it('holds as long as the limit that holds longest', async () => {
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

  it('stops an address that tries many users', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fail(1, '192.0.2.1', `${name}@example.com`);
    expect(await begin('192.0.2.1', 'f@example.com')).within(1, 900);
  });

  it('stops many addresses that try one user', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await begin('192.0.2.8', 'ann@example.com')).within(1, 900);
  });

  it('takes an IPv6 network as one address', async () => {
    await fail(3, '2001:db8::1', 'ann@example.com');
    expect(await begin('2001:db8::2', 'ann@example.com')).within(1, 900);
  });

  it('counts failures only', async () => {
    for (let login = 0; login < 20; login++) {
      await fail(1, '192.0.2.1', 'ann@example.com');
      await limit.succeeded({ address: '192.0.2.1', email: 'ann@example.com' });
    }
  });

  it('does not count what it refuses: no user is kept out by another client that goes on trying', async () => {
    await fail(3, '192.0.2.1', 'ann@example.com');
    for (let refused = 0; refused < 100; refused++) expect(await begin('192.0.2.1', 'ann@example.com')).not.equal(null);
    expect(await begin('192.0.2.2', 'ann@example.com')).equal(null);
    expect(await begin('192.0.2.1', 'bob@example.com')).equal(null);
  });

  it('lets no more than the limit through, however many come at once', async () => {
    const waits = await Promise.all(Array.from({ length: 50 }, () => begin('192.0.2.1', 'ann@example.com')));
    expect(waits.filter((wait) => wait === null)).length(3);
  });

  it('leaves a user in where the last login came from, whatever fails elsewhere, but not for any number of tries', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await begin('198.51.100.1', 'ann@example.com')).not.equal(null);
    for (let tries = 0; tries < 3; tries++) expect(await begin('198.51.100.1', 'ann@example.com', home)).equal(null);
    expect(await begin('198.51.100.1', 'ann@example.com', home)).not.equal(null);
  });

  it('asks for the last login only where it decides', async () => {
    const unasked = () => Promise.reject(new Error('asked'));
    for (let tries = 0; tries < 3; tries++) expect(await begin('192.0.2.1', 'ann@example.com', unasked)).equal(null);
    expect(await begin('192.0.2.1', 'ann@example.com', unasked)).not.equal(null);
  });
});
