import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { NO_RENAMES, withRenames } from '../../../src/schema/transition/renames.js';
import { LIBRARY } from './trashed.js';

/** Contains texts that cannot be rewritten, which only the log of another program can contain. */
function createUnreadableState(): State {
  const node = LIBRARY.collections.get('articles') as CollectionNode;
  const status = node.fields.get('status');
  if (status?.schema == null) throw new Error('no status');
  const extras = {
    primary_key: { name: 'k', columns: ['title'], definition: 'PRIMARY KEY (title' },
    constraints: [
      { name: 'a', definition: 'CHECK ((rank > 0))' },
      { name: 'b', definition: 'CHECK ((title +' },
    ],
    indexes: [{ name: 'c', definition: 'USING btree ((title +' }],
    partition_by: 'RANGE ((title +',
  };
  const fields = new Map(node.fields);
  fields.set('status', { ...status, schema: { ...status.schema, generation_expression: 'title +' } });
  const collection = { ...node.collection, schema: { comment: null, extras } } as CollectionNode['collection'];
  return { ...LIBRARY, collections: LIBRARY.collections.set('articles', { ...node, collection, fields }) };
}

describe('texts that cannot be rewritten', () => {
  const unwritten = (renames: Parameters<typeof withRenames>[1]): string[] =>
    runToEnd(withRenames(createUnreadableState(), renames)).unwritten.map(
      ({ collection, field, path }) => `${collection}${field === undefined ? '' : `.${field}`} ${path.join('.')}`,
    );

  it('are reported by location if they mention the name', () => {
    const title = new Map([['articles', new Map([['title', 'headline']])]]);
    expect(unwritten({ ...NO_RENAMES, fields: title })).to.deep.equal([
      'articles schema.extras.primary_key.definition',
      'articles schema.extras.constraints.1.definition',
      'articles schema.extras.indexes.0.definition',
      'articles schema.extras.partition_by',
      'articles.status schema.generation_expression',
    ]);
    const author = new Map([['articles', new Map([['author', 'writer']])]]);
    expect(unwritten({ ...NO_RENAMES, fields: author })).to.deep.equal([]);
  });
});
