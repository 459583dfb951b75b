import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { mergeStates } from '../../../src/schema/merge/merge-states.js';
import { type MergeLocation, type Resolution, describeLocation } from '../../../src/schema/merge/model.js';
import type { SchemaObject } from '../../../src/schema/model/object-document.js';
import { objectsInOrder } from '../../../src/schema/model/order.js';
import type { State } from '../../../src/schema/model/state.js';
import { accept } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

const NAMES = 'CREATE VIEW names AS SELECT id, name FROM authors';
const TOTALS = 'CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS count FROM authors';
const ONE = { name: 'totals_one', definition: 'USING btree (count)' };
const TWO = { name: 'totals_two', definition: 'USING btree (count)' };

const created = (state: State, body: object): State => accept(state, 'create-object', { body });
const BASE = [
  { kind: 'view', definition: NAMES },
  { kind: 'materialized_view', definition: TOTALS },
].reduce(created, withRelations());

const change = (body: object, id = 'names', state = BASE): State => {
  const kind = id === 'names' ? 'view' : 'materialized_view';
  return accept(state, 'update-object', { kind, id, body });
};
const define = (definition: string): State => change({ definition });
const rename = (to: string, state = BASE): State =>
  accept(state, 'rename-object', { kind: 'view', id: 'names', body: { to } });
const drop = (state = BASE): State => accept(state, 'delete-object', { kind: 'view', id: 'names' });

const merge = (ours: State, theirs: State, resolutions: Resolution[] = []) =>
  runToEnd(mergeStates({ base: BASE, ours, theirs }, { resolutions }));

function views(ours: State, theirs: State, resolutions: Resolution[] = []): SchemaObject[] {
  const merged = merge(ours, theirs, resolutions);
  if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
  expect(merged.unused).to.deep.equal([]);
  return objectsInOrder(merged.state).filter(({ kind }) => kind === 'view');
}

/** Each conflict with its location. */
function conflicts(ours: State, theirs: State): string[] {
  const merged = merge(ours, theirs);
  return merged.kind === 'merged'
    ? []
    : merged.conflicts.map(({ kind, place, message }) => `${kind} ${describeLocation(place)}: ${message}`);
}

const VIEW: MergeLocation = { part: 'objects', kind: 'view', id: 'names' };
const SHORT = 'CREATE VIEW names AS SELECT id FROM authors';
const LONG = 'CREATE VIEW names AS SELECT id, name, id + 1 AS next FROM authors';

describe('a merge of functions', () => {
  const base = created(BASE, { kind: 'function', definition: 'CREATE FUNCTION f(a integer) RETURNS integer RETURN a' });
  const existing = { kind: 'function', id: 'f(integer)' };
  const redefined = (body: string): State =>
    accept(base, 'update-object', {
      ...existing,
      body: { definition: `CREATE FUNCTION f(a integer) RETURNS integer RETURN ${body}` },
    });
  const renamed = accept(base, 'rename-object', { ...existing, body: { to: 'Of g' } });
  const mergeAll = (ours: State, theirs: State) => runToEnd(mergeStates({ base, ours, theirs }, { resolutions: [] }));

  it('applies a definition to a function that the other side renamed', () => {
    const merged = mergeAll(renamed, redefined('a + 1'));
    if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
    const functions = objectsInOrder(merged.state).filter(({ kind }) => kind === 'function');
    expect(functions).to.deep.equal([
      {
        kind: 'function',
        id: '"Of g"(integer)',
        definition: 'CREATE FUNCTION "Of g"(a integer) RETURNS integer RETURN a + 1',
        comment: null,
      },
    ]);
  });

  it('reports different definitions as a conflict, and keeps functions with different argument types apart', () => {
    const merged = mergeAll(redefined('a + 1'), redefined('a + 2'));
    const places = merged.kind === 'conflicts' ? merged.conflicts.map(({ place }) => describeLocation(place)) : [];
    expect(places).to.deep.equal(['function "f(integer)", definition']);
    const other = created(base, { kind: 'function', definition: 'CREATE FUNCTION f(a text) RETURNS text RETURN a' });
    expect(mergeAll(redefined('a + 1'), other).kind).to.equal('merged');
  });
});

