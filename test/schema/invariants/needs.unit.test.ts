import { expect } from 'chai';
import type { Need } from '../../../src/schema/model/extras.js';
import type { Collection } from '../../../src/schema/model/model.js';
import { type StateInput, KEY, column, stateOf, toldOf } from './states.js';

const using = (...needs: object[]): StateInput => ({
  fields: [KEY, column('n')],
  change: (collection: Collection) => ({
    ...collection,
    schema: { comment: null, extras: { needs: needs as Need[] } },
  }),
});
const moodEnum = (...labels: string[]) => ({ kind: 'enum', name: 'mood', labels });
const sequence = (more: object = {}) => ({ kind: 'sequence', name: 's', ...more });

describe('needs', () => {
  it('are equal in all tables that share them', () => {
    expect(toldOf(stateOf({ a: using(moodEnum('x', 'y')), b: using(moodEnum('x', 'y')) }))).to.deep.equal([]);
    const other = stateOf({ a: using(moodEnum('x')), b: using({ kind: 'extension', name: 'citext' }, moodEnum('y')) });
    expect(toldOf(other)).to.deep.equal([
      'need b.mood schema.extras.needs.1: enum "mood" differs from the definition in "a". Every table must define it in the same way',
    ]);
    expect(toldOf(other, ['a'])).to.deep.equal([
      'need a.mood schema.extras.needs.0: enum "mood" differs from the definition in "b". Every table must define it in the same way',
    ]);
    expect(toldOf(stateOf({ a: using(moodEnum('x')), b: using({ ...moodEnum('y'), name: 'other' }) }))).to.deep.equal(
      [],
    );
  });

  it('are unique within a table', () => {
    expect(toldOf(stateOf({ a: using(moodEnum('x'), moodEnum('x')) }))).to.deep.equal([
      'need a.mood schema.extras.needs.1: enum "mood" is listed twice',
    ]);
  });

  it('belong to one existing column if they are sequences', () => {
    const owned = sequence({ owned_by: 'n' });
    expect(toldOf(stateOf({ a: using(owned), b: using(sequence()) }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: using(sequence()), b: using(owned) }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: using(owned), b: using(owned) }))).to.deep.equal([
      'need b.s schema.extras.needs.0: sequence "s" is already owned by a column of "a"',
    ]);
    expect(toldOf(stateOf({ a: using(sequence({ owned_by: 'gone' })) }))).to.deep.equal([
      'need a.s schema.extras.needs.0.owned_by: sequence "s" must be owned by column "gone", which does not exist',
    ]);
    expect(toldOf(stateOf({ a: using(owned), b: using(sequence({ increment: '2' })) }))).to.deep.equal([
      'need b.s schema.extras.needs.0: sequence "s" differs from the definition in "a". Every table must define it in the same way',
    ]);
  });

  it('cannot be assigned to columns with other values, unless they already were', () => {
    const identity = column('n', 'integer', { has_auto_increment: true });
    const generated = column('n', 'integer', { generation_expression: 'id' });
    for (const field of [identity, generated]) {
      const state = stateOf({ a: { ...using(sequence({ owned_by: 'n' })), fields: [KEY, field] } });
      const without = stateOf({ a: { ...using(), fields: [KEY, field] } });
      expect(toldOf(state, ['a'], without)).to.deep.equal([
        'need a.s schema.extras.needs.0.owned_by: sequence "s" must be owned by column "n", which generates its values without it',
      ]);
      expect(toldOf(state, ['a'], stateOf({ a: { ...using(sequence()), fields: [KEY, field] } }))).to.have.lengthOf(1);
      expect(toldOf(state, ['a'], state)).to.deep.equal([]);
      expect(toldOf(state, ['a'], stateOf({})), 'a new table').to.deep.equal([]);
    }
  });

  it('stay listed while a column, a domain or a text of the table uses them', () => {
    const extras = (needs: readonly Need[], more: object = {}) => ({
      change: (collection: Collection) => ({
        ...collection,
        schema: { comment: null, extras: { needs: [...needs], ...more } },
      }),
    });
    const used = (needs: readonly Need[], field: object, more?: object): StateInput => ({
      ...extras(needs, more),
      fields: [KEY, field],
    });
    const calm = `'calm'::mood`;
    const cases: [need: Need, field: object, more: object, user: string][] = [
      [moodEnum('calm') as Need, column('n', 'unknown', { data_type: 'mood' }), {}, 'field "n"'],
      [moodEnum('calm') as Need, column('n', 'unknown', { data_type: 'mood[]' }), {}, 'field "n"'],
      [moodEnum('calm') as Need, column('n', 'text', { extras: { default: `(${calm})::text` } }), {}, 'field "n"'],
      [
        moodEnum('calm') as Need,
        column('n', 'text'),
        { constraints: [{ name: 'c', definition: `CHECK ((n <> (${calm})::text))` }] },
        'a constraint, an index or a partition of the table',
      ],
      [{ kind: 'domain', name: 'age', type: 'integer' }, column('n', 'unknown', { data_type: 'age' }), {}, 'field "n"'],
      [
        { kind: 'sequence', name: 's' },
        column('n', 'integer', { has_auto_increment: true, extras: { default: `nextval('s'::regclass)` } }),
        {},
        'field "n"',
      ],
      [{ kind: 'extension', name: 'citext' }, column('n', 'text', { data_type: 'citext' }), {}, 'field "n"'],
      [
        { kind: 'extension', name: 'pg_trgm' },
        column('n', 'text'),
        { indexes: [{ name: 'i', definition: 'USING gin (n gin_trgm_ops)' }] },
        'a constraint, an index or a partition of the table',
      ],
      [
        { kind: 'collation', name: 'german', provider: 'icu', locale: 'de' },
        column('n', 'text', { extras: { collation: 'german' } }),
        {},
        'field "n"',
      ],
    ];
    for (const [need, field, more, user] of cases) {
      const before = stateOf({ a: used([need], field, more) });
      const reported = `need a.${need.name} schema.extras.needs: must contain ${need.kind} "${need.name}", because ${user} uses it`;
      expect(toldOf(stateOf({ a: used([], field, more) }), ['a'], before)).to.deep.equal([reported]);
      expect(toldOf(before, ['a'], before), reported).to.deep.equal([]);
      expect(toldOf(stateOf({ a: { fields: [KEY, column('n', 'text')] } }), ['a'], before), reported).to.deep.equal([]);
      expect(toldOf(stateOf({}), ['a'], before), `${reported}, and the table is deleted`).to.deep.equal([]);
    }
    const counted = column('n', 'integer', { has_auto_increment: true, extras: { default: `nextval('s'::regclass)` } });
    const owned: Need = { kind: 'sequence', name: 's', owned_by: 'm' };
    const both = stateOf({ a: { ...extras([owned]), fields: [KEY, counted, column('m')] } });
    const reported = toldOf(stateOf({ a: { ...extras([]), fields: [KEY, counted] } }), ['a'], both);
    expect(reported, 'PostgreSQL drops it with its column, or names who uses it').to.deep.equal([]);
    const based: Need = { kind: 'domain', name: 'mine', type: 'mood' };
    const before = stateOf({ a: used([moodEnum('calm') as Need, based], column('n')) });
    expect(toldOf(stateOf({ a: used([based], column('n')) }), ['a'], before)).to.deep.equal([
      'need a.mood schema.extras.needs: must contain enum "mood", because domain "mine" uses it',
    ]);
  });
});
