import { expect } from 'chai';
import { readConfig } from '../src/config.js';
import { startupMessage } from '../src/startup-message.js';

const URL = 'http://127.0.0.1:8000';
type Admin = Parameters<typeof startupMessage>[0]['admin'];

function lines(admin: Partial<Admin>, environment: Record<string, string> = {}): string[] {
  const service = { url: URL, admin: { email: 'a@example.com', created: true, ignored: [], ...admin } };
  return startupMessage(service, readConfig({ DATABASE_URL: 'postgres://x', ...environment })).split('\n');
}

const tokenIn = (messages: string[]): string | undefined =>
  messages.map((line) => /Authorization: Bearer ([^"]+)"/.exec(line)?.[1]).find((token) => token !== undefined);

describe('the startup message', () => {
  it('names the service address, the credentials and a first request that works as printed', () => {
    const output = lines({ passwordGenerated: 'secret', tokenGenerated: 'dps_t' });
    expect(output.slice(0, 8)).to.deep.equal([
      `Open ${URL}/app in a browser`,
      `The Data Platform Service listens on ${URL}`,
      'Admin: a@example.com',
      'Password (generated, shown only once): secret',
      'Token (generated, shown only once): dps_t',
      '',
      'Try it:',
      '',
    ]);
    expect(output[8]).to.equal(
      `  curl ${URL}/collections -H "Authorization: Bearer dps_t" -H "Content-Type: application/json" \\`,
    );
    const body = /^ {4}-d '(.*)'$/.exec(output[9] ?? '')?.[1] ?? '';
    expect(JSON.parse(body)).to.have.property('collection', 'first_steps');
    expect(output.slice(10)).to.deep.equal(['']);
  });

  it('does not name the app if it is not served', () => {
    expect(lines({}, { APP: 'off' })[0]).to.equal(`The Data Platform Service listens on ${URL}`);
  });

  it('shows no secret that the operator set', () => {
    const output = lines({}, { ADMIN_TOKEN: 'x'.repeat(40) });
    expect(output.slice(1, 4)).to.deep.equal([
      `The Data Platform Service listens on ${URL}`,
      'Admin: a@example.com',
      '',
    ]);
    expect(tokenIn(output)).to.equal('$ADMIN_TOKEN');
    expect(tokenIn(lines({}))).to.equal('$TOKEN');
  });

  it('explains at later starts how to get another token, and which settings have no effect', () => {
    const output = lines(
      { created: false, ignored: ['ADMIN_PASSWORD', 'ADMIN_TOKEN'] },
      { ADMIN_TOKEN: 'x'.repeat(40) },
    );
    expect(output.slice(3, 7)).to.deep.equal([
      'An API token was created at the first start. To create another: npx dps tokens add a@example.com',
      'ADMIN_PASSWORD differs from the stored credentials of a@example.com and has no effect. To change them: npx dps users, npx dps tokens',
      'ADMIN_TOKEN differs from the stored credentials of a@example.com and has no effect. To change them: npx dps users, npx dps tokens',
      '',
    ]);
    expect(tokenIn(output)).to.equal('$TOKEN');
  });
});
