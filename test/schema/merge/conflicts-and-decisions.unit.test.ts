import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { mergeStates } from '../../../src/schema/merge/merge-states.js';
import {
  type MergeConflict,
  type MergeLocation,
  type Resolution,
  decisionsOf,
  describeLocation,
} from '../../../src/schema/merge/model.js';
import type { State } from '../../../src/schema/model/state.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { accept } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

type Step = { [N in OperationName]: [N, InputOf<N>] }[OperationName];
const renameTable = (collection: string, to: string): Step => ['rename-collection', { collection, body: { to } }];
const rename = (collection: string, field: string, to: string): Step => [
  'rename-field',
  { collection, field, body: { to } },
];
const drop = (collection: string): Step => ['delete-collection', { collection }];
const dropField = (collection: string, field: string): Step => ['delete-field', { collection, field }];
const note = (collection: string, text: string): Step => [
  'update-collection',
  { collection, body: { meta: { note: text } } },
];
const change = (collection: string, field: string, body: object): Step => [
  'update-fields',
  { collection, field, body, concurrentIndexes: false },
];
const add = (collection: string, field: string, type: string, more: object = {}): Step => [
  'create-field',
  { collection, body: { field, type, interface: 'input', ...more }, concurrentIndexes: false },
];
const make = (collection: string): Step => [
  'create-collection',
  { body: { collection, schema: {} }, concurrentIndexes: false },
];

const BASE = withRelations();
const after = (...steps: Step[]): State =>
  steps.reduce((state, [name, input]) => accept(state, name, input as never), BASE);

function merged(ours: State, theirs: State, resolutions: Resolution[] = []): State {
  const result = runToEnd(mergeStates({ base: BASE, ours, theirs }, { resolutions }));
  if (result.kind === 'conflicts') throw new Error(JSON.stringify(result.conflicts));
  expect(result.unused).to.deep.equal([]);
  return result.state;
}

function conflicts(ours: State, theirs: State): MergeConflict[] {
  const result = runToEnd(mergeStates({ base: BASE, ours, theirs }));
  return result.kind === 'conflicts' ? result.conflicts : [];
}

/** Each conflict with its location and value names. */
const describeConflicts = (ours: State, theirs: State): string[] =>
  conflicts(ours, theirs).map(({ kind, place, message, ...values }) => {
    const shown = Object.keys(values).join(' ');
    return `${kind} ${describeLocation(place)}: ${message} (${shown})`;
  });

const tables = (state: State): string[] => [...state.collections.keys()].sort();
const fields = (state: State, collection: string): string[] =>
  [...(state.collections.get(collection)?.fields.keys() ?? [])].sort();
const resolveWith = (side: 'ours' | 'theirs', place: MergeLocation): Resolution[] => [{ place, take: side }];
const tableName = (collection: string): MergeLocation => ({ part: 'collections', collection, path: ['collection'] });
const fieldName = (collection: string, field: string): MergeLocation => ({
  part: 'fields',
  collection,
  field,
  path: ['field'],
});

