/** Packages whose code is part of the app, with their licences: dist/web/packages.json and dist/web/licences.txt. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Shipped without being bundled as modules. */
const SHIPPED = ['@iconify-json/material-symbols', '@iconify-json/ic', 'elkjs'];

/** @param inWorkers modules of other bundles, known when the list is written */
export function licences(root, inWorkers) {
  return {
    name: 'licences',
    generateBundle(_options, chunks) {
      const directories = new Set(SHIPPED.map((name) => join(root, 'node_modules', name)));
      for (const id of [...inWorkers, ...Object.values(chunks).flatMap(({ moduleIds = [] }) => moduleIds)]) {
        const [directory] = /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/')) ?? [];
        if (directory !== undefined) directories.add(directory);
      }
      const packageByName = new Map(
        [...directories].map(packageAt).map((each) => [`${each.name}@${each.version}`, each]),
      );
      const packages = [...packageByName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
      const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source });
      emit('packages.json', JSON.stringify(packages.map(({ name, version, license }) => ({ name, version, license }))));
      const line = `\n\n${'-'.repeat(80)}\n\n`;
      emit('licences.txt', packages.map(({ text }) => text).join(line));
    },
  };
}

function packageAt(directory) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const own = readdirSync(directory).filter((each) => /^(?:licen[cs]e|notice)/i.test(each));
  const texts = own.map((file) => readFileSync(join(directory, file), 'utf8').trim());
  const standard = STANDARD[license];
  // Some packages have no text, or only a reference to it. Their licences require that copies contain the text.
  if (standard !== undefined && !texts.some((text) => text.includes(standard.mark))) texts.push(standard.text(author));
  if (texts.length === 0)
    throw new Error(`${name} has no text of its licence ${license}: add one to ${import.meta.filename}`);
  return { name, version, license, text: [`${name} ${version}: ${license}`, ...texts].join('\n\n') };
}

const standardText = (file) => readFileSync(new URL(file, import.meta.url), 'utf8').trim();

const STANDARD = {
  MIT: {
    mark: 'Permission is hereby granted',
    text: (author) => standardText('mit.txt').replace('AUTHOR', author?.name ?? author),
  },
  'Apache-2.0': {
    mark: 'TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION',
    text: () => standardText('apache-2.0.txt'),
  },
};
