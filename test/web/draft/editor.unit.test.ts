import { expect } from 'chai';
import { draftDiff } from '../../../src/web/draft/diff.js';
import { DraftEditor, draftedExtras } from '../../../src/web/draft/editor.js';
import { EMPTY } from '../../../src/web/draft/model.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import type { Collection } from '../../../src/schema/model/model.js';

const index = (name: string, column: string) => ({ name, definition: `USING btree (${column})` });
const AT: TableExtras = { indexes: [index('one', 'a'), index('two', 'b')] };

/** As lists contain it, without extras. */
const LISTED = { collection: 'articles', meta: { note: null }, schema: { comment: null } } as unknown as Collection;
const atHead = (extras: TableExtras | undefined) => ({
  position: 1,
  hash: '',
  collections: [{ ...LISTED, schema: { comment: null, ...(extras && { extras }) } }],
  fields: [],
  relations: [],
  objects: [],
});

describe('the extras of a table in a draft', () => {
  const edit = () => new DraftEditor(EMPTY, { collections: [LISTED], fields: [], relations: [], objects: [] });

  it('differ only by their change, even if the draft changed the table before', () => {
    const editor = edit();
    editor.put('collections', { ...LISTED, meta: { ...LISTED.meta, note: 'drafted' } });
    editor.putExtras('articles', AT, { indexes: [index('one', 'a')] });
    const { diff, conflicts } = draftDiff(editor.draft, atHead(AT));
    expect(conflicts).to.deep.equal([]);
    const paths = diff.collections.flatMap((each) => each.diff.map((entry) => (entry as { path: string[] }).path));
    expect(paths.map((path) => path.join('.')).sort()).to.deep.equal(['meta.note', 'schema.extras.indexes']);
  });

  it('stay removed when the last index is removed, and when another edit follows', () => {
    const editor = edit();
    editor.putExtras('articles', AT, { indexes: [] });
    expect(draftedExtras(editor.draft, 'articles', AT)).to.deep.equal({});
    const table = editor.collection('articles');
    if (table === undefined) throw new Error('the table is missing');
    editor.put('collections', { ...table, meta: { ...table.meta, note: 'later' } });
    expect(draftedExtras(editor.draft, 'articles', AT)).to.deep.equal({});
    expect(draftDiff(editor.draft, atHead(AT)).conflicts).to.deep.equal([]);
  });

  it('are added to a table without extras', () => {
    const editor = edit();
    expect(draftedExtras(editor.draft, 'articles', {})).to.deep.equal({});
    editor.putExtras('articles', {}, AT);
    expect(draftedExtras(editor.draft, 'articles', {})).to.deep.equal(AT);
    const { diff, conflicts } = draftDiff(editor.draft, atHead(undefined));
    expect([conflicts.length, diff.collections.length]).to.deep.equal([0, 1]);
  });
});