describe('a merge of rules', () => {
  const KEEP = 'CREATE RULE keep AS ON DELETE TO authors DO INSTEAD NOTHING';
  const base = created(BASE, { kind: 'rule', definition: KEEP });
  const keep = { kind: 'rule', id: 'keep on authors' };
  const changed = (body: object): State => accept(base, 'update-object', { ...keep, body });
  const mergeAll = (ours: State, theirs: State) => runToEnd(mergeStates({ base, ours, theirs }, { resolutions: [] }));

  it('follows the rename of the table, and combines the enabled state with a comment', () => {
    const renamed = accept(changed({ enabled: 'always' }), 'rename-collection', {
      collection: 'authors',
      body: { to: 'people' },
    });
    const merged = mergeAll(renamed, changed({ comment: 'Keeps' }));
    if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
    expect(objectsInOrder(merged.state).filter(({ kind }) => kind === 'rule')).to.deep.equal([
      {
        kind: 'rule',
        id: 'keep on people',
        definition: KEEP.replace('authors', 'people'),
        comment: 'Keeps',
        enabled: 'always',
      },
    ]);
  });

  it('finds a conflict in two definitions and in two enabled states', () => {
    const other = KEEP.replace('DELETE', 'UPDATE');
    const merged = mergeAll(
      changed({ definition: other, enabled: 'always' }),
      changed({ definition: KEEP.replace('INSTEAD', 'ALSO'), enabled: 'replica' }),
    );
    const places = merged.kind === 'conflicts' ? merged.conflicts.map(({ place }) => describeLocation(place)) : [];
    expect(places).to.deep.equal(['rule "keep on authors", definition', 'rule "keep on authors", enabled']);
  });
});

describe('a merge of privileges', () => {
  const SELECT = { name: 'SELECT' };
  const base = created(BASE, { kind: 'privileges', id: 'editors on authors', definition: [SELECT] });
  const existing = { kind: 'privileges', id: 'editors on authors' };
  const changed = (definition: object[]): State => accept(base, 'update-object', { ...existing, body: { definition } });
  const mergeAll = (ours: State, theirs: State) => runToEnd(mergeStates({ base, ours, theirs }, { resolutions: [] }));

  it('combines the privileges of both sides, and follows the rename of the table', () => {
    const renamed = accept(changed([SELECT, { name: 'DELETE' }]), 'rename-collection', {
      collection: 'authors',
      body: { to: 'people' },
    });
    const merged = mergeAll(
      renamed,
      changed([
        { ...SELECT, grantable: true },
        { name: 'UPDATE', columns: ['name'] },
      ]),
    );
    if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
    expect(objectsInOrder(merged.state).filter(({ kind }) => kind === 'privileges')).to.deep.equal([
      {
        kind: 'privileges',
        id: 'editors on people',
        definition: [{ name: 'DELETE' }, { ...SELECT, grantable: true }, { name: 'UPDATE', columns: ['name'] }],
        comment: null,
      },
    ]);
  });

  it('follows the rename of a function, which the other side revokes from PUBLIC', () => {
    const half = `CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'`;
    const granted = { kind: 'privileges', id: 'editors on half(integer)', definition: [{ name: 'EXECUTE' }] };
    const base = created(created(BASE, { kind: 'function', definition: half }), granted);
    const ours = accept(base, 'rename-object', { kind: 'function', id: 'half(integer)', body: { to: 'part' } });
    const theirs = created(base, { kind: 'privileges', id: 'public on half(integer)', definition: [] });
    const merged = runToEnd(mergeStates({ base, ours, theirs }, { resolutions: [] }));
    if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
    const all = objectsInOrder(merged.state).filter(({ kind }) => !kind.endsWith('view'));
    expect(all.map(({ id }) => id)).to.deep.equal([
      'part(integer)',
      'editors on part(integer)',
      'public on part(integer)',
    ]);
  });

  it('finds a conflict in two lists of columns', () => {
    const [ours, theirs] = ['id', 'name'].map((column) => changed([{ ...SELECT, columns: [column] }])) as [
      State,
      State,
    ];
    const merged = mergeAll(ours, theirs);
    const places = merged.kind === 'conflicts' ? merged.conflicts.map(({ place }) => describeLocation(place)) : [];
    expect(places).to.deep.equal(['privileges "editors on authors", definition.SELECT.columns']);
  });
});