describe('names in a merge', () => {
  it('take a new name from either side, or from both if they agree', () => {
    const [posts, same] = [after(renameTable('articles', 'posts')), after(renameTable('articles', 'posts'))];
    expect(tables(merged(posts, BASE))).to.deep.equal(tables(posts));
    expect(tables(merged(BASE, posts))).to.deep.equal(tables(posts));
    expect(tables(merged(posts, same))).to.deep.equal(tables(posts));
    const swapped = after(
      rename('articles', 'author', 'x'),
      rename('articles', 'parent', 'author'),
      rename('articles', 'x', 'parent'),
    );
    expect(merged(BASE, swapped).collections.get('articles')?.relations.get('parent')?.one_collection).to.equal(
      'authors',
    );
    expect(merged(swapped, BASE).collections.get('articles')?.relations.get('parent')?.one_collection).to.equal(
      'authors',
    );
  });

  it('conflict for tables and fields if they differ, until one is chosen', () => {
    const [ours, theirs] = [after(renameTable('articles', 'posts')), after(renameTable('articles', 'texts'))];
    expect(conflicts(ours, theirs)).to.deep.equal([
      {
        kind: 'renamed',
        place: tableName('articles'),
        message: 'both sides renamed it differently',
        base: 'articles',
        ours: 'posts',
        theirs: 'texts',
      },
    ]);
    expect(tables(merged(ours, theirs, resolveWith('ours', tableName('articles')))))
      .to.include('posts')
      .and.not.include('texts');
    expect(tables(merged(ours, theirs, resolveWith('theirs', tableName('articles')))))
      .to.include('texts')
      .and.not.include('posts');
    const [one, other] = [after(rename('tags', 'id', 'key')), after(rename('tags', 'id', 'no'))];
    expect(conflicts(one, other)).to.deep.equal([
      {
        kind: 'renamed',
        place: fieldName('tags', 'id'),
        message: 'both sides renamed it differently',
        base: 'id',
        ours: 'key',
        theirs: 'no',
      },
    ]);
    expect(fields(merged(one, other, resolveWith('theirs', fieldName('tags', 'id'))), 'tags')).to.deep.equal([
      'articles',
      'no',
    ]);
  });

  it('conflict if two objects get the same name, and former names are shown', () => {
    const [ours, theirs] = [after(renameTable('articles', 'x')), after(renameTable('authors', 'x'))];
    expect(conflicts(ours, theirs)).to.deep.equal([
      {
        kind: 'name_taken',
        place: tableName('x'),
        message: 'both sides gave this name to different objects',
        base: 'x',
        ours: 'articles',
        theirs: 'authors',
      },
    ]);
    const taken = tables(merged(ours, theirs, resolveWith('theirs', tableName('x'))));
    expect(taken).to.include.members(['articles', 'x']).and.not.include('authors');
    expect(tables(merged(ours, theirs, resolveWith('ours', tableName('x'))))).to.include.members(['authors', 'x']);
  });

  it('conflict between a rename and a new object', () => {
    const [ours, theirs] = [after(renameTable('articles', 'x')), after(make('x'))];
    const shown = {
      kind: 'name_taken',
      place: tableName('x'),
      message: 'both sides gave this name to different objects',
      base: 'x',
    };
    expect(conflicts(ours, theirs)).to.deep.equal([{ ...shown, ours: 'articles' }]);
    expect(conflicts(theirs, ours)).to.deep.equal([{ ...shown, theirs: 'articles' }]);
    const [one, other] = [after(rename('comments', 'item', 'x')), after(add('comments', 'x', 'integer'))];
    const inField = { ...shown, place: fieldName('comments', 'x') };
    expect(conflicts(one, other)).to.deep.equal([{ ...inField, ours: 'item' }]);
    expect(conflicts(other, one)).to.deep.equal([{ ...inField, theirs: 'item' }]);
  });

  it('are free if the other side removed their object', () => {
    const [ours, theirs] = [after(drop('comments'), renameTable('tags', 'comments')), BASE];
    expect(tables(merged(ours, theirs))).to.deep.equal(tables(ours));
    expect(tables(merged(theirs, ours))).to.deep.equal(tables(ours));
    const [one, other] = [after(dropField('articles', 'author'), rename('articles', 'parent', 'author')), BASE];
    expect(fields(merged(one, other), 'articles')).to.deep.equal(['author', 'id', 'tags']);
    expect(fields(merged(other, one), 'articles')).to.deep.equal(['author', 'id', 'tags']);
    // Unless it was changed there: then it is a conflict.
    const changed = after(note('comments', 'read'));
    expect(describeConflicts(ours, changed)).to.deep.equal([
      'name_taken collection comments, collection: both sides gave this name to different objects (base ours)',
    ]);
    const retyped = after(change('articles', 'author', { meta: { note: 'who' } }));
    expect(describeConflicts(one, retyped)).to.deep.equal([
      'name_taken field articles.author, field: both sides gave this name to different objects (base ours)',
    ]);
  });

  it('are matched under the new one of the other side', () => {
    const [ours, theirs] = [after(renameTable('articles', 'posts')), after(note('articles', 'n'))];
    for (const state of [merged(ours, theirs), merged(theirs, ours)]) {
      expect(state.collections.get('posts')?.collection.meta.note).to.equal('n');
      expect(state.collections.has('articles')).to.equal(false);
    }
    const [one, other] = [
      after(rename('articles', 'author', 'who')),
      after(change('articles', 'author', { meta: { note: 'n' } })),
    ];
    for (const state of [merged(one, other), merged(other, one)])
      expect(state.collections.get('articles')?.fields.get('who')?.meta.note).to.equal('n');
  });
});

