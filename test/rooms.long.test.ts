/** The rooms of src stand above each other, and lint holds them there. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { INSIDE, drawing, roomRules } from '../scripts/rooms/rooms.js';
import { ROOT, filesUnder } from './support/documents.js';

const files = [...filesUnder('src', '.ts'), ...filesUnder('src', '.tsx')];

/** Each file with what it imports, types included. */
const imports = new Map(
  files.map((file) => {
    const found = readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\(?) ?'(\.[^'?]+)/g);
    const targets = [...found].map(([, target = '']) => sourceOf(join(dirname(file), target)));
    return [file, new Set(targets.filter((target) => target !== file))] as const;
  }),
);

describe('the rooms of src', () => {
  it('are those of the drawing, and every import follows its arrows', () => {
    const { rooms, below } = drawing();
    expect(rooms).to.have.members(['top', ...foldersIn('src')]);
    for (const [file, targets] of imports) {
      for (const target of targets) {
        const [from, to] = [roomOf(file), roomOf(target)];
        if (from !== to) expect(below(from), `${file}: ${target}`).to.contain(to);
      }
    }
  });

  for (const [room, order] of Object.entries(INSIDE)) {
    it(`stand in their order in ${room}`, () => {
      expect(order).to.have.members(foldersIn(`src/${room}`));
      const floor = (file: string): number =>
        file.startsWith(`src/${room}/`) ? order.indexOf(file.split('/')[2] ?? '') : -1;
      for (const [file, targets] of imports) {
        if (floor(file) < 0) continue;
        for (const target of targets) expect(floor(target), `${file}: ${target}`).to.be.at.most(floor(file));
      }
    });
  }

  it('have no circle of files, types included', () => {
    const done = new Set<string>();
    const visit = (file: string, way: readonly string[]): void => {
      expect(way, `${file} is reached from itself`).not.to.contain(file);
      if (done.has(file)) return;
      for (const target of imports.get(file) ?? []) visit(target, [...way, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
  });

  it('have their rules of lint (npm run rooms)', () => {
    expect(JSON.parse(readFileSync(join(ROOT, '.oxlint/rooms.json'), 'utf8'))).to.deep.equal(roomRules());
  });
});

function foldersIn(place: string): string[] {
  return readdirSync(join(ROOT, place), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);
}

function sourceOf(imported: string): string {
  const there = [imported.replace(/\.js$/, '.ts'), imported.replace(/\.js$/, '.tsx')].find((each) =>
    existsSync(join(ROOT, each)),
  );
  return there ?? imported;
}

function roomOf(file: string): string {
  const [, room = '', ...more] = file.split('/');
  return more.length === 0 ? 'top' : room;
}
