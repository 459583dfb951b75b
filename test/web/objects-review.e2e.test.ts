import { expect } from 'chai';
import { expectAccessible, withApp } from '../support/app.js';

const TITLES = 'CREATE VIEW titles AS\nSELECT title\nFROM articles';
const LONG = "CREATE VIEW titles AS\nSELECT title\nFROM articles\nWHERE title <> '\u200b'";
const SHORT = 'CREATE VIEW titles AS\nSELECT title AS title\nFROM articles';
const UNTICKED = 'CREATE VIEW unticked AS SELECT id FROM articles';
const WORDS = 'CREATE VIEW words AS SELECT id FROM articles';

interface Snapshot {
  objects: { kind: string; id: string; definition: string; comment: string | null }[];
}

describe('changes to views in a review of the admin app', () => {
  const app = withApp({ settings: { OBJECTS: 'on' } });
  const definitions = async (): Promise<[string, string][]> =>
    (await app.api.ok<Snapshot>('GET', '/schema/snapshot')).objects.map(({ id, definition }) => [id, definition]);

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await app.api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields });
    await app.api.ok('POST', '/objects', { kind: 'view', definition: TITLES });
    await app.api.ok('PUT', '/policy', { author_may_approve: true });
    const snapshot = await app.api.ok<Snapshot>('GET', '/schema/snapshot');
    const objects = [
      { kind: 'view', id: 'titles', definition: LONG, comment: 'Not empty' },
      { kind: 'view', id: 'words', definition: WORDS, comment: null },
    ];
    const diff = await app.api.ok<object>('POST', '/schema/diff', { ...snapshot, objects });
    await app.api.ok('POST', '/changes', { title: 'Better views', diff });
  });

  it('show the definition by line with hidden characters as escapes in a change request, which can be applied', async () => {
    const page = await app.visit({ path: '/review' });
    await page.getByRole('link', { name: /Better views/ }).click();
    const lines = page.getByRole('group', { name: 'definition by line' });
    await lines.waitFor();
    expect((await lines.locator('div').allTextContents()).filter((line) => !line.startsWith(' '))).to.deep.equal([
      String.raw`after: + WHERE title <> '\u{200b}'`,
    ]);
    await page.getByRole('article', { name: 'view words' }).waitFor();
    expect(await page.locator('body').textContent()).not.to.contain('\u200b');
    await expectAccessible(page);
    await page
      .getByRole('button')
      .filter({ hasText: /^Apply$/ })
      .click();
    await page.getByText('This request is applied.').waitFor();
    expect(await definitions()).to.deep.equal([
      ['titles', LONG],
      ['words', WORDS],
    ]);
  });

  it('are left out if they are not ticked', async () => {
    const snapshot = await app.api.ok<Snapshot>('GET', '/schema/snapshot');
    const titles = { kind: 'view', id: 'titles', definition: SHORT, comment: null };
    const objects = [titles, { kind: 'view', id: 'unticked', definition: UNTICKED, comment: null }];
    const page = await app.visit({ path: '/review' });
    await page.getByLabel('Snapshot file').setInputFiles({
      name: 'snapshot.json',
      mimeType: 'text/plain',
      buffer: Buffer.from(JSON.stringify({ ...snapshot, objects })),
    });
    await page.getByRole('checkbox', { name: 'Include: view unticked' }).uncheck();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await definitions()).to.deep.include.members([['titles', SHORT]]);
    expect((await definitions()).map(([id]) => id)).not.to.include('unticked');
  });
});
