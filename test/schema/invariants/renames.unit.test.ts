import { expect } from 'chai';
import { renameProblems } from '../../../src/schema/invariants/names.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { NO_RENAMES, type Renames } from '../../../src/schema/transition/renames.js';
import { follow } from '../../support/given.js';
import { shownProblem } from '../../support/answers.js';
import { eventsOfEdit, column, key, table } from '../findings/diffs.js';

const STATE: State = follow(
  initialState(),
  eventsOfEdit(initialState(), ({ collections, fields }) => {
    collections.push(
      table('days', { partition_by: 'RANGE (id)' }),
      table('day', { partition_of: { table: 'days', bound: "FOR VALUES FROM ('1') TO ('2')" } }),
      table('plain'),
    );
    for (const name of ['days', 'day', 'plain']) {
      fields.push(
        { ...key(name), schema: { ...(key(name).schema as object), has_auto_increment: false } },
        column(name, 'title', 'string'),
        { collection: name, field: 'notice', type: 'alias', meta: { interface: 'x' }, schema: null },
      );
    }
  }),
);

describe('valid renames', () => {
  const problems = (
    fields: Record<string, Record<string, string>>,
    unwritten: Parameters<typeof renameProblems>[2] = [],
  ) => {
    const renames: Renames = {
      ...NO_RENAMES,
      fields: new Map(Object.entries(fields).map(([name, names]) => [name, new Map(Object.entries(names))])),
    };
    return renameProblems(STATE, renames, unwritten).map(shownProblem);
  };

  it('rename the columns of partitions with the parent', () => {
    // In the state after them, new names exist.
    expect(problems({ day: { was: 'title' } })).to.deep.equal([
      'IN_USE | day.title | a partition must have the columns of "days": rename the column there too',
    ]);
    expect(problems({ day: { was: 'title' }, days: { was: 'title' } })).to.deep.equal([]);
    expect(problems({ day: { was: 'title' }, days: { other: 'title' } })).to.have.length(1);
    expect(problems({ days: { was: 'title' }, plain: { was: 'title' } })).to.deep.equal([]);
  });

  it('are free for objects without a column, and for missing objects', () => {
    expect(problems({ day: { was: 'notice' }, none: { was: 'title' } })).to.deep.equal([]);
    expect(problems({ day: { was: 'nothing' } })).to.deep.equal([]);
  });

  it('leave no text with an old name', () => {
    const message = 'this SQL may contain a renamed name, and the service cannot rewrite it: change or remove it first';
    expect(
      problems({}, [
        { collection: 'plain', path: ['schema', 'extras'] },
        { collection: 'plain', field: 'title', path: ['schema'] },
      ]),
    ).to.deep.equal([`IN_USE | plain | ${message}`, `IN_USE | plain.title | ${message}`]);
  });
});
