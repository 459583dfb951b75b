import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { memoize } from '../src/kernel/memoize.js';
import { renderDiagram } from '../scripts/docs/diagrams.js';
import { INSIDE } from '../scripts/rooms/rooms.js';
import { createProgram } from '../src/cli/command-line.js';
import { SECRETS, SETTINGS } from '../src/config.js';
import { STATUS } from '../src/http/errors.js';
import { PAGES, ROOT, blocksOf, filesUnder, readPage } from './support/documents.js';

const project = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  scripts: Record<string, string>;
};

const GENERATED = ['api', 'findings'].flatMap((folder) => filesUnder(`docs/${folder}`, '.md'));

describe('the documentation', () => {
  it('links to existing pages and pictures, and the README links to each page', () => {
    for (const page of [...PAGES, ...GENERATED]) {
      for (const [, target = ''] of readPage(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)) {
        expect(existsSync(join(ROOT, dirname(page), target)), `${page}: ${target}`).to.equal(true);
      }
    }
    const readme = readPage('README.md');
    for (const page of PAGES.slice(1)) expect(readme).to.contain(`](${page})`);
  });

  it('explains every error code, with its status', () => {
    const page = readPage('docs/errors.md');
    for (const [code, status] of Object.entries(STATUS)) {
      const cells = page.split('\n').filter((line) => line.startsWith('|') && line.includes(`\`${code}\``));
      expect(cells.join(), code).to.contain(String(status));
    }
  });

  it('links to existing headings', () => {
    const anchorsIn = memoize((page) =>
      [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)),
    );
    for (const page of [...PAGES, ...GENERATED]) {
      for (const [, target = '', anchor = ''] of readPage(page).matchAll(/\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)/g)) {
        const there = target === '' ? page : join(dirname(page), target);
        expect(anchorsIn(there), `${page}: ${target}#${anchor}`).to.contain(anchor);
      }
    }
  });

  it('has a README of at most 120 lines', () => {
    expect(readPage('README.md').split('\n').length).to.be.at.most(121);
  });

  it('explains every setting and no others', () => {
    const [, settings = ''] = /^## Settings$(.*?)(?:^## |$(?![^]))/ms.exec(readPage('docs/settings.md')) ?? [];
    const explained = [...settings.matchAll(/^\| `([A-Z_]+)`\s+\|/gm)].map(([, name]) => name);
    expect(explained).to.have.members(SETTINGS);
  });

  it('names the file of each secret and each command of dps', () => {
    for (const secret of SECRETS) expect(readPage('docs/security.md')).to.contain(`\`${secret}_FILE\``);
    const silent = { print: () => undefined, note: () => undefined };
    for (const command of createProgram(silent, () => undefined).commands)
      expect(readPage('docs/dps.md')).to.match(new RegExp(`\`(?:dps )?${command.name()}\\b`));
  });

  it('explains how to rotate each secret', () => {
    const [, rotation = ''] = /^## Rotate secrets$(.*?)^## /ms.exec(readPage('docs/security.md')) ?? [];
    for (const secret of [...SECRETS, 'CHECKPOINT_KEY_FILE']) expect(rotation).to.contain(`\`${secret}\``);
  });

  it('names each GET request that auditors cannot use, with the role that it requires', () => {
    const document = load(readFileSync(join(ROOT, 'test/fixtures/openapi.yaml'), 'utf8')) as {
      paths: Record<string, { get?: { description: string } }>;
    };
    const required = Object.entries(document.paths).flatMap(([path, { get }]) => {
      const [, role = ''] = /Requires the role (admin|author)[.,]/.exec(get?.description ?? '') ?? [];
      return role === '' ? [] : [`${role} GET ${path}`];
    });
    const rows = [...readPage('docs/security.md').matchAll(/^\| (`GET [^|]*)\| (\w+) +\|/gm)];
    const named = rows.flatMap(([, requests = '', role]) =>
      [...requests.matchAll(/`([^`]+)`/g)].map(([, request]) => `${role} ${request}`),
    );
    expect(required).to.include('author GET /schema/snapshot');
    expect(named).to.have.members(required);
  });

  it('recommends verified backups, and merge in every comparison but those that explain mirror', () => {
    expect(readPage('docs/backup.md')).to.match(/^\$ npx dps backup --verify /m);
    const compared = PAGES.flatMap(blocksOf)
      .flatMap(({ content }) => content.split('\n'))
      .filter((line) => /\bdps (?:apply|diff|lint) .*\.(?:json|yaml)\b|(?<!src)\/schema\/diff\b/.test(line))
      // A diff was compared before.
      .filter((line) => !/\bdps apply .*\b(?:back|diff)\.json\b/.test(line));
    const modes = compared.map((line) => /mode[= ](\w+)/.exec(line)?.[1] ?? line);
    expect(modes.filter((mode) => mode !== 'merge')).to.deep.equal(['mirror', 'mirror', 'mirror']);
    expect(modes).to.have.length.above(4);
  });

  it('marks each block of commands that no test runs as text or console', () => {
    for (const page of PAGES)
      for (const { content } of blocksOf(page).filter(({ language }) => language === ''))
        expect(content, page).not.to.match(/^(?:\$ |npx |npm run |dps |curl )/m);
  });

  it('contains each page and heading that a message links to', () => {
    const code = filesUnder('src', '.ts').map(readPage).join('\n');
    const led = [...code.matchAll(/(docs\/[\w-]+\.md)(?:, "([^"]+)")?/g)];
    expect(led.some(([, , heading]) => heading !== undefined)).to.equal(true);
    for (const [, page = '', heading] of led) {
      expect(PAGES).to.contain(page);
      if (heading !== undefined) expect(readPage(page)).to.match(new RegExp(`^#+ ${heading}$`, 'm'));
    }
  });

  it('names only existing files', () => {
    for (const page of PAGES) {
      for (const [, path = ''] of readPage(page).matchAll(/`((?:src|test|scripts|db|docs|deploy)\/[\w./-]+)/g)) {
        expect(existsSync(join(ROOT, path)), `${page}: ${path}`).to.equal(true);
      }
    }
  });

  it('names only functions in src', () => {
    const code = filesUnder('src', '.ts').map(readPage).join('\n');
    const pages = ['architecture', 'concepts', 'extending', 'identities', 'online-internals'];
    for (const page of pages.map((name) => `docs/${name}.md`)) {
      for (const [, name = ''] of readPage(page).matchAll(/`(?:\w+\.)*(\w+)\([^`]*\)`/g)) {
        const declared = new RegExp(`(?:function\\*?|const|async|\\*) ?${name}\\b|^ +${name}(?:\\(.*\\{|:)`, 'm');
        expect(declared.test(code), `${page}: ${name}`).to.equal(true);
      }
    }
  });

  it('names only scripts in package.json', () => {
    for (const page of PAGES) {
      for (const [, script = ''] of readPage(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
        expect(project.scripts, page).to.have.property(script);
      }
    }
  });

  for (const script of ['bench', 'docs']) {
    it(`names only subcommands that "npm run ${script}" has`, () => {
      const subcommands = [...readPage(`scripts/${script}/main.ts`).matchAll(/^  (\w+): /gm)].map(([, name]) => name);
      for (const page of PAGES) {
        for (const [, name] of readPage(page).matchAll(new RegExp(`npm run ${script} -- (\\w+)`, 'g'))) {
          expect(subcommands, page).to.include(name);
        }
      }
    });
  }

  it('lists each release in the changelog, and the newest is the one in package.json', () => {
    const headings = [...readPage('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings[0]).to.equal('[Unreleased]');
    expect(headings[1]).to.match(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
    expect(headings[1]).to.match(new RegExp(`^\\[${project.version.replaceAll('.', '\\.')}\\]`));
  });
});

describe('the code map', () => {
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);

  it('lists each folder of src and its subfolders', () => {
    const listed = (blocksOf('docs/architecture.md').find(({ language }) => language === 'map')?.content ?? '')
      .trim()
      .split('\n')
      .map((line) => line.split(/\s/)[0]!);
    const inside = Object.keys(INSIDE).flatMap((room) =>
      readdirSync(join(ROOT, 'src', room), { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map(({ name }) => `src/${room}/${name}/`),
    );
    expect(listed.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
    expect(listed).to.include.members([...folders.map((name) => `src/${name}/`), ...inside]);
  });
});

describe('each picture', () => {
  const sources = filesUnder('docs/images', '.mmd');

  for (const source of sources) {
    it(`${source} matches its source (npm run docs -- diagrams)`, () => {
      const picture = readFileSync(join(ROOT, source.replace(/mmd$/, 'svg')), 'utf8');
      expect(picture).to.equal(renderDiagram(readFileSync(join(ROOT, source), 'utf8')));
      expect(picture).not.to.match(/@import|https?:\/\/(?!www\.w3\.org)/);
    });
  }

  it('has its source next to it and a page that shows it', () => {
    const pictures = filesUnder('docs/images', '.svg');
    expect(pictures.map((name) => name.replace(/svg$/, 'mmd'))).to.have.members(sources);
    const pages = PAGES.map(readPage).join('\n');
    for (const picture of pictures) expect(pages).to.contain(picture.replace(/^docs\//, ''));
  });
});

/** The anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
