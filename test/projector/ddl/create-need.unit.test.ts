import { qualified } from '../../../src/projector/ddl/sql.js';
import { expect } from 'chai';
import { addsLabels, changesExistingObject, createNeed } from '../../../src/projector/ddl/needs.js';
import type { Need } from '../../../src/schema/model/extras.js';
import { createTranscript } from '../../support/transcript.js';

const check = (name: string, definition: string) => ({ name, definition });
const EXTENSION: Need = { kind: 'extension', name: 'citext' };
const LABELS: Need = { kind: 'enum', name: 'e', labels: ['b', 'd'] };
const MORE_LABELS: Need = { kind: 'enum', name: 'e', labels: ['a', 'b', 'c', 'd', "e's"] };
const NO_LABELS: Need = { kind: 'enum', name: 'e', labels: [] };
const ICU: Need = {
  kind: 'collation',
  name: 'c',
  provider: 'icu',
  locale: 'de',
  deterministic: false,
  rules: '&a < g',
};
const LIBC: Need = { kind: 'collation', name: 'c', provider: 'libc', lc_collate: 'C', lc_ctype: 'de_DE' };
const BUILTIN: Need = { kind: 'collation', name: 'c', provider: 'builtin', locale: 'C.UTF-8' };
const PLAIN: Need = { kind: 'domain', name: 'd', type: 'text', checks: [check('k', "CHECK ((VALUE <> ''::text))")] };
const FULL: Need = {
  kind: 'domain',
  name: 'd',
  type: 'text',
  collation: '"C"',
  default: "'x'::text",
  not_null: true,
  checks: [check('k', 'CHECK ((length(VALUE) > 1))'), check('later', 'CHECK ((length(VALUE) < 9)) NOT VALID')],
};
const COUNTING: Need = { kind: 'sequence', name: 's', owned_by: 'a' };
const BY_TWO: Need = { kind: 'sequence', name: 's', start: '5', increment: '2', cycle: true };

const CASES: readonly [what: string, need: Need, old?: Need][] = [
  ['an extension', EXTENSION],
  ['an enum', LABELS],
  ['an enum of no labels', NO_LABELS],
  ['an enum that was the same', LABELS, LABELS],
  ['an enum with more labels', MORE_LABELS, LABELS],
  ['an enum that had none', LABELS, NO_LABELS],
  ['an enum without some of its labels', LABELS, MORE_LABELS],
  ['an enum that was a domain', { ...LABELS, name: 'd' }, PLAIN],
  ['a collation of ICU', ICU],
  ['a collation of libc', LIBC],
  ['a collation of PostgreSQL itself', BUILTIN],
  ['a collation that was another', ICU, LIBC],
  ['a domain', PLAIN],
  ['a domain with everything', FULL],
  ['a domain that gets everything', FULL, PLAIN],
  ['a domain that loses everything', PLAIN, FULL],
  ['a domain that was the same', FULL, FULL],
  ['a domain that was an enum', { ...PLAIN, name: 'e' }, LABELS],
  ['a sequence', BY_TWO],
  ['a sequence of a column', COUNTING],
  ['a sequence with other options', BY_TWO, COUNTING],
  ['a sequence that only gets an owner', COUNTING, { kind: 'sequence', name: 's' }],
  ['a sequence that was a domain', { kind: 'sequence', name: 'd' }, PLAIN],
];

const place = { schema: 'my "own"', table: qualified('my "own"', 't') };

describe('objects that tables need', () => {
  it('are created, changed and compared with the recorded SQL', async () => {
    const transcript = createTranscript('needs.sql');
    for (const [what, need, old] of CASES)
      for (const isCompared of [false, true]) {
        const text = createNeed({ need, ...place, old, isCompared });
        transcript.add(`-- ${what}${isCompared ? ', compared' : ''}\n${text};`);
      }
    await transcript.expectAsBefore();
  });

  it('are changed if they differed before and can be changed', () => {
    const changing = CASES.filter(([, need, old]) => changesExistingObject({ need, schema: 'public', old }));
    expect(changing.map(([what]) => what)).to.deep.equal([
      'an enum with more labels',
      'an enum that had none',
      'a domain that gets everything',
      'a domain that loses everything',
      'a sequence with other options',
    ]);
    const labelled = CASES.filter(([, need, old]) => addsLabels({ need, old }));
    expect(labelled.map(([what]) => what)).to.deep.equal([
      'an enum with more labels',
      'an enum that had none',
      'an enum without some of its labels',
    ]);
  });
});
