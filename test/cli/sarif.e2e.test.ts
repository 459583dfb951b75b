import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../support/client.js';
import { type Ran, dps } from '../support/dps.js';
import { sarifSchema } from '../support/sarif.js';
import { withService } from '../support/with-service.js';

interface Result {
  ruleId: string;
  level: string;
  locations?: { physicalLocation?: { artifactLocation: { uri: string }; region: { startLine: number } } }[];
}

const NAMES = ['plain', 'A "quoted", one', 'é 100%', 'a/../b', '<b>'];

describe('SARIF of a folder', () => {
  const { service, client } = withService();
  const validate = sarifSchema();
  let directory: string;

  const run = (...args: string[]): Promise<Ran> => dps(args, { DPS_URL: service.url, DPS_TOKEN: service.adminToken });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-sarif-'));
    const field = { field: 'title', type: 'string', interface: 'input' };
    const created = await client(
      '/collections',
      json(NAMES.map((name) => ({ collection: name, schema: {}, fields: [field] }))),
    );
    expect(created.status, created.text).to.equal(200);
    expect((await run('pull', directory)).code).to.equal(0);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  async function results(command: 'plan' | 'lint', code: number): Promise<Result[]> {
    const { code: ended, out, err } = await run(command, directory, '--format', 'sarif');
    expect([ended, err], command).to.deep.equal([code, '']);
    const log = JSON.parse(out) as { runs: { results: Result[] }[] };
    expect(validate(log), JSON.stringify(validate.errors)).to.equal(true);
    return log.runs[0]?.results ?? [];
  }

  it('has no result if nothing changes', async () => {
    expect(await results('plan', 0)).to.deep.equal([]);
    expect(await results('lint', 0)).to.deep.equal([]);
  });

  /** The file of a result; the line is that of the field. */
  async function fileOf({ locations: [location] = [] }: Result): Promise<string> {
    const { artifactLocation, region } = location?.physicalLocation ?? expect.fail('no place');
    const file = decodeURIComponent(new URL(artifactLocation.uri).pathname);
    expect((await readFile(file, 'utf8')).split('\n')[region.startLine - 1]).to.match(/^ {2}- field: title$/);
    return file;
  }

  it('names file and line of every change except removals', async () => {
    const [gone = '', ...files] = (await readdir(join(directory, 'collections'))).map((name) =>
      join(directory, 'collections', name),
    );
    for (const file of files) {
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace(/(field: title[^]*?)is_nullable: true/, '$1is_nullable: false'));
    }
    await rm(gone);
    const planned = await results('plan', 1);
    expect(await results('lint', 1)).to.deep.equal(planned);
    const [lost, others] = [true, false].map((is) => planned.filter(({ ruleId }) => (ruleId === 'LOSES_DATA') === is));
    expect(lost?.map(({ locations }) => locations?.[0]?.physicalLocation)).to.deep.equal([undefined]);
    const named = new Set<string>();
    for (const result of others ?? []) named.add(await fileOf(result));
    expect([...named].sort()).to.deep.equal(files.sort());
  });

  it('uses the exit codes 0 for no changes, 1 for changes, 2 for errors, 3 for the policy', async () => {
    expect((await run('plan', directory)).code).to.equal(1);
    expect((await run('plan', join(directory, 'nowhere'))).code).to.equal(2);
    expect((await run('plan', directory, '--format', 'xml')).code).to.equal(2);

    for (const action of ['refuse', 'approve', 'acknowledge']) {
      const { status, text } = await client('/policy', json({ findings: { LOSES_DATA: action } }, 'PUT'));
      expect(status, text).to.equal(200);
      const planned = await run('plan', directory);
      expect([planned.code, planned.out.includes('LOSES_DATA')], planned.err + planned.out).to.deep.equal([3, true]);
      const before = (await client('/schema/snapshot')).text;
      const pushed = await run('push', directory, '--yes', ...NAMES.flatMap((name) => ['--allow-drop', name]));
      expect([pushed.code, (pushed.out + pushed.err).includes('LOSES_DATA')]).to.deep.equal([3, true]);
      expect((await client('/schema/snapshot')).text).to.equal(before);
    }
    expect((await client('/policy', json({}, 'PUT'))).status).to.equal(200);
    expect((await run('plan', directory)).code).to.equal(1);
  });
});