describe('documents in a merge', () => {
  const noted = (text: string) => after(note('tags', text));
  const place: MergeLocation = { part: 'collections', collection: 'tags', path: ['meta', 'note'] };

  it('conflict if both changed a member differently', () => {
    expect(conflicts(noted('a'), noted('b'))).to.deep.equal([
      { kind: 'changed', place, message: 'both changed it differently', base: null, ours: 'a', theirs: 'b' },
    ]);
    const noteIn = (state: State) => state.collections.get('tags')?.collection.meta.note;
    expect(noteIn(merged(noted('a'), noted('b'), resolveWith('ours', place)))).to.equal('a');
    expect(noteIn(merged(noted('a'), noted('b'), resolveWith('theirs', place)))).to.equal('b');
    const whole: MergeLocation = { part: 'collections', collection: 'tags' };
    expect(noteIn(merged(noted('a'), noted('b'), resolveWith('ours', whole)))).to.equal('a');
    expect(noteIn(merged(noted('a'), noted('b'), resolveWith('theirs', whole)))).to.equal('b');
  });

  it('conflict if one side removed what the other changed', () => {
    const [gone, changed] = [after(drop('comments')), after(note('comments', 'n'))];
    expect(describeConflicts(gone, changed)).to.deep.equal([
      'removed collection comments: ours deleted it, and theirs changed it (base theirs)',
    ]);
    expect(describeConflicts(changed, gone)).to.deep.equal([
      'removed collection comments: theirs deleted it, and ours changed it (base ours)',
    ]);
    const again = after(drop('comments'), make('comments'));
    expect(describeConflicts(again, changed)).to.deep.equal([
      'removed collection comments: ours deleted it and created another one with the same name, and theirs changed it (base ours theirs)',
    ]);
    const whole: MergeLocation = { part: 'collections', collection: 'comments' };
    expect(tables(merged(gone, changed, resolveWith('ours', whole)))).not.to.include('comments');
    expect(tables(merged(gone, changed, resolveWith('theirs', whole)))).to.include('comments');
    const [without, typed] = [
      after(dropField('articles', 'parent')),
      after(change('articles', 'parent', { meta: { note: 'n' } })),
    ];
    expect(describeConflicts(without, typed)).to.deep.equal([
      'removed field articles.parent: ours deleted it, and theirs changed it (base theirs)',
    ]);
    expect(describeConflicts(typed, without)).to.deep.equal([
      'removed field articles.parent: theirs deleted it, and ours changed it (base ours)',
    ]);
  });

  it('treat the members of a type as one', () => {
    const text = (schema: object, type = 'string') => add('tags', 'x', type, { schema });
    const [base, ours, theirs] = [text({ max_length: 9 }), { max_length: 10 }, { type: 'text', schema: {} }];
    const made = after(base);
    const of = (body: object) =>
      accept(made, 'update-fields', { collection: 'tags', field: 'x', body, concurrentIndexes: false });
    const result = (mine: object, other: object, resolutions: Resolution[] = []) =>
      runToEnd(mergeStates({ base: made, ours: of(mine), theirs: of(other) }, { resolutions }));
    const unit = { data_type: 'character varying', numeric_precision: null, numeric_scale: null };
    const conflict = result({ schema: ours }, theirs);
    expect(conflict.kind === 'conflicts' && conflict.conflicts).to.deep.equal([
      {
        kind: 'changed',
        place: { part: 'fields', collection: 'tags', field: 'x', path: ['type'] },
        message: 'both changed it differently',
        base: { type: 'string', ...unit, max_length: 9 },
        ours: { type: 'string', ...unit, max_length: 10 },
        theirs: { type: 'text', ...unit, data_type: 'text', max_length: null },
      },
    ]);
    const typeIn = (side: 'ours' | 'theirs') => {
      const decided = result(
        { schema: ours },
        theirs,
        resolveWith(side, { part: 'fields', collection: 'tags', field: 'x', path: ['type'] }),
      );
      const field = decided.kind === 'merged' ? decided.state.collections.get('tags')?.fields.get('x') : undefined;
      return [field?.type, field?.schema?.data_type, field?.schema?.max_length];
    };
    expect(typeIn('ours')).to.deep.equal(['string', 'character varying', 10]);
    expect(typeIn('theirs')).to.deep.equal(['text', 'text', null]);
    // Outside the type, members are merged individually.
    const both = result({ schema: { is_nullable: false } }, theirs);
    const field = both.kind === 'merged' ? both.state.collections.get('tags')?.fields.get('x') : undefined;
    expect(field?.schema).to.include({ data_type: 'text', is_nullable: false });
  });

  it('conflict where they form an invalid schema, with both sides shown', () => {
    const [ours, theirs] = [
      after(['update-collection', { collection: 'tags', body: { meta: { group: 'authors' } } }]),
      after(['update-collection', { collection: 'authors', body: { meta: { group: 'tags' } } }]),
    ];
    const [first] = conflicts(ours, theirs);
    expect(first).to.have.all.keys('kind', 'place', 'message', 'base', 'ours', 'theirs');
    expect(first?.kind).to.equal('invalid');
    expect(first?.message).to.match(/^the merged schema is not valid: /);
    expect(first?.place.part).to.equal('collections');
    expect(first?.place).not.to.have.property('field');
  });
});

