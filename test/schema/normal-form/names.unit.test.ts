import { expect } from 'chai';
import { checkName } from '../../../src/schema/normal-form/index.js';

const fault = (kind: 'collection' | 'field', name: unknown): string | undefined =>
  checkName(kind, name, ['x'])[0]?.message;

describe('name checks', () => {
  const hostile = [
    'a b',
    'a/b',
    "it's",
    '"',
    'constructor',
    'toString',
    '__proto__',
    'select',
    '*',
    '...',
    '😀',
    'Ä',
    'service',
  ];
  for (const name of [...hostile, 'x'.repeat(63), 'é'.repeat(31), '名'.repeat(21)]) {
    it(`accept ${JSON.stringify(name)}`, () => {
      expect(checkName('collection', name, [])).to.deep.equal([]);
      expect(checkName('field', name, [])).to.deep.equal([]);
    });
  }

  const refused: [string, unknown, string][] = [
    ['what is not a string', 5, 'a string'],
    ['null', null, 'a string'],
    ['the empty name', '', 'empty'],
    ['64 bytes', 'x'.repeat(64), '63 bytes'],
    ['64 bytes in 32 characters', 'é'.repeat(32), '63 bytes'],
    ['64 bytes in 16 characters', '😀'.repeat(16), '63 bytes'],
    ['NUL', 'a\0b', 'control characters'],
    ['a line break', 'a\nb', 'control characters'],
    ['a C1 control', 'a\u0085b', 'control characters'],
    ['a leading space', ' a', 'start or end with a space'],
    ['a trailing no-break space', 'a\u00a0', 'start or end with a space'],
    ['half a surrogate pair', 'a\ud800', 'surrogate'],
    ['a step of a path', '.', 'in a path'],
    ['a step up in a path', '..', 'in a path'],
  ];
  for (const [what, name, message] of refused) {
    it(`reject ${what}`, () => {
      expect(fault('collection', name)).to.include(message);
      expect(fault('field', name)).to.include(message);
    });
  }

  it('reserve system names for system collections', () => {
    for (const name of ['service_users', 'service_events', 'service_divergences', 'service_versions']) {
      expect(fault('collection', name)).to.include('is reserved');
    }
    for (const name of ['service_orders', 'service_pages', 'service_', 'service_event']) {
      expect(fault('collection', name)).to.equal(undefined);
    }
    expect(fault('collection', 'Service_users')).to.equal(undefined);
    expect(fault('field', 'service_users')).to.equal(undefined);
  });

  it("reject PostgreSQL's system columns as fields", () => {
    for (const name of ['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']) {
      expect(fault('field', name)).to.include('system column');
      expect(fault('collection', name)).to.equal(undefined);
    }
    expect(fault('field', 'CTID')).to.equal(undefined);
  });
});
