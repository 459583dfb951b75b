import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { withService } from '../support/with-service.js';

const ADULTS = 'CREATE VIEW adults AS\n  SELECT id, name FROM members WHERE age > 17 -- of age';
const TOTALS = 'CREATE MATERIALIZED VIEW "all totals" AS SELECT count(*) AS members FROM members';

const MEMBERS = {
  collection: 'members',
  schema: {},
  fields: [
    { field: 'name', type: 'string', interface: 'input' },
    { field: 'age', type: 'integer', interface: 'input' },
  ],
};

describe('dps objects', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  let folder: string;
  let files = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-objects-'));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => api.ok('POST', '/collections', MEMBERS));

  const environment = () => ({ DPS_URL: service.url, DPS_TOKEN: service.adminToken });
  const objects = (...line: string[]) => dps(['objects', ...line], environment());
  const stored = async () => (await api.ok<{ data: { id: string }[] }>('GET', '/objects')).data.map(({ id }) => id);

  /** Writes a file, and returns its path. */
  async function file(content: string | Buffer): Promise<string> {
    const path = join(folder, `${files++}-object.sql`);
    await writeFile(path, content);
    return path;
  }

  it('creates an object, shows it, changes it, renames it and deletes it', async () => {
    expect(await objects('create', await file(`${ADULTS}\n`))).to.deep.equal({
      code: 0,
      out: 'view:adults was created.',
      err: '',
    });
    expect((await objects('show', 'view:adults')).out).to.equal(ADULTS);
    const changed = 'CREATE VIEW adults AS SELECT id, name FROM members WHERE age > 20';
    expect((await objects('update', 'view:adults', await file(changed))).out).to.equal('view:adults was updated.');
    expect((await objects('show', 'view:adults')).out).to.equal(changed);
    expect((await objects('rename', 'view:adults', 'grown ups')).out).to.equal('view:adults is now view:grown ups.');
    expect(await api.sql('SELECT * FROM "grown ups"')).to.deep.equal([]);
    expect((await objects('delete', 'view:grown ups')).out).to.equal('view:grown ups was deleted.');
    expect((await objects()).out).to.equal('No objects.');
  });

  it('reads a definition from stdin, with a byte order mark', async () => {
    const { code } = await dps(['objects', 'create', '-'], environment(), { stdin: `\uFEFF${TOTALS};\n` });
    expect(code).to.equal(0);
    expect(await stored()).to.deep.equal(['all totals']);
  });

  it('lists objects by kind, name and collection, in the form that the other commands accept', async () => {
    for (const definition of [ADULTS, TOTALS, 'CREATE VIEW one AS SELECT 1 AS one'])
      expect((await objects('create', await file(definition))).code).to.equal(0);
    await api.ok('PATCH', '/objects/view/adults', { comment: 'Of age' });
    const listed = async (...filter: string[]) => (await objects('list', ...filter)).out.split('\n');
    expect(await listed()).to.have.members([
      'object                        comment',
      'view:adults                   Of age',
      'view:one',
      'materialized_view:all totals',
    ]);
    expect(await listed('--collection', 'members', '--kind', 'view')).to.have.length(2);
    expect(await listed('--name', 'one')).to.deep.equal(['object    comment', 'view:one']);
    expect(await listed('--name', 'none')).to.deep.equal(['No objects.']);
    expect((await objects('list', '--kind', 'table')).code).to.equal(2);
    expect((await objects('show', 'materialized_view:all totals')).out).to.equal(TOTALS);
  });

  it('shows the plan of each change with --dry-run, and changes nothing', async () => {
    await objects('create', await file(ADULTS));
    const changed = await file('CREATE VIEW adults AS SELECT name FROM members');
    const planned = [
      await objects('create', await file(TOTALS), '--dry-run'),
      await objects('update', 'view:adults', changed, '--dry-run'),
      await objects('rename', 'view:adults', 'others', '--dry-run'),
      await objects('delete', 'view:adults', '--dry-run'),
    ];
    for (const { code, out } of planned) {
      expect(code).to.equal(0);
      expect(out).to.include('PostgreSQL accepts it.');
    }
    expect(await stored()).to.deep.equal(['adults']);
    expect((await objects('show', 'view:adults')).out).to.equal(ADULTS);
    const rejected = await objects(
      'create',
      await file('CREATE VIEW broken AS SELECT nothing FROM members'),
      '--dry-run',
    );
    expect(rejected.code).to.equal(2);
    expect(rejected.out).to.include('nothing');
  });

  it('sends the reason and acknowledgements', async () => {
    const line = ['create', await file(ADULTS), '--reason', 'for the start page'];
    const unmatched = await objects(...line, '--acknowledge', 'LOSES_DATA:members');
    expect(unmatched.code).to.equal(2);
    expect(unmatched.err).to.include('no finding matches the acknowledgement "LOSES_DATA:members"');
    expect(await stored()).to.deep.equal([]);
    expect((await objects(...line)).code).to.equal(0);
    const { data } = await api.ok<{ data: { reason: string }[] }>('GET', '/history/batches?limit=1');
    expect(data[0]?.reason).to.equal('for the start page');
  });

  it('rejects invalid names, files and definitions, and names what is wrong', async () => {
    await objects('create', await file(ADULTS));
    const errorOf = async (...line: string[]) => {
      const { code, out, err } = await objects(...line);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      return err;
    };
    for (const name of ['adults', 'table:adults', 'view:'])
      expect(await errorOf('show', name)).to.include(`"${name}" does not name an object. Write view:NAME`);
    expect(await errorOf('show', 'view:none')).to.include('view "none" does not exist');
    expect(await errorOf('create', join(folder, 'none.sql'))).to.include('none.sql cannot be read');
    expect(await errorOf('create', await file('DROP TABLE members'))).to.include('object.sql: the definition must');
    expect(await errorOf('create', await file(Buffer.from([0x43, 0xff])))).to.include('object.sql is not UTF-8 text');
    expect(await errorOf('create', await file(ADULTS))).to.include('view "adults" already exists');
    expect(await errorOf('update', 'view:adults', await file(TOTALS))).to.include('definition');
    expect(await stored()).to.deep.equal(['adults']);
  });

  it('finds and applies a snapshot that differs only in an object', async () => {
    await objects('create', await file(ADULTS));
    const snapshot = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
    const objectsAfter = snapshot.objects.map((object) => ({ ...object, comment: 'Of age' }));
    const desired = await file(JSON.stringify({ ...snapshot, objects: objectsAfter }));
    const difference = await dps(['diff', desired], environment());
    expect(difference).to.include({ code: 1, out: '~ view adults: comment' });
    expect((await dps(['apply', desired, '--yes'], environment())).code).to.equal(0);
    expect((await objects('list')).out).to.include('Of age');
    expect((await dps(['history', 'diff', 'now'], environment())).code).to.equal(0);
  });
});

describe('dps objects with OBJECTS=off', () => {
  const { service } = withService();

  it('names the setting', async () => {
    const { code, out, err } = await dps(['objects'], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    expect({ code, out }).to.deep.equal({ code: 2, out: '' });
    expect(err).to.include('set OBJECTS=on to manage them');
  });
});
