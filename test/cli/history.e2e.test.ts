import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCli } from '../../src/cli/command-line.js';
import { clientOf, json } from '../support/client.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

interface Ran {
  code: number;
  out: string;
  err: string;
}

describe('dps history and dps verify --file', () => {
  let directory: string;
  let lines: string[];

  const { service, client: send } = withService();
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-history-'));
    const headers = { 'content-type': 'application/json', 'x-reason': 'a shop' };
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await send('/collections', {
      ...json({ collection: 'books', schema: {}, fields }),
      headers,
    });
    await send('/collections/books', json({ meta: { note: 'all of them' } }, 'PATCH'));
    await send('/fields/books', json({ field: 'price', type: 'integer', meta: { interface: 'input' }, schema: {} }));
    for (const collection of ['one', 'two', 'three']) await send('/collections', json({ collection, schema: null }));
    await send('/fields/books/price', { method: 'DELETE' });
    lines = (await send('/history/export')).text.split('\n').filter((line) => line !== '');
  });

  after(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  async function dps(args: string[], colours = false): Promise<Ran> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(args, {
      environment: { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        colours,
        read: () => Promise.resolve(`${lines.join('\n')}\n`),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  it('lists who changed what, when and why, newest first', async () => {
    const { code, out } = await dps(['history']);
    expect(code).to.equal(0);
    const shown = out.split('\n');
    expect(shown[0]).to.match(/^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}Admin {2}deleted field books\.price$/);
    expect(shown.at(-2)).to.match(/^1 +.* Admin {2}created collection books$/);
    expect(shown.at(-1)?.trim()).to.equal('why: a shop');
    expect(out).not.to.contain('\u001B');
    expect((await dps(['history'], true)).out).to.contain('\u001B[36mAdmin\u001B[0m');
  });

  it('filters by collection and start, and limits the number of commands', async () => {
    expect((await dps(['history', '--collection', 'books'])).out.split('\n')).to.have.length(5);
    expect((await dps(['history', '--since', '3', '--collection', 'books'])).out.split('\n')).to.have.length(2);
    expect((await dps(['history', '--limit', '2'])).out.split('\n')).to.have.length(2);
    const { out } = await dps(['history', '--json', '--since', '2000-01-01']);
    expect((JSON.parse(out) as object[]).length).to.equal(lines.length);
    expect((await dps(['history', '--since', 'soon'])).code).to.equal(2);
    expect((await dps(['history', '--limit', '0'])).code).to.equal(2);
    expect((await dps(['history', 'burn'])).code).to.equal(2);
  });

  it('shows one event and its change', async () => {
    const { code, out } = await dps(['history', 'show', '2']);
    expect(code).to.equal(0);
    expect(out).to.match(/^event 2 {2}collection\.updated books$/m);
    expect(out).to.match(/^who {6}Admin \([0-9a-f-]{36}\)$/m);
    expect(out).to.match(/^why {6}\(none\)$/m);
    expect(out).to.match(/^~ collection books: meta\.note {2}null → "all of them"$/m);
    const machine = JSON.parse((await dps(['history', 'show', '2', '--json'])).out) as {
      position: number;
      diff: object;
    };
    expect(machine.position).to.equal(2);
    expect(machine.diff).to.have.property('collections');
    expect((await dps(['history', 'show', '4711'])).code).to.equal(2);
    expect((await dps(['history', 'show'])).code).to.equal(2);
    expect((await dps(['history', 'show', '4'])).out).and.not.to.contain('\u001B');
  });

  it('shows the difference between two points in time, and reverts it', async () => {
    const { code, out } = await dps(['history', 'diff', '2', '3']);
    expect([code, out.split('\n')[0]]).to.deep.equal([1, '+ field books.price']);
    expect((await dps(['history', 'diff', '3', '3'])).code).to.equal(0);
    const file = join(directory, 'back.json');
    expect((await dps(['history', 'diff', 'now', '3', '--output', file])).code).to.equal(1);
    const plan = await dps(['apply', file, '--dry-run']);
    expect(plan.out).to.contain('DATA_RESTORED books.price: restore column price of books from the trash');
    expect(plan.code).to.equal(0);
    expect((await dps(['apply', file])).code).to.equal(0);
    expect((await dps(['history', 'diff', '3'])).code).to.equal(0);
  });

  it('writes the schema at a point in time as SQL', async () => {
    const { code, out } = await dps(['history', 'sql', '3']);
    expect(code).to.equal(0);
    expect(out).to.contain('CREATE TABLE "public"."books"').and.to.contain('"price" integer');
    const file = join(directory, 'schema.sql');
    await dps(['history', 'sql', '1', '-o', file]);
    expect(await readFile(file, 'utf8'))
      .to.contain('"books"')
      .and.not.to.contain('"price"');
  });

  async function verify(content: readonly string[], ...more: string[]): Promise<Ran> {
    const file = join(directory, 'log.ndjson');
    await writeFile(file, content.map((line) => `${line}\n`).join(''));
    return dps(['verify', '--file', file, ...more]);
  }

  const without = (position: number) => lines.filter((_, index) => index !== position - 1);
  const changed = (position: number, change: (line: string) => string) =>
    lines.map((line, index) => (index === position - 1 ? change(line) : line));

  it('accepts an intact exported log', async () => {
    const { code, out } = await verify(lines);
    expect([code, out]).to.deep.equal([0, out]);
    expect(out).to.match(new RegExp(`^The hash chain is valid: ${lines.length} events, head [0-9a-f]{64}\\.$`));
    expect((await dps(['verify', '--file', '-'])).code).to.equal(0);
    expect((await dps(['verify', '--file', join(directory, 'none')])).code).to.equal(2);
  });

  it('finds any changed byte', async () => {
    const line = lines[2] as string;
    for (let at = 0; at < line.length; at += 1) {
      const other = line[at] === '1' ? '2' : line[at] === ' ' ? '\t' : '1';
      const { code, out } = await verify(
        changed(3, (text) => text.slice(0, at) + other + text.slice(at + 1)),
        '--json',
      );
      const { file } = JSON.parse(out) as { file: { broken: { position: number } } };
      expect(code, `byte ${at}: ${line.slice(0, at)}`).to.equal(1);
      expect(file.broken.position, `byte ${at}: ${line.slice(0, at)}`).to.be.oneOf([3, ...(at < 14 ? [1, 2] : [])]);
    }
  });

  it('finds missing, repeated and misplaced events, and a truncated file', async () => {
    const swapped = changed(3, () => lines[3] as string).map((line, index) =>
      index === 3 ? (lines[2] as string) : line,
    );
    const cases: [string[], number, RegExp][] = [
      [without(4), 4, /missing/],
      [[...lines.slice(0, 4), ...lines.slice(3)], 4, /line 5 contains it again/],
      [swapped, 3, /out of order: in line 4/],
      [[...lines.slice(0, 5), (lines[5] as string).slice(0, 40)], 6, /changed or truncated/],
      [without(1), 1, /missing/],
      [changed(2, (line) => line.replace('Admin', 'Mallory')), 2, /does not match its commitment/],
      [changed(2, (line) => line.replace(/"previous_hash":"[0-9a-f]/, '"previous_hash":"x')), 2, /previous_hash/],
      [changed(2, (line) => ` ${line}`), 2, /in the format of the service/],
    ];
    for (const [content, position, reason] of cases) {
      const { code, out } = await verify(content);
      expect(code).to.equal(1);
      expect(out).to.contain(`broken at position ${position}:`);
      expect(out).to.match(reason);
    }
  });

  it('compares a file with a running service', async () => {
    const same = await verify(lines, '--against', service.url);
    expect(same.out).to.contain('has the same events');
    expect(same.code).to.equal(0);
    const other = await startService();
    try {
      const there = await verify(lines, '--against', other.url);
      expect([there.code, there.out.split('\n')[1]]).to.deep.equal([
        1,
        `The service at ${other.url} differs at position 1: the log of the service ends at position 0.`,
      ]);
      await clientOf(other)('/collections', json({ collection: 'books', schema: null }));
      expect((await verify(lines, '--against', other.url)).out).to.contain('differs at position 1: the service has');
    } finally {
      await other.stop();
    }
    expect((await dps(['verify', '--against', service.url])).code).to.equal(2);
    expect((await verify(lines, '--against', 'http://127.0.0.1:1')).code).to.equal(2);
  });
});
