import { expect } from 'chai';
import { originInName, timeInName } from '../../../../../src/web/pages/review/model/file-document.js';

describe('the creation time in the name of a snapshot', () => {
  const NOW = Date.parse('2026-11-22T12:00:00Z');

  const NAMES: [string, string | null][] = [
    ['snapshot-20261121-074501.json', '2026-11-21T07:45:01.000Z'],
    ['snapshot-20261121-074501-184-3dd83ede.json', '2026-11-21T07:45:01.000Z'],
    ['snapshot-20261121-074501 (1).yaml', '2026-11-21T07:45:01.000Z'],
    ['prod 2026-11-21T07-45.yaml', '2026-11-21T07:45:00.000Z'],
    ['2026-11-21 07:45:01.json', '2026-11-21T07:45:01.000Z'],
    ['snapshot.json', null],
    ['snapshot-20261121.json', null],
    ['snapshot-20261131-074501.json', null],
    ['snapshot-20261121-254501.json', null],
    ['snapshot-20271121-074501.json', null],
    ['order-1202611210745011.json', null],
    ['Pasted snapshot', null],
  ];

  for (const [name, time] of NAMES)
    it(`${name}: ${time ?? 'none'}`, () => {
      expect(timeInName(name, NOW)).to.equal(time);
    });
});

describe('the position in the name of a snapshot', () => {
  const ORIGIN = { position: 184, hash: '3dd83ede' };
  const NAMES: [string, typeof ORIGIN | null][] = [
    ['snapshot-20261121-074501-184-3dd83ede.json', ORIGIN],
    ['snapshot-20261121-074501-184-3dd83ede (1).yaml', ORIGIN],
    ['snapshot-20261121-074501.json', null],
    ['snapshot-20261121-074501-184.json', null],
    ['snapshot-20261121-074501-0-00000000.json', null],
    ['snapshot-20261121-074501-184-3dd83edea.json', null],
    ['snapshot-20261121-074501-184-3dd83ede-edited.json', null],
    ['snapshot-20261121-074501-1234567890123456-3dd83ede.json', null],
  ];

  for (const [name, origin] of NAMES)
    it(`${name}: ${origin?.position ?? 'none'}`, () => {
      expect(originInName(name)).to.deep.equal(origin);
    });
});
