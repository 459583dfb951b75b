/** Material Symbols by name: all of them in one file from which the server sends single icons, and some as modules. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const read = (name) => JSON.parse(readFileSync(require.resolve(name), 'utf8'));

/** `shopping_cart` → the body of its SVG. Names of the older Material Icons map to the current ones. */
function allIcons() {
  const iconByName = new Map();
  const take = (set, nameOf) => {
    for (const [name, { body }] of Object.entries(set.icons)) {
      const icon = nameOf(name);
      if (icon !== null && !iconByName.has(icon)) iconByName.set(icon, body);
    }
  };
  const symbols = read('@iconify-json/material-symbols/icons.json');
  const older = read('@iconify-json/ic/icons.json');
  const named = (name) => name.replaceAll('-', '_');
  take(symbols, (name) => (name.endsWith('-outline') ? named(name.slice(0, -'-outline'.length)) : null));
  take(symbols, (name) => (/-(?:outline|rounded|sharp)$/.test(name) ? null : named(name)));
  for (const style of ['outline-', 'baseline-']) {
    take(older, (name) => (name.startsWith(style) ? named(name.slice(style.length)) : null));
  }
  return Object.fromEntries([...iconByName].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const icons = allIcons();
const packed = JSON.stringify(icons);

/** A hash of all icons, part of their URLs. */
export const ICONS_HASH = createHash('sha256').update(packed).digest('hex').slice(0, 8);

export const packIcons = (file) => writeFileSync(file, packed);

/** `import search from 'icon:search'`: the path of an icon that the app itself uses. `icon-names`: all names. */
export function iconModules() {
  return {
    name: 'icon-modules',
    resolveId: (id) => (id.startsWith('icon:') || id === 'icon-names' ? `\0${id}` : null),
    load(id) {
      if (id === '\0icon-names') return `export default ${JSON.stringify(Object.keys(icons).join(' '))};`;
      if (!id.startsWith('\0icon:')) return null;
      const body = icons[id.slice('\0icon:'.length)];
      const paths = [...(body ?? '').matchAll(/ d="([^"]+)"/g)].map(([, path]) => path);
      if (paths.length === 0) throw new Error(`there is no icon ${id.slice(1)}`);
      return `export default ${JSON.stringify(paths.join(''))};`;
    },
  };
}
