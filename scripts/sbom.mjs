/**
 * `node scripts/sbom.mjs`: the software bill of materials of what is installed with the service, without what only builds and
 * tests it: CycloneDX, from package-lock.json. Written to dist/sbom.cdx.json, or to the file that is named.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const file = process.argv[2] ?? join(ROOT, 'dist', 'sbom.cdx.json');
const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

// `--omit=dev` leaves out what the service and a tool both need: npm gets a project without tools instead.
const { devDependencies: _, scripts: __, ...own } = read('package.json');
const lock = read('package-lock.json');
delete lock.packages[''].devDependencies;
lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => dev !== true));

const folder = mkdtempSync(join(tmpdir(), 'dps-sbom-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const text = execFileSync('npm', ['sbom', ...options], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const bill = JSON.parse(text);
  // npm takes the name of the folder.
  bill.metadata.component.name = own.name;
  const listed = new Set(bill.components.map(({ name, group }) => (group ? `${group}/${name}` : name)));
  const missing = Object.keys(own.dependencies).filter((name) => !listed.has(name));
  if (missing.length > 0) throw new Error(`the bill lacks ${missing.join(', ')}`);
  bill.components.push(...inTheApp());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

/** What the admin app is built of isn't installed with the service: it is part of the program. */
function inTheApp() {
  const all = read('package-lock.json').packages;
  return read('dist/web/packages.json').map(({ name, version, license }) => {
    const { integrity = '' } =
      Object.entries(all).find(
        ([path, found]) => path.endsWith(`node_modules/${name}`) && found.version === version,
      )?.[1] ?? {};
    const [, encoded = ''] = /^sha512-(\S+)/.exec(integrity) ?? [];
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return {
      'bom-ref': `app/${name}@${version}`,
      type: 'library',
      name,
      version,
      purl,
      licenses: [{ expression: license }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(encoded, 'base64').toString('hex') }],
    };
  });
}
