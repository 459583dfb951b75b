/** Ten steps of a real project as commits, transferred from one service to another. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { type Ran, dps } from '../support/dps.js';
import { expectConsistent } from '../support/consistent.js';
import { type TestService, startService } from '../support/service.js';
import { locationText } from '../../src/schema/model/location.js';
import { corpusIsThere, historyFiles } from './corpus.js';
import { type Documents, documentsIn, filesOf, git, writeDocuments } from './folders.js';
import { applyStep, conflictsBetween, mergedBetween } from './three-ways.js';

interface Entry {
  kind: string;
  path?: [];
  lhs?: { schema: object | null };
}

interface Plan {
  diff: Record<'collections' | 'fields', { collection: string; field?: string; diff: Entry[] }[]>;
}

const run = (service: TestService, ...args: string[]): Promise<Ran> =>
  dps(args, { DPS_URL: service.url, DPS_TOKEN: service.adminToken });

describe('ten steps of a real project in Git', function () {
  this.timeout(240_000);
  let work: string;
  let repository: string;
  let laptop: TestService;
  let production: TestService;

  before(async function () {
    if (!corpusIsThere()) {
      process.stdout.write('    no real schemas (CORPUS names their folder): skipped\n');
      this.skip();
    }
    work = mkdtempSync(join(tmpdir(), 'dps-history-'));
    repository = join(work, 'repository');
    mkdirSync(repository);
    git(repository, 'init', '--quiet', '--initial-branch', 'main');
    [laptop, production] = await Promise.all([startService(), startService()]);
  });

  after(async () => {
    await Promise.all([laptop?.stop(), production?.stop()]);
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  });

  /** Applies a step on the author's service. */
  async function author(text: string): Promise<void> {
    const send = clientOf(laptop);
    const headers = { 'content-type': 'application/yaml' };
    const diff = await send('/schema/diff?force', { method: 'POST', headers, body: text });
    expect(diff.status, diff.text.slice(0, 1000)).to.equal(200);
    expect((await send('/schema/apply', json(diff.json))).status).to.equal(204);
  }

  /** Dropped tables and columns. Columns of a dropped table need no name. */
  const losses = ({ diff }: Plan): string[] => {
    const gone = (each: Plan['diff']['fields'][number]): boolean =>
      each.diff.some(({ kind, path = [], lhs }) => kind === 'D' && path.length === 0 && lhs?.schema !== null);
    const collections = diff.collections.filter(gone);
    const fields = diff.fields.filter(
      (each) => gone(each) && !collections.some(({ collection }) => collection === each.collection),
    );
    return [...collections, ...fields].flatMap((each) => ['--allow-drop', locationText(each)]);
  };

  it('produce the same files on both services after every step', async () => {
    const steps = historyFiles();
    expect(steps).to.have.length(10);
    const [schema, before, there] = [join(repository, 'schema'), join(work, 'before'), join(work, 'there')];
    for (const [index, { name, text }] of steps.entries()) {
      await author(text);
      expect((await run(laptop, 'pull', schema, '--check')).code, name).to.equal(1);
      expect((await run(laptop, 'pull', schema)).code, name).to.equal(0);
      git(repository, 'add', '--all');
      git(repository, 'commit', '--quiet', '--message', name);

      // As in the workflow of docs/git.md: the previous commit is the base of the files.
      rmSync(before, { recursive: true, force: true });
      mkdirSync(before);
      if (index > 0) git(repository, '--work-tree', before, 'checkout', 'HEAD~1', '--', 'schema');
      git(repository, 'reset', '--quiet');
      const base = ['--base', join(before, 'schema')];
      if (index === 0) mkdirSync(join(before, 'schema'));
      const planned = await run(production, 'plan', schema, ...base, '--json');
      expect(planned.code, `${name}: ${planned.err}`).to.equal(1);
      const allowed = losses(JSON.parse(planned.out) as Plan);
      if (allowed.length > 0) {
        const refused = await run(production, 'push', schema, ...base, '--yes');
        expect([refused.code, refused.err.includes('--allow-drop')], name).to.deep.equal([2, true]);
      }
      const pushed = await run(production, 'push', schema, ...base, '--yes', '--reason', name, ...allowed);
      expect(pushed.code, `${name}: ${pushed.err}`).to.equal(0);

      expect(git(repository, 'status', '--porcelain'), name).to.equal('');
      for (const service of [laptop, production]) {
        const checked = await run(service, 'pull', schema, '--check');
        expect([checked.code, checked.out], name).to.deep.equal([0, 'The files match the service.']);
      }
    }
    for (const service of [laptop, production]) {
      cpSync(schema, there, { recursive: true });
      await run(service, 'pull', there);
      expect(filesOf(there)).to.deep.equal(filesOf(schema));
      rmSync(there, { recursive: true });
      expect((await run(service, 'plan', schema, '--base', 'now')).code).to.equal(0);
    }
    await Promise.all([laptop, production].map(({ databaseUrl }) => expectConsistent(databaseUrl)));
  });

  /**
   * Makes production equal to a folder.
   * @param folder with its files
   */
  async function updateProduction(folder: string): Promise<void> {
    const planned = await run(production, 'plan', folder, '--base', 'now', '--json');
    expect(planned.code, planned.err).to.equal(1);
    const allowed = losses(JSON.parse(planned.out) as Plan);
    const pushed = await run(production, 'push', folder, '--base', 'now', '--yes', ...allowed);
    expect(pushed.code, pushed.err).to.equal(0);
    expect((await run(production, 'pull', folder, '--check')).code).to.equal(0);
  }

  /** The files of a commit in a separate folder. */
  function folderOf(commit: string): string {
    const folder = join(work, `of-${commit}`);
    git(repository, 'worktree', 'add', '--quiet', '--detach', folder, commit);
    return join(folder, 'schema');
  }

  it('return production to an earlier commit', async () => {
    await updateProduction(folderOf('HEAD~8'));
    await updateProduction(join(repository, 'schema'));
    await expectConsistent(production.databaseUrl);
  });

  const there = async (): Promise<Documents> => {
    const folder = mkdtempSync(join(work, 'now-'));
    expect((await run(production, 'pull', folder)).code).to.equal(0);
    return documentsIn(folder);
  };

  it('merge branches of odd and even steps without a conflict', async () => {
    const steps = Array.from({ length: 10 }, (_, index) => git(repository, 'rev-parse', `main~${9 - index}`));
    const folders = steps.map(folderOf);
    const [first = '', ...later] = folders;
    const documents = folders.map(documentsIn);
    const names = ['even', 'odd'] as const;
    const branches = names.map(() => new Map(documents[0]));
    for (const index of later.keys())
      applyStep(branches[index % 2] as Documents, documents[index] as Documents, documents[index + 1] as Documents);
    for (const [index, name] of names.entries()) {
      git(repository, 'checkout', '--quiet', '-b', name, steps[0] as string);
      writeDocuments(join(repository, 'schema'), branches[index] as Documents);
      git(repository, 'add', '--all');
      git(repository, 'commit', '--quiet', '--message', name);
    }
    await updateProduction(first);
    for (const name of names) {
      const folder = folderOf(name);
      const planned = await run(production, 'plan', folder, '--base', first, '--json');
      expect(planned.code, planned.err).to.equal(1);
      const allowed = losses(JSON.parse(planned.out) as Plan);
      const pushed = await run(production, 'push', folder, '--base', first, '--yes', ...allowed);
      expect(pushed.code, pushed.err).to.equal(0);
    }
    const [even, odd] = branches as [Documents, Documents];
    expect(Object.fromEntries(await there())).to.deep.equal(
      Object.fromEntries(mergedBetween(documents[0] as Documents, even, odd)),
    );
  });

  it('report exactly the conflicting changes, and apply nothing', async () => {
    const [base, ours, theirs] = ['main~9', 'main~1', 'main'].map(folderOf) as [string, string, string];
    const [b, o, t] = [base, ours, theirs].map(documentsIn) as [Documents, Documents, Documents];
    await updateProduction(ours);
    const expected = conflictsBetween(b, o, t);
    expect(expected).to.have.length.above(3);
    const planned = await run(production, 'plan', theirs, '--base', base);
    expect(planned.code).to.equal(2);
    const kinds = { collection: 'c', field: 'f', relation: 'r' };
    const reported = [...planned.err.matchAll(/^\S+: (collection|field|relation) (\S+), (\S+): both changed it/gm)];
    expect(
      reported
        .map(([, kind, place, member]) => `changed ${kinds[kind as keyof typeof kinds]} ${place} ${member}`)
        .sort(),
    ).to.deep.equal(expected);
    expect((await run(production, 'push', theirs, '--base', base, '--yes')).code).to.equal(2);
    expect((await run(production, 'pull', ours, '--check')).code).to.equal(0);

    const pushed = await run(production, 'push', theirs, '--base', base, '--yes', '--take', 'theirs');
    expect(pushed.code, pushed.err).to.equal(0);
    expect(Object.fromEntries(await there())).to.deep.equal(Object.fromEntries(mergedBetween(b, o, t)));
    await expectConsistent(production.databaseUrl);
  });
});
