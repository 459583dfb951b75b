/** State.indexNames is maintained incrementally, so it is compared with the fields. */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { expect } from 'chai';
import { Draft } from '../../../src/schema/transition/draft.js';
import { evolve } from '../../../src/schema/fold/evolve.js';
import { renameIndexes } from '../../../src/schema/fold/replace-names.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { column, created } from '../../projector/columns.js';

const messagesOf = ({ collections }: State) =>
  renameIndexes(
    initialState().indexNames,
    [...collections].map(([collection, after]) => ({ collection, before: undefined, after })),
  );

const indexed = (name: string, index_name?: string) =>
  column(name, 'integer', { is_indexed: true, ...(index_name !== undefined && { extras: { index_name } }) });

describe('index names of a state', () => {
  const start = evolve(initialState(), { ...created('t', [indexed('a'), indexed('b', 'mine')]), position: 1 });

  /** By a draft and by its events. */
  const expectNames = (edit: (draft: Draft) => void, names: object): void => {
    const draft = new Draft(start);
    edit(draft);
    const desired = draft.toState();
    expect(desired.indexNames.toObject()).to.deep.equal(names);
    let state = start;
    for (const event of runToEnd(transition(start, desired, draft.touched))) {
      state = evolve(state, { ...event, position: state.position + 1 });
      expect(state.indexNames.equals(messagesOf(state))).to.equal(true);
    }
    expect(state.indexNames.toObject()).to.deep.equal(names);
  };

  it('are those of the fields', () => {
    expect(start.indexNames.toObject()).to.deep.equal({ t_a_index: 't', mine: 't' });
    expectNames((draft) => draft.removeField('t', 'a'), { mine: 't' });
    expectNames((draft) => draft.putField(column('a', 'integer')), { mine: 't' });
    expectNames((draft) => draft.putField(indexed('c')), { t_a_index: 't', mine: 't', t_c_index: 't' });
    expectNames((draft) => draft.removeCollection('t'), {});
  });

  it('may move between fields and collections', () => {
    expectNames(
      (draft) => {
        draft.putField(indexed('a', 'mine'));
        draft.putField(column('b', 'integer'));
      },
      { mine: 't' },
    );
    expectNames(
      (draft) => {
        draft.putCollection({ ...start.collections.get('t')!.collection, collection: 'other' });
        draft.putField({ ...indexed('z', 'mine'), collection: 'other' });
        draft.removeField('t', 'b');
      },
      { t_a_index: 't', mine: 'other' },
    );
  });
});