describe('decisions in a merge', () => {
  it('are matched by location, and unmatched ones are reported', () => {
    const places: MergeLocation[] = [
      { part: 'collections', collection: 'a' },
      { part: 'fields', collection: 'a', field: 'x' },
      { part: 'fields', collection: 'a', field: 'x', path: ['meta', 'note'] },
      { part: 'relations', collection: 'a', field: 'x' },
      { part: 'collections', collection: 'b', path: ['meta', 'note'] },
      { part: 'fields', collection: 'b', field: 'y', path: [] },
    ];
    const decisions = (side: 'ours' | 'theirs' = 'theirs') =>
      decisionsOf(places.map((place) => ({ place, take: side })));
    const unusedAfter = (...asked: MergeLocation[]): number[] => {
      const made = decisions();
      for (const place of asked) expect(made.at(place)).to.equal('theirs');
      return made.unused();
    };
    expect(unusedAfter()).to.deep.equal([0, 1, 2, 3, 4, 5]);
    // Locations below a resolved one need no resolution.
    expect(unusedAfter(places[0] as MergeLocation)).to.deep.equal([4, 5]);
    expect(unusedAfter(places[1] as MergeLocation)).to.deep.equal([0, 3, 4, 5]);
    expect(unusedAfter(places[2] as MergeLocation)).to.deep.equal([0, 1, 3, 4, 5]);
    expect(unusedAfter(places[3] as MergeLocation)).to.deep.equal([0, 1, 2, 4, 5]);
    expect(unusedAfter({ part: 'fields', collection: 'b', field: 'y' }), 'no path is the whole').to.deep.equal([
      0, 1, 2, 3, 4,
    ]);
    expect(decisions().at({ part: 'collections', collection: 'c' })).to.equal(undefined);
    expect(decisions().at({ part: 'fields', collection: 'a', field: 'x', path: ['meta'] })).to.equal(undefined);
    expect(decisionsOf([]).at(places[0] as MergeLocation)).to.equal(undefined);
  });

  it('are reported at most a hundred times', () => {
    const many = Array.from({ length: 150 }, (_, index) => ({
      place: { part: 'collections', collection: `c${index}` } as const,
      take: 'ours' as const,
    }));
    expect(decisionsOf(many).unused()).to.deep.equal(Array.from({ length: 100 }, (_, index) => index));
  });

  it('are described by their object', () => {
    expect(describeLocation({ part: 'collections', collection: 'a' })).to.equal('collection a');
    expect(describeLocation({ part: 'fields', collection: 'a', field: 'x', path: [] })).to.equal('field a.x');
    expect(describeLocation({ part: 'relations', collection: 'a', field: 'x', path: ['schema', 0] })).to.equal(
      'relation a.x, schema[0]',
    );
  });
});
