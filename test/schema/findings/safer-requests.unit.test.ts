import { expect } from 'chai';
import type { Operation } from 'fast-json-patch';
import { onlineRequest } from '../../../src/schema/findings/rules/common.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { edit, key, table } from './diffs.js';

const WHOLE = { method: 'POST', path: '/schema/apply?online' };

const updated = (...patch: Operation[]): unknown =>
  onlineRequest({
    type: 'field.updated',
    version: 1,
    collection: 'a b',
    field: 'c/d',
    data: { patch },
  } as unknown as NewEvent);

describe('the equivalent online request', () => {
  it('patches a field if whole members change', () => {
    expect(
      updated(
        { op: 'replace', path: '/type', value: 'text' },
        { op: 'replace', path: '/schema/is_nullable', value: false },
        { op: 'add', path: '/schema/comment', value: 'c' },
        { op: 'add', path: '/meta/note', value: 'n' },
      ),
    ).to.deep.equal({
      method: 'PATCH',
      path: '/fields/a%20b/c%2Fd?online',
      body: { type: 'text', schema: { is_nullable: false, comment: 'c' }, meta: { note: 'n' } },
    });
  });

  it('is the whole diff if a member changes inside or is removed', () => {
    expect(updated({ op: 'replace', path: '/meta/options/a', value: 1 })).to.deep.equal(WHOLE);
    expect(updated({ op: 'remove', path: '/schema/comment' })).to.deep.equal(WHOLE);
  });

  it('deletes a field, and creates a relation', () => {
    const deleted = { type: 'field.deleted', version: 1, collection: 'a b', field: 'c/d', data: {} };
    expect(onlineRequest(deleted as unknown as NewEvent)).to.deep.equal({
      method: 'DELETE',
      path: '/fields/a%20b/c%2Fd?online',
    });
    const created = (schema: object | null): unknown =>
      onlineRequest({
        type: 'relation.created',
        version: 1,
        collection: 'a',
        field: 'b',
        data: { relation: { many_collection: 'a', many_field: 'b', one_collection: 'c', schema } },
      } as unknown as NewEvent);
    const path = '/relations?online';
    expect(created({ on_delete: 'CASCADE', constraint_name: 'k' })).to.deep.equal({
      method: 'POST',
      path,
      body: { collection: 'a', field: 'b', related_collection: 'c', schema: { on_delete: 'CASCADE' } },
    });
    expect(created(null)).to.deep.equal({
      method: 'POST',
      path,
      body: { collection: 'a', field: 'b', related_collection: 'c', schema: null },
    });
  });

  it('is the whole diff in all other cases', () => {
    const { after } = edit(initialState(), ({ collections, fields }) => {
      collections.push(table('a'));
      fields.push(key('a'));
    });
    const collection = after.collections.get('a')?.collection;
    const event = { type: 'collection.created', version: 1, collection: 'a', field: null, data: { collection } };
    expect(onlineRequest(event as unknown as NewEvent)).to.deep.equal(WHOLE);
  });
});
