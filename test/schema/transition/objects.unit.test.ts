import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { objectsInOrder } from '../../../src/schema/model/order.js';
import type { State } from '../../../src/schema/model/state.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { accept, follow, table } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

const create = (state: State, kind: string, definition: string): State =>
  accept(state, 'create-object', { body: { kind, definition } });

describe('a transition to a new object with the name of a renamed one', () => {
  const MARK = 'CREATE TRIGGER mark AFTER INSERT ON authors EXECUTE FUNCTION mark()';
  const STAMP = 'CREATE TRIGGER mark AFTER INSERT ON authors EXECUTE FUNCTION stamp()';
  const NAMES = 'CREATE VIEW names AS SELECT id, name FROM authors';

  const withTrigger = create(withRelations(), 'trigger', MARK);
  const replacedTable = accept(
    accept(withTrigger, 'rename-collection', { collection: 'authors', body: { to: 'writers' } }),
    'create-collection',
    table('authors'),
  );
  const withView = create(withRelations(), 'view', NAMES);
  const renamedView = accept(withView, 'rename-object', { kind: 'view', id: 'names', body: { to: 'all_names' } });

  const cases: [title: string, from: State, to: State][] = [
    ['creates the trigger of a replaced table', withTrigger, create(replacedTable, 'trigger', MARK)],
    ['creates another trigger on a replaced table', withTrigger, create(replacedTable, 'trigger', STAMP)],
    ['creates the view again', withView, create(renamedView, 'view', NAMES)],
    ['creates another view', withView, create(renamedView, 'view', 'CREATE VIEW names AS SELECT name FROM authors')],
  ];
  for (const [title, from, to] of cases)
    for (const [direction, before, after] of [
      ['', from, to],
      [', and deletes it in the opposite direction', to, from],
    ] as const)
      it(title + direction, () => {
        const touched = new Set([...before.collections.keys(), ...after.collections.keys()]);
        const reached = follow(before, runToEnd(transition(before, after, touched)));
        expect(objectsInOrder(reached)).to.deep.equal(objectsInOrder(after));
      });
});
