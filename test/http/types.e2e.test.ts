/** GET /schema/types: compiled, evaluated and used, for any names. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { z } from 'zod';
import { json } from '../support/client.js';
import { ROOT } from '../support/documents.js';
import { dps } from '../support/dps.js';
import { withService } from '../support/with-service.js';

const USE = `
import { createDirectus, readItems, rest } from '@directus/sdk';
import type { Schema } from './schema.js';
const client = createDirectus<Schema>('http://127.0.0.1').with(rest());
export async function titles(): Promise<string[]> {
  const books = await client.request(readItems('books', { fields: ['title', { author: ['name'] }] }));
  return books.map((book) => book.title + (book.author?.name ?? ''));
}
// @ts-expect-error: there is no such field
export const wrong = () => client.request(readItems('books', { fields: ['titel'] }));
export const author: Schema['books'][number]['pages'] = null;
`;

describe('type definitions', () => {
  const { service, client } = withService();
  // Inside the project, so that packages are found.
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(ROOT, 'node_modules/.types-'));
    const text = (field: string, more: object = {}) => ({ field, type: 'string', interface: 'input', ...more });
    const named = { ...text('name'), meta: { note: '*/ process.exit(1) /* \n\u2028 `${1}`' } };
    const collections = [
      { collection: 'authors', schema: {}, fields: [named] },
      {
        collection: 'books',
        schema: {},
        note: 'What we */ read',
        fields: [
          text('title', { schema: { is_nullable: false } }),
          { field: 'pages', type: 'integer', interface: 'input' },
          { field: 'author', type: 'integer', interface: 'input' },
          { field: 'price', type: 'decimal', interface: 'input' },
          { field: 'tags', type: 'csv', interface: 'input' },
        ],
      },
      {
        collection: '__proto__',
        schema: {},
        fields: [text('constructor'), text('a"b'), text('__proto__'), text("it's")],
      },
      { collection: 'class', schema: {}, fields: [text('await')] },
      { collection: 'a b', schema: {} },
      { collection: 'a_b', schema: {} },
      { collection: '*/', schema: {} },
      { collection: 'a folder', schema: null },
    ];
    expect((await client('/collections', json(collections))).status).to.equal(200);
    await client('/fields/authors', json({ field: 'books', type: 'alias', interface: 'list-o2m', schema: null }));
    const relation = { many_collection: 'books', many_field: 'author', one_collection: 'authors', one_field: 'books' };
    expect((await client('/relations', json(relation))).status).to.equal(200);
  });

  after(() => rm(directory, { recursive: true, force: true }));

  const typesIn = async (lang: string, more = ''): Promise<string> => {
    const answer = await client(`/schema/types?lang=${lang}${more}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  };

  it("TypeScript types compile strictly and type the SDK's requests", async () => {
    await writeFile(join(directory, 'schema.ts'), await typesIn('ts'));
    await writeFile(join(directory, 'use.ts'), USE);
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
    ];
    const child = spawn(join(ROOT, 'node_modules/.bin/tsc'), [...options, '--types', '', 'use.ts'], { cwd: directory });
    const [output, [code]] = await Promise.all([textOf(child.stdout), once(child, 'close') as Promise<[number]>]);
    expect(code, output).to.equal(0);
  });

  it('zod schemas accept valid items and reject others', async () => {
    await writeFile(join(directory, 'zod.ts'), await typesIn('zod'));
    const outfile = join(directory, 'zod.mjs');
    await build({
      entryPoints: [join(directory, 'zod.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    });
    const { schemas } = (await import(pathToFileURL(outfile).href)) as { schemas: Record<string, z.ZodType> };
    expect(Object.keys(schemas)).to.have.members(['authors', 'books', '__proto__', 'class', 'a b', 'a_b', '*/']);
    const book = { id: 1, title: 'A', pages: null, author: { name: 'B' }, price: '1.50', tags: ['x'] };
    const { books } = schemas as { books: z.ZodType };
    expect(books.safeParse(book).success).to.equal(true);
    expect(books.safeParse({ ...book, title: null }).success).to.equal(false);
    expect(books.safeParse({ ...book, pages: '7' }).success).to.equal(false);
  });

  it('JSON Schemas are valid and agree with zod', async () => {
    const text = await typesIn('json-schema');
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    ajv.addSchema({ $id: 'schema', ...(JSON.parse(text) as object) });
    const judge = (item: object): unknown => ajv.validate('schema#/$defs/books', item);
    const book = { id: 1, title: 'A', pages: null, author: 3, price: 1.5, tags: null };
    expect(judge(book), ajv.errorsText()).to.equal(true);
    expect(judge({ ...book, title: null })).to.equal(false);
    expect(judge({ ...book, tags: [1] })).to.equal(false);
    expect(
      ajv.validate('schema#/$defs/__proto__', {
        id: 1,
        constructor: 'a',
        'a"b': null,
        "it's": null,
        ...(JSON.parse('{"__proto__": "x"}') as object),
      }),
    ).to.equal(true);
  });

  it('are equal for the same schema, start with its hash, and are checked in CI', async () => {
    const hash = (await client('/schema/snapshot')).headers.get('etag')?.replaceAll('"', '') ?? '';
    for (const lang of ['ts', 'zod', 'json-schema']) {
      const [first = ''] = (await typesIn(lang)).split('\n');
      expect(first).to.contain(hash);
      expect(await typesIn(lang, '&at=0')).not.to.contain('books');
    }
    const run = (...args: string[]) => dps(['types', ...args], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    const file = join(directory, 'checked.ts');
    expect((await run('--check')).code).to.equal(2);
    expect((await run('--output', file, '--check')).code).to.equal(1);
    expect((await run('--output', file)).code).to.equal(0);
    expect((await run('--output', file, '--check')).code).to.equal(0);
    await client('/fields/class', json({ field: 'more', type: 'string', interface: 'input' }));
    expect((await run('--output', file, '--check')).code).to.equal(1);
    for (const query of ['lang=go', 'at=soon', 'more=1'])
      expect((await client(`/schema/types?${query}`)).status, query).to.equal(400);
    expect((await client('/schema/types?at=100000')).status).to.equal(404);
  });
});
