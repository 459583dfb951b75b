import { expect } from 'chai';
import { createClassify } from '../../../src/features/webhooks/send.js';

describe('the addresses of webhooks', () => {
  const FORBIDDEN = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '',
  ];
  const PUBLIC = ['8.8.8.8', '172.15.0.1', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'];

  it('are forbidden if they are not public', () => {
    const classify = createClassify([]);
    for (const address of FORBIDDEN) expect(classify(address), address).to.equal('forbidden');
    for (const address of PUBLIC) expect(classify(address), address).to.equal('public');
  });

  it('are allowed in the networks of the setting, and nowhere else', () => {
    const classify = createClassify(['10.0.0.0/8', '192.168.1.7', 'fd00::/8', '::1']);
    for (const address of ['10.9.9.9', '::ffff:10.9.9.9', '192.168.1.7', 'fd12::1', '::1'])
      expect(classify(address), address).to.equal('allowed');
    for (const address of ['192.168.1.8', '127.0.0.1', 'fe80::1', '169.254.169.254'])
      expect(classify(address), address).to.equal('forbidden');
  });
});