describe('a merge of views', () => {
  it('applies what one side changed, created or deleted', () => {
    expect(views(BASE, define(SHORT))).to.have.nested.property('[0].definition', SHORT);
    expect(views(define(SHORT), BASE)).to.have.nested.property('[0].definition', SHORT);
    expect(views(BASE, drop())).to.deep.equal([]);
    expect(views(drop(), BASE)).to.deep.equal([]);
    const other = created(BASE, { kind: 'view', definition: 'CREATE VIEW ids AS SELECT id FROM authors' });
    expect(views(define(SHORT), other).map(({ id }) => id)).to.deep.equal(['ids', 'names']);
    expect(views(other, other).map(({ id }) => id)).to.deep.equal(['ids', 'names']);
  });

  it('applies changes of both sides to different members and different indexes', () => {
    expect(views(define(SHORT), change({ comment: 'Names' }))).to.deep.equal([
      { kind: 'view', id: 'names', definition: SHORT, comment: 'Names' },
    ]);
    const merged = merge(change({ indexes: [ONE] }, 'totals'), change({ indexes: [TWO] }, 'totals'));
    const [totals] = merged.kind === 'merged' ? objectsInOrder(merged.state).filter(({ id }) => id === 'totals') : [];
    expect(totals?.indexes).to.deep.equal([ONE, TWO]);
  });

  it('applies a change to a view that the other side renamed', () => {
    const [view] = views(rename('people'), change({ comment: 'Names' }));
    expect([view?.id, view?.comment]).to.deep.equal(['people', 'Names']);
    const [redefined] = views(define(SHORT), rename('people'));
    expect([redefined?.id, redefined?.definition]).to.deep.equal([
      'people',
      'CREATE VIEW people AS SELECT id FROM authors',
    ]);
  });

  it('treats definitions that differ only in spelling as one', () => {
    expect(conflicts(define(SHORT), define(`-- short\n${SHORT.toLowerCase()}`))).to.deep.equal([]);
    expect(views(define(SHORT), define(SHORT.toLowerCase()))).to.have.nested.property('[0].definition', SHORT);
  });

  it('reports different definitions as a conflict that names the view, and applies the chosen one', () => {
    expect(conflicts(define(SHORT), define(LONG))).to.deep.equal([
      'changed view "names", definition: both changed it differently',
    ]);
    const place: MergeLocation = { ...VIEW, path: ['definition'] };
    expect(views(define(SHORT), define(LONG), [{ place, take: 'theirs' }])[0]?.definition).to.equal(LONG);
    expect(views(define(SHORT), define(LONG), [{ place: VIEW, take: 'ours' }])[0]?.definition).to.equal(SHORT);
  });

  it('reports a view that one side deleted and the other changed, renamed or created again', () => {
    const place = 'removed view "names"';
    expect(conflicts(drop(), define(SHORT))).to.deep.equal([`${place}: ours deleted it, and theirs changed it`]);
    expect(conflicts(define(SHORT), drop())).to.deep.equal([`${place}: theirs deleted it, and ours changed it`]);
    expect(views(drop(), define(SHORT), [{ place: VIEW, take: 'theirs' }])[0]?.definition).to.equal(SHORT);
    expect(views(drop(), define(SHORT), [{ place: VIEW, take: 'ours' }])).to.deep.equal([]);
    const again = created(drop(), { kind: 'view', definition: LONG });
    expect(conflicts(again, define(SHORT))).to.deep.equal([
      `${place}: ours deleted it and created another one with the same name, and theirs changed it`,
    ]);
  });

  it('reports different new names, and one name for two views', () => {
    expect(conflicts(rename('people'), rename('persons'))).to.deep.equal([
      'renamed view "names", id: both sides renamed it differently',
    ]);
    const place: MergeLocation = { ...VIEW, path: ['id'] };
    expect(views(rename('people'), rename('persons'), [{ place, take: 'theirs' }])[0]?.id).to.equal('persons');
    const other = created(BASE, { kind: 'view', definition: 'CREATE VIEW people AS SELECT id FROM authors' });
    expect(conflicts(rename('people'), other)).to.deep.equal([
      'name_taken view "people", id: both sides gave this name to different objects',
    ]);
  });

  it('reports a name that the other side gave to a collection', () => {
    const table = accept(BASE, 'create-collection', {
      body: { collection: 'people', schema: {} },
      concurrentIndexes: false,
    });
    expect(conflicts(table, rename('people'))).to.deep.equal([
      'invalid view "people": the merged schema is not valid: "people" is already the name of a collection: choose another name',
    ]);
  });

  it('keeps a new name of a trigger together with a new name of its table', () => {
    const definition = 'CREATE TRIGGER mark AFTER INSERT ON authors EXECUTE FUNCTION mark()';
    const base = created(BASE, { kind: 'trigger', definition });
    const named = accept(base, 'rename-object', { kind: 'trigger', id: 'mark on authors', body: { to: 'stamp' } });
    const moved = accept(base, 'rename-collection', { collection: 'authors', body: { to: 'writers' } });
    for (const [ours, theirs] of [
      [named, moved],
      [moved, named],
    ] as const) {
      const merged = runToEnd(mergeStates({ base, ours, theirs }));
      if (merged.kind === 'conflicts') throw new Error(JSON.stringify(merged.conflicts));
      expect(objectsInOrder(merged.state).filter(({ kind }) => kind === 'trigger')).to.deep.equal([
        {
          kind: 'trigger',
          id: 'stamp on writers',
          definition: 'CREATE TRIGGER stamp AFTER INSERT ON writers EXECUTE FUNCTION mark()',
          comment: null,
          enabled: 'origin',
        },
      ]);
    }
  });

  it('reports a trigger that one side changed and whose table the other side deleted', () => {
    const definition = 'CREATE TRIGGER mark AFTER INSERT ON authors EXECUTE FUNCTION mark()';
    const base = created(withRelations(), { kind: 'trigger', definition });
    const disabled = accept(base, 'update-object', {
      kind: 'trigger',
      id: 'mark on authors',
      body: { enabled: 'disabled' },
    });
    const without = accept(base, 'delete-collection', { collection: 'authors' });
    expect([...without.objects.keys()]).to.deep.equal([]);
    const merged = runToEnd(mergeStates({ base, ours: disabled, theirs: without }));
    expect(merged.kind).to.equal('conflicts');
  });
});
