import { expect } from 'chai';
import { addArticle } from '../../../src/kernel/text.js';
import { isNameTaken, queryTakenParts, addTakenNames } from '../../../src/projector/refusals/offending-rows.js';
import type { Problem } from '../../../src/kernel/problem.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { added, changed, column, created, relationCreated } from '../columns.js';

const refused = (sqlstate: string | undefined, where: Pick<Problem, 'collection' | 'field'> = { collection: 't' }) => ({
  code: 'ALREADY_EXISTS' as const,
  message: 'no',
  ...where,
  details: { sqlstate },
});

/** The queried names. */
function ask(problem: Problem, before: NewEvent[], change: NewEvent[]): string[] | string | null {
  const held = follow(initialState(), before);
  const question = queryTakenParts({ problem, before: held, after: follow(held, change), schema: 'public' });
  if (question === null) return null;
  const lists = [...question.matchAll(/(?:conname|relname) IN \(([^)]*)\)/g)].map(([, names = '']) => names);
  expect(new Set(lists).size).to.be.at.most(1);
  return lists[0]?.split(', ') ?? question;
}

describe('names in use', () => {
  it('are recognized from errors about tables, columns and other objects', () => {
    const states = ['42P07', '42710', '42701', '42P01', '23505', undefined];
    expect(states.map(isNameTaken)).to.deep.equal([true, true, true, false, false, false]);
  });

  const table = created('t', [column('t.a', 'integer')]);
  const plain = column('t.a', 'integer');
  const unique = column('t.a', 'integer', { is_unique: true });
  const indexed = column('t.a', 'integer', { is_indexed: true });

  it('include only the names that a change assigns', () => {
    const at = { collection: 't', field: 'a' };
    expect(ask(refused('42P07'), [], [table])).to.deep.equal(["'t_pkey'"]);
    expect(ask(refused('42P07', at), [table], [changed(plain, unique)])).to.deep.equal(["'t_a_unique'"]);
    expect(ask(refused('42P07', at), [table], [changed(plain, indexed)])).to.deep.equal(["'t_a_index'"]);
    expect(ask(refused('42P07', at), [table], [changed(plain, column('t.a', 'text'))])).to.equal(null);
  });

  it('exclude identity sequences, which get another name', () => {
    const [long, key] = ['t'.repeat(40), 'k'.repeat(40)];
    const counting = created(long, [column(`${long}.${key}`, 'integer', { has_auto_increment: true })]);
    expect(ask(refused('42P07', { collection: long }), [], [counting])).to.deep.equal([`'${long}_pkey'`]);
  });

  it('are queried for a foreign key although another part of the table has the name', () => {
    const at = { collection: 't', field: 'a' };
    const relation = relationCreated('t.a', 'other', { constraint_name: 't_pkey' });
    expect(ask(refused('42710', at), [created('other'), table], [relation])).to.deep.equal(["'t_pkey'"]);
    expect(ask(refused('42710', { collection: 't', field: 'b' }), [created('other'), table], [relation])).to.equal(
      null,
    );
  });

  it('are compared with columns for a column', () => {
    const at = { collection: 't', field: 'b' };
    const question = ask(refused('42701', at), [table], [added(column('t.b', 'integer', { is_unique: true }))]);
    expect(question).to.contain("attname = 'b'");
  });

  it('are not queried for other errors or without a table', () => {
    expect(ask(refused('23505'), [], [table])).to.equal(null);
    expect(ask(refused(undefined), [], [table])).to.equal(null);
    expect(ask(refused('42P07', {}), [], [table])).to.equal(null);
    expect(ask(refused('42P07', { collection: 'gone' }), [], [table])).to.equal(null);
  });

  it('are reported with the objects that have them, constraints before their indexes', () => {
    const problem = refused('42P07');
    const constraint = 'constraint of the table';
    expect(addTakenNames(problem, [])).to.equal(problem);
    expect(
      addTakenNames(problem, [
        { name: 'a', kind: 'index' },
        { name: 'a', kind: constraint },
        { name: 'b', kind: constraint },
        { name: 'b', kind: 'index' },
        { name: 'c', kind: 'view' },
        { name: 'c', kind: 'type' },
        { name: 'd', kind: 'enum type' },
      ]),
    ).to.deep.equal({
      ...problem,
      message: `no ("a" is already the name of a ${constraint}; "b" is already the name of a ${constraint}; "c" is already the name of a view; "d" is already the name of an enum type)`,
      details: {
        sqlstate: '42P07',
        taken: [
          { name: 'a', kind: constraint },
          { name: 'b', kind: constraint },
          { name: 'c', kind: 'view' },
          { name: 'd', kind: 'enum type' },
        ],
      },
    });
    expect(['index', 'enum type', 'view', 'table'].map(addArticle)).to.deep.equal([
      'an index',
      'an enum type',
      'a view',
      'a table',
    ]);
  });
});
