import { expect } from 'chai';
import { isNetwork, isWholeFamily, networkList } from '../../src/kernel/networks.js';

describe('networks of addresses', () => {
  const cases: readonly (readonly [network: string, inside: readonly string[], outside: readonly string[]])[] = [
    ['0.0.0.0/0', ['1.2.3.4', '::ffff:1.2.3.4', '::FFFF:102:304'], ['::1', '2001:db8::1']],
    ['::/0', ['::1', '2001:db8::1'], ['1.2.3.4', '::ffff:1.2.3.4', '0:0:0:0:0:ffff:102:304']],
    ['10.0.0.0/8', ['10.1.2.3', '::ffff:10.1.2.3'], ['11.1.2.3', '::ffff:11.1.2.3', '::10.1.2.3']],
    ['10.1.2.3', ['10.1.2.3', '::ffff:a01:203'], ['10.1.2.4']],
    ['2001:db8::/32', ['2001:db8:1::'], ['2001:db9::', '32.1.13.184']],
    ['::ffff:10.0.0.0/104', ['10.1.2.3', '::ffff:10.1.2.3'], ['11.1.2.3', '::1']],
  ];
  for (const [network, inside, outside] of cases)
    it(`matches ${network} with addresses of its own family only`, () => {
      expect(isNetwork(network)).to.equal(true);
      const { check } = networkList([network]);
      for (const address of inside) expect(check(address), address).to.equal(true);
      for (const address of outside) expect(check(address), address).to.equal(false);
    });

  it('recognizes networks that contain every address of a family', () => {
    for (const network of [
      '0.0.0.0/0',
      '10.0.0.0/0',
      '::/0',
      '::ffff:0.0.0.0/96',
      '0:0:0:0:0:ffff::/96',
      '::ffff:0:0/8',
    ])
      expect(isWholeFamily(network), network).to.equal(true);
    for (const network of ['0.0.0.0', '0.0.0.0/1', '::', '::/1', '::ffff:10.0.0.0/104', '::ffff:10.0.0.1'])
      expect(isWholeFamily(network), network).to.equal(false);
  });

  it('matches both families if a list contains networks of both', () => {
    const { check } = networkList(['0.0.0.0/0', '::/0']);
    for (const address of ['1.2.3.4', '::ffff:1.2.3.4', '::1']) expect(check(address), address).to.equal(true);
  });
});
