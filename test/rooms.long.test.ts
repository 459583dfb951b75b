/** Lint enforces the layers of the folders of src. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { INSIDE, drawing, roomOf, roomRules } from '../scripts/rooms/rooms.js';
import { ROOT, filesUnder } from './support/documents.js';

const files = [...filesUnder('src', '.ts'), ...filesUnder('src', '.tsx')];

/** Each file with its imports, including types. */
const imports = new Map(
  files.map((file) => {
    const importTexts = readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\(?) ?'(\.[^'?]+)/g);
    const targets = [...importTexts].map(([, target = '']) => sourceOf(join(dirname(file), target)));
    return [file, new Set(targets.filter((target) => target !== file))] as const;
  }),
);

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

describe('the folders of src', () => {
  it('match the drawing, and every import follows its arrows', () => {
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
    it(`are in order in ${room}`, () => {
      expect(order).to.have.members(foldersIn(`src/${room}`));
      const floor = (file: string): number =>
        file.startsWith(`src/${room}/`) ? order.indexOf(file.split('/')[2] ?? '') : -1;
      for (const [file, targets] of imports) {
        if (floor(file) < 0) continue;
        for (const target of targets) expect(floor(target), `${file}: ${target}`).to.be.at.most(floor(file));
      }
    });
  }

  it('have no import cycle between files, including types', () => {
    expectNoCircle(imports);
  });

  it('have no import cycle between the entries of any folder', () => {
    for (const folder of new Set([...imports.keys()].flatMap(foldersOf))) expectNoCircle(arrowsWithin(folder));
  });

  it('have their lint rules (npm run rooms)', () => {
    expect(JSON.parse(readFileSync(join(ROOT, '.oxlint/rooms.json'), 'utf8'))).to.deep.equal(roomRules());
  });
});

function expectNoCircle(arrows: Arrows): void {
  const done = new Set<string>();
  const visit = (each: string, path: readonly string[]): void => {
    expect(path, `${each} is reached from itself`).not.to.contain(each);
    if (done.has(each)) return;
    for (const target of arrows.get(each) ?? []) visit(target, [...path, each]);
    done.add(each);
  };
  for (const each of arrows.keys()) visit(each, []);
}

/** The entries of the folder with the other entries that they import. The entries of src are its rooms. */
function arrowsWithin(folder: string): Arrows {
  const arrows = new Map<string, Set<string>>();
  const lying = (file: string): string | undefined => {
    if (folder === 'src' && roomOf(file) !== 'top') return roomOf(file);
    return file.startsWith(`${folder}/`) ? `${folder}/${file.slice(folder.length + 1).split('/', 1)[0]}` : undefined;
  };
  for (const [file, targets] of imports) {
    const from = lying(file);
    if (from === undefined) continue;
    const there = arrows.get(from) ?? new Set();
    arrows.set(from, there);
    for (const to of [...targets].map(lying)) if (to !== undefined && to !== from) there.add(to);
  }
  return arrows;
}

function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

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
