/**
 * `node scripts/sbom.mjs`: writes the software bill of materials (CycloneDX) from package-lock.json, without
 * development tools. It goes to dist/sbom.cdx.json or to the file in the argument.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const file = process.argv[2] ?? join(ROOT, 'dist', 'sbom.cdx.json');
const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

// `--omit=dev` also omits packages that both the service and a tool need. So npm gets a copy of the project without
// tools.
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
  // npm uses the name of the folder.
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

/** Packages of the admin app are bundled into the program, not installed with it. */
function inTheApp() {
  const all = read('package-lock.json').packages;
  return read('dist/web/packages.json').map(({ name, version, license }) => {
    const { integrity = '' } =
      Object.entries(all).find(
        ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
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
