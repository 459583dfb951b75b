import { expect } from 'chai';
import { createLoginLimit, type LoginLimit } from '../../src/auth/login-limit.js';

describe('the limit of failing logins', () => {
  let limit: LoginLimit;

  beforeEach(() => {
    limit = createLoginLimit({ pair: 3, address: 5, email: 7 });
  });
  afterEach(() => limit.stop());

  const fail = async (times: number, address: string, email: string) => {
    for (let done = 0; done < times; done++) expect(await limit.begin(address, email)).equal(null);
  };

  it('stops an address that tries one user, and says for how long', async () => {
    await fail(3, '192.0.2.1', 'ann@example.com');
    expect(await limit.begin('192.0.2.1', 'ANN@example.com')).within(1, 900);
    expect(await limit.begin('192.0.2.2', 'ann@example.com')).equal(null);
  });

  it('stops an address that tries many users', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fail(1, '192.0.2.1', `${name}@example.com`);
    expect(await limit.begin('192.0.2.1', 'f@example.com')).within(1, 900);
  });

  it('stops many addresses that try one user', async () => {
    for (let host = 1; host <= 7; host++) await fail(1, `192.0.2.${host}`, 'ann@example.com');
    expect(await limit.begin('192.0.2.8', 'ann@example.com')).within(1, 900);
  });

  it('takes an IPv6 network as one address', async () => {
    await fail(3, '2001:db8::1', 'ann@example.com');
    expect(await limit.begin('2001:db8::2', 'ann@example.com')).within(1, 900);
  });

  it('counts failures only', async () => {
    for (let login = 0; login < 20; login++) {
      await fail(1, '192.0.2.1', 'ann@example.com');
      await limit.succeeded('192.0.2.1', 'ann@example.com');
    }
  });
});
