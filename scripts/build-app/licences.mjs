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
      const found = new Map([...directories].map(packageAt).map((each) => [`${each.name}@${each.version}`, each]));
      const packages = [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
      const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source });
      emit('packages.json', JSON.stringify(packages.map(({ name, version, license }) => ({ name, version, license }))));
      const line = `\n\n${'-'.repeat(80)}\n\n`;
      emit('licences.txt', packages.map(({ text }) => text).join(line));
    },
  };
}

function packageAt(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
  const terms = file === undefined ? '' : `\n\n${readFileSync(join(directory, file), 'utf8').trim()}`;
  return { name, version, license, text: `${name} ${version}: ${license}${terms}` };
}
