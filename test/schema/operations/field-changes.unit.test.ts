import { expect } from 'chai';
import { attempt } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { KEY, alias, column, stateOf } from '../invariants/states.js';

const STATE = stateOf({
  a: {
    fields: [KEY, column('b'), column('c'), alias('al'), column('made', 'integer', { generation_expression: 'id' })],
  },
  keyless: { fields: [column('x'), column('y')] },
});
const problemsOf = (result: ReturnType<typeof attempt>): string[] =>
  result.ok
    ? []
    : result.problems.map(
        ({ path = '', message, code }) => `${path}: ${message}${code === 'INVALID_PAYLOAD' ? '' : ` (${code})`}`,
      );
const one = (field: string, body: object, collection = 'a'): string[] =>
  problemsOf(attempt(STATE, 'update-fields', { collection, field, body, concurrentIndexes: false }));
const several = (body: object[], collection = 'a', state = STATE): string[] =>
  problemsOf(attempt(state, 'update-fields', { collection, body, concurrentIndexes: false }));
const key = (field: string, is_primary_key: boolean) => ({ field, schema: { is_primary_key } });

describe('field changes', () => {
  it('do not convert between column and alias, or between kinds of values', () => {
    const again = '; delete it and create it again';
    expect(one('al', { type: 'integer', schema: {} })).to.deep.equal([
      `schema.data_type: field "al" is an alias field and cannot become a column${again}`,
    ]);
    expect(one('al', { type: 'integer' })).to.deep.equal([
      `type: field "al" is an alias field and cannot become a column${again}`,
    ]);
    expect(one('b', { type: 'alias', schema: null })).to.deep.equal([
      `type: field "b" is a column and cannot become an alias field${again}`,
    ]);
    const own = `stores its own values and cannot become a generated column${again}`;
    expect(one('b', { schema: { generation_expression: 'id' } })).to.deep.equal([
      `schema.generation_expression: field "b" ${own}`,
    ]);
    expect(several([{ field: 'c' }, { field: 'b', schema: { generation_expression: 'id' } }])).to.deep.equal([
      `[1].schema.generation_expression: field "b" ${own}`,
    ]);
    expect(one('made', { schema: { generation_expression: 'id + 1' } })).to.deep.equal([]);
    expect(one('made', { schema: { generation_expression: null } })).to.deep.equal([]);
  });

  it('are rejected for fields and collections that do not exist', () => {
    const gone = 'field "gone" of collection "a" does not exist (NOT_FOUND)';
    expect(one('gone', {})).to.deep.equal([`: ${gone}`]);
    expect(several([{ field: 'b' }, { field: 'gone' }])).to.deep.equal([`[1].field: ${gone}`]);
    expect(several([], 'nowhere')).to.deep.equal([': collection "nowhere" does not exist (NOT_FOUND)']);
    expect(several([], 'service_users')[0]).to.match(/\(FORBIDDEN\)$/);
  });

  it('move the primary key within a request, and never leave none or two', () => {
    const single = '"id" is the primary key of "a"; make another field the primary key in the same request (IN_USE)';
    expect(one('id', { schema: { is_primary_key: false } })).to.deep.equal([`schema.is_primary_key: ${single}`]);
    expect(several([{ field: 'b' }, key('id', false)])).to.deep.equal([`[1].schema.is_primary_key: ${single}`]);
    expect(several([key('id', false), key('b', true)])).to.deep.equal([]);
    const second = (field: string, first: string, source: string) =>
      `field "${field}" cannot be the primary key of collection "${source}": field "${first}" is its primary key, and a collection has one. Send is_primary_key false for "${field}", or move the key from "${first}" in the same request`;
    expect(several([key('c', true), key('b', true)])).to.deep.equal([
      `[1].schema.is_primary_key: ${second('b', 'id', 'a')}`,
      `[0].schema.is_primary_key: ${second('c', 'id', 'a')}`,
    ]);
    expect(several([key('y', true), key('x', true)], 'keyless')).to.deep.equal([
      `[0].schema.is_primary_key: ${second('y', 'x', 'keyless')}`,
    ]);
    expect(several([key('id', false), key('b', true), key('c', true)])).to.deep.equal([
      `[2].schema.is_primary_key: ${second('c', 'b', 'a')}`,
    ]);
  });

  it('must agree with the relation about a foreign key', () => {
    const library = withRelations();
    const author = (schema: object) => several([{ field: 'author', schema }], 'articles', library);
    expect(author({ foreign_key_table: 'authors', foreign_key_column: 'id' })).to.deep.equal([]);
    const must = (member: string, now: string | null) =>
      `[0].schema.${member}: ${member} must be ${JSON.stringify(now)} or omitted: the relation of the field determines it`;
    expect(author({ foreign_key_table: 'tags', foreign_key_column: null })).to.deep.equal([
      must('foreign_key_table', 'authors'),
      must('foreign_key_column', 'id'),
    ]);
    expect(several([{ field: 'b', schema: { foreign_key_table: 'keyless' } }])).to.deep.equal([
      must('foreign_key_table', null),
    ]);
    expect(several([{ field: 'b', schema: { foreign_key_table: null, foreign_key_column: null } }])).to.deep.equal([]);
  });
});
