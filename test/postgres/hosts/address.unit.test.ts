import { expect } from 'chai';
import { parseAddress, formatHost } from '../../../src/postgres/hosts/address.js';

const read = (text: string) => {
  const address = parseAddress(text);
  return address && { hosts: address.hosts.map(formatHost), attrs: address.attrs, each: address.hosts.map(address.of) };
};

describe('an address with several hosts', () => {
  it('is parsed like libpq does', () => {
    expect(read('postgres://u:p@one:1,two,[::1]:3/db?target_session_attrs=read-write&sslmode=disable')).to.deep.equal({
      hosts: ['one:1', 'two:5432', '[::1]:3'],
      attrs: 'read-write',
      each: [
        'postgres://u:p@one:1/db?sslmode=disable',
        'postgres://u:p@two:5432/db?sslmode=disable',
        'postgres://u:p@[::1]:3/db?sslmode=disable',
      ],
    });
  });

  it('may list hosts in parameters, with one port for all', () => {
    expect(read('postgresql://u@/db?host=one,/run/pg&port=6000')?.each).to.deep.equal([
      'postgresql://u@one:6000/db',
      'postgresql://u@localhost:6000/db?host=%2Frun%2Fpg',
    ]);
    expect(read('postgresql:///db?host=one,two&port=1,2')?.hosts).to.deep.equal(['one:1', 'two:2']);
  });

  it('keeps a password with special characters', () => {
    expect(read('postgres://u:p,@x%40@one,two/db')?.each[1]).to.equal('postgres://u:p,@x%40@two:5432/db');
  });

  it('may have one host with target_session_attrs', () => {
    expect(read('postgres://one/db?target_session_attrs=primary')).to.deep.equal({
      hosts: ['one:5432'],
      attrs: 'primary',
      each: ['postgres://one:5432/db'],
    });
    expect(read('postgres://one')?.attrs).to.equal('any');
    expect(
      read('postgres://one/db?sslmode=disable&target_session_attrs=any&application_name=a%20b')?.each,
    ).to.deep.equal(['postgres://one:5432/db?sslmode=disable&application_name=a%20b']);
  });

  for (const wrong of [
    'mysql://one/db',
    'one,two',
    'postgres://one:0,two/db',
    'postgres://one:1,two:x/db',
    'postgres://one,two three/db',
    'postgres://one,two/db?target_session_attrs=write',
    'postgres:///db?host=one,two&port=1,2,3',
    'postgres://[::1,two/db',
    'postgres://%zz,two/db',
    'postgres://user:password@%zz/db',
  ]) {
    it(`is rejected: ${wrong}`, () => {
      expect(parseAddress(wrong)).to.equal(undefined);
    });
  }
});
