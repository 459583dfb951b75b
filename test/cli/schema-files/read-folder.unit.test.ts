import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { documentsOf, writeLock } from '../../../src/cli/schema-files/contents.js';
import { parseLocation } from '../../../src/cli/schema-files/merge-files.js';
import { listNames, readLockIn, readSchemaFiles } from '../../../src/cli/schema-files/read-folder.js';

const POSTS = `collection: posts
meta:
  note: n
schema: {}
fields:
  - field: id
    type: integer
  - field: author
    type: integer
relations:
  - many_field: author
    one_collection: people
`;

const LOCK = { hash: 'h', position: '42-0123abcd', release: '0.1.0' };

describe('a folder of schema files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-folder-'));
    await mkdir(join(folder, 'collections'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const refusal = async (): Promise<string> => {
    const fault = await readSchemaFiles(folder).catch((error: unknown) => error);
    return fault instanceof Error ? `${fault.name}: ${fault.message.replaceAll(folder, 'FOLDER')}` : 'it was read';
  };
  /** The error for one file. */
  const refused = async (text: string, name = 'posts.yaml'): Promise<string> => {
    await put(`collections/${name}`, text);
    const output = await refusal();
    await rm(join(folder, 'collections', name));
    return output.replace('OperatorError: collections/', '');
  };

  it('contains the parts of a snapshot, each with its location', async () => {
    await put('collections/posts.yaml', POSTS);
    await put('collections/%41.yaml', 'collection: A\nfields: []\nrelations: []\n');
    await put('collections/README.md', 'left alone');
    await put('dps.lock', writeLock(LOCK));
    const { parts, lock, placeOf } = await readSchemaFiles(folder);
    expect(parts).to.deep.equal({
      collections: [{ collection: 'A' }, { collection: 'posts', meta: { note: 'n' }, schema: {} }],
      fields: [
        { collection: 'posts', field: 'id', type: 'integer' },
        { collection: 'posts', field: 'author', type: 'integer' },
      ],
      relations: [{ many_collection: 'posts', many_field: 'author', one_collection: 'people' }],
    });
    expect(lock).to.deep.equal(LOCK);
    const places: [path: (string | number)[], place: string | null][] = [
      [['collections', 0], 'collections/%41.yaml:1'],
      [['collections', 1, 'meta', 'note'], 'collections/posts.yaml:3'],
      [['fields', 1], 'collections/posts.yaml:8'],
      [['fields', 1, 'type'], 'collections/posts.yaml:9'],
      [['relations', 0, 'one_collection'], 'collections/posts.yaml:12'],
      [['fields', 2], null],
      [['others', 0], null],
    ];
    for (const [path, place] of places) expect(placeOf(path), path.join('.')).to.equal(place);
  });

  it('is empty if it does not exist, and has no lock if there is none', async () => {
    await rm(join(folder, 'collections'), { recursive: true });
    expect(await listNames(folder, 'collections')).to.deep.equal([]);
    expect(await readLockIn(folder)).to.equal(null);
    const { parts, lock } = await readSchemaFiles(folder);
    expect([parts, lock]).to.deep.equal([{ collections: [], fields: [], relations: [] }, null]);
  });

  it('is rejected with file and line for contradictory content', async () => {
    for (const [text, expected] of [
      ['[]', 'posts.yaml:1: the file must contain a collection with its fields and relations.'],
      ['text', 'posts.yaml:1: the file must contain a collection with its fields and relations.'],
      ['fields: []', 'posts.yaml:1: collection is required and must be the name of the collection.'],
      ['fields: []\ncollection: 7', 'posts.yaml:2: collection is required and must be the name of the collection.'],
      ['\ncollection: Posts', 'posts.yaml:2: the file of "Posts" must be named collections/%50osts.yaml.'],
      [
        `${POSTS}more: 1\n`,
        'posts.yaml:13: unknown member "more"; known members: collection, renamed_from, meta, schema, fields, relations.',
      ],
      ['collection: posts\nrelations: []', 'posts.yaml:1: fields is required and must be a list; write [] for none.'],
      [
        'collection: posts\nfields: {}\nrelations: []',
        'posts.yaml:2: fields is required and must be a list; write [] for none.',
      ],
      ['collection: posts\nfields: []', 'posts.yaml:1: relations is required and must be a list; write [] for none.'],
      ['collection: posts\nrelations: []\nfields:\n  - {}\n  - x', 'posts.yaml:5: must be an object.'],
      [
        'collection: posts\nrelations: []\nfields:\n  - field: a\n    collection: other',
        'posts.yaml:5: fields and relations of another collection belong in the file of that collection.',
      ],
      [
        'collection: posts\nfields: []\nrelations:\n  - many_collection: other',
        'posts.yaml:4: fields and relations of another collection belong in the file of that collection.',
      ],
      [
        'collection: &a posts\nfields: []\nrelations: *a',
        'posts.yaml:3: YAML aliases (*name) are not supported. Write the value out.',
      ],
    ] as const) {
      expect(await refused(text), text).to.equal(expected);
    }
    for (const line of ['\n', '\r\n']) {
      const conflict = [
        'collection: posts',
        '<<<<<<< HEAD',
        'fields: []',
        '=======',
        'fields: [x]',
        '>>>>>>> theirs',
        '',
      ];
      expect(await refused(conflict.join(line))).to.equal(
        'posts.yaml:2: it contains a merge conflict marker, "<<<<<<<": resolve the conflict first (line 2, column 1).',
      );
    }
    expect(await refused('a: b\n c: d: e')).to.match(/^posts\.yaml:2: .*\(line 2, column \d+\)\.$/);
    expect(await refused(POSTS, 'other.yml')).to.equal(
      'other.yml:1: the file of "posts" must be named collections/posts.yaml.',
    );
    const same = POSTS.replace('- many_field', '- many_collection: posts\n    many_field').replace(
      '- field: id',
      '- field: id\n    collection: posts',
    );
    expect(await refused(same)).to.equal('it was read');
  });

  it('is rejected if a file is not regular text, is too large, or is outside the folder', async () => {
    await mkdir(join(folder, 'collections', 'posts.yaml'));
    expect(await refusal()).to.equal('OperatorError: collections/posts.yaml is not a regular file. Nothing was read.');
    await rm(join(folder, 'collections', 'posts.yaml'), { recursive: true });
    await writeFile(join(folder, 'collections', 'posts.yaml'), Buffer.from([0xff]));
    expect(await refusal()).to.equal('OperatorError: collections/posts.yaml:1: the file is not valid UTF-8 text.');
    await put('collections/posts.yaml', POSTS);
    await put('dps.lock', '#'.repeat(65_537));
    expect(await refusal()).to.equal('OperatorError: dps.lock:1: the file has 65537 bytes, but the limit is 65536.');
    for (const [lock, expected] of [
      ['', /^dps\.lock is not valid YAML: .+\.$/],
      ['a: b: c', /^dps\.lock is not valid YAML: .+\.$/],
      ['{}', /^dps\.lock was not written by "dps pull"\. Run "dps pull" again\.$/],
      ['null', /^dps\.lock was not written by "dps pull"/],
      ['hash: h\nposition: 1-x\nrelease: r', /^dps\.lock was not written by/],
      ['hash: 1\nposition: 1\nrelease: r', /^dps\.lock was not written by/],
      ['hash: h\nposition: 1\nrelease: 1', /^dps\.lock was not written by/],
    ] as const) {
      await put('dps.lock', lock);
      expect((await refusal()).replace('OperatorError: ', ''), lock).to.match(expected);
    }
    await put('dps.lock', 'hash: h\nposition: 7\nrelease: r');
    expect(await readLockIn(folder)).to.deep.equal({ hash: 'h', position: '7', release: 'r' });
    await symlink('/etc/hostname', join(folder, 'collections', 'out.yaml'));
    expect(await refusal()).to.equal(
      'OperatorError: collections/out.yaml is a link to a file outside FOLDER, which dps does not follow.',
    );
  });
});

