import { expect } from 'chai';
import { readCollation } from '../../../../src/schema/normal-form/extras.js';

type Need = Parameters<typeof readCollation>[0];

function read(members: Partial<Need>): { need: unknown; faults: string[] } {
  const faults: string[] = [];
  const need = readCollation(
    { kind: 'collation', name: 'c', provider: 'icu', ...members },
    ['needs', 0],
    (steps, fault) => {
      if (fault !== null) faults.push(`${steps.join('.')}: ${fault}`);
    },
  );
  return { need, faults };
}
const faultsOf = (members: Partial<Need>): string[] => read(members).faults;

describe('a valid collation', () => {
  it('has the members of its provider', () => {
    expect(faultsOf({ provider: 'icu', locale: 'de', deterministic: false, rules: '&a<b' })).to.deep.equal([]);
    expect(faultsOf({ provider: 'builtin', locale: 'C.UTF-8' })).to.deep.equal([]);
    expect(faultsOf({ provider: 'libc', locale: 'C' })).to.deep.equal([]);
    expect(faultsOf({ provider: 'libc', lc_collate: 'C', lc_ctype: 'de' })).to.deep.equal([]);
    const none = (member: string, provider: string) =>
      `needs.0.${member}: must be omitted: a collation of ${provider} has none`;
    expect(faultsOf({ provider: 'builtin', locale: 'C', deterministic: false, rules: 'x' })).to.deep.equal([
      none('deterministic', 'builtin'),
      none('rules', 'builtin'),
    ]);
    expect(faultsOf({ provider: 'icu', locale: 'de', lc_collate: 'de', lc_ctype: 'de' })).to.deep.equal([
      none('lc_collate', 'icu'),
      none('lc_ctype', 'icu'),
    ]);
    expect(faultsOf({ provider: 'libc', locale: 'C', deterministic: false, rules: 'x' })).to.deep.equal([
      none('deterministic', 'libc'),
      none('rules', 'libc'),
    ]);
  });

  it('has a locale, or two libc categories instead', () => {
    const missing = 'needs.0.locale: is required: the locale, as the provider names it';
    for (const provider of ['icu', 'libc', 'builtin'] as const) expect(faultsOf({ provider })).to.deep.equal([missing]);
    expect(faultsOf({ provider: 'libc', lc_collate: 'C' })).to.deep.equal([
      'needs.0.lc_ctype: is required with lc_collate',
    ]);
    expect(faultsOf({ provider: 'libc', lc_ctype: 'C' })).to.deep.equal([
      'needs.0.lc_collate: is required with lc_ctype',
    ]);
    expect(faultsOf({ provider: 'libc', locale: 'C', lc_collate: 'C', lc_ctype: 'de' })).to.deep.equal([
      'needs.0.locale: must be omitted if lc_collate and lc_ctype are given',
    ]);
  });

  it('has one locale if its two categories are equal, as in PostgreSQL', () => {
    const plain = { kind: 'collation', name: 'c', provider: 'libc' };
    expect(read({ provider: 'libc', lc_collate: 'C', lc_ctype: 'C' }).need).to.deep.equal({ ...plain, locale: 'C' });
    const two = { lc_collate: 'C', lc_ctype: 'de' };
    expect(read({ provider: 'libc', ...two }).need).to.deep.equal({ ...plain, ...two });
  });

  it('contains only texts that PostgreSQL accepts', () => {
    const long = 'x'.repeat(10_001);
    expect(faultsOf({ locale: long.slice(1) })).to.deep.equal([]);
    expect(faultsOf({ locale: long })).to.deep.equal(['needs.0.locale: must be at most 10000 characters']);
    const text = 'must be valid UTF-8 text without the character NUL';
    expect(faultsOf({ locale: 'a\0', rules: '\ud800' })).to.deep.equal([
      `needs.0.locale: ${text}`,
      `needs.0.rules: ${text}`,
    ]);
    expect(faultsOf({ provider: 'libc', lc_collate: '\0', lc_ctype: 'a' })).to.deep.equal([
      `needs.0.lc_collate: ${text}`,
    ]);
  });
});