describe('the documents of schema files', () => {
  it('leave out derived members, and are keyed by collection', () => {
    const meta = { collection: 'b', note: 'n' };
    const documents = documentsOf({
      collections: [
        { collection: 'b', meta, schema: { name: 'b', comment: null } },
        { collection: 'a', meta: null, schema: null },
      ],
      fields: [
        {
          collection: 'b',
          field: 'f',
          meta: { collection: 'b', field: 'f', id: 1 },
          schema: {
            name: 'f',
            table: 'b',
            is_generated: false,
            foreign_key_table: null,
            foreign_key_column: null,
            data_type: 'text',
          },
        },
      ],
      relations: [{ id: 3, many_collection: 'b', many_field: 'f', one_collection: 'a' }],
    });
    expect([...documents]).to.deep.equal([
      ['a', { collection: 'a', meta: null, schema: null, fields: [], relations: [] }],
      [
        'b',
        {
          collection: 'b',
          meta: { note: 'n' },
          schema: { comment: null },
          fields: [{ field: 'f', meta: { id: 1 }, schema: { data_type: 'text' } }],
          relations: [{ many_field: 'f', one_collection: 'a' }],
        },
      ],
    ]);
  });

  it('are found through the locations in errors', () => {
    for (const [path, steps] of [
      ['theirs.fields[2]["a b"]', ['theirs', 'fields', 2, 'a b']],
      ['a-1.$b', ['a-1', '$b']],
      [String.raw`["a\"]"][0]`, ['a"]', 0]],
      ['', []],
    ] as const) {
      expect(parseLocation(path), path).to.deep.equal(steps);
    }
  });
});
