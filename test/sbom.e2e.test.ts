import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ensureBuilt } from './support/built.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Bill {
  bomFormat: string;
  metadata: { component: { name: string; version: string; type: string } };
  components: { name: string; version: string; purl: string; hashes?: unknown[] }[];
}

describe('the software bill of materials', () => {
  it("lists installed dependencies with versions and the app's parts, without development tools", () => {
    ensureBuilt();
    const folder = mkdtempSync(join(tmpdir(), 'dps-sbom-'));
    try {
      const file = join(folder, 'sbom.cdx.json');
      execFileSync(process.execPath, ['scripts/sbom.mjs', file], { cwd: ROOT, stdio: 'pipe' });
      const bill = JSON.parse(readFileSync(file, 'utf8')) as Bill;
      const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
        string,
        Record<string, string>
      >;
      const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { version: string }>;
      };
      expect(bill.bomFormat).to.equal('CycloneDX');
      expect(bill.metadata.component).to.include({ name: own['name'], version: own['version'], type: 'application' });
      const names = bill.components.map(({ name }) => name);
      const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
      for (const name of Object.keys(own['dependencies'] ?? {})) {
        expect(listed).to.include(`${name}@${lock.packages[`node_modules/${name}`]?.version}`);
      }
      const inTheApp = ['react', '@mantine/core', 'elkjs', '@iconify-json/material-symbols'];
      expect(names).to.include.members(inTheApp);
      for (const name of ['mocha', 'vite', 'typescript', 'playwright-core', 'axe-core'])
        expect(names).not.to.include(name);
      for (const { purl, hashes } of bill.components) expect(hashes, purl).to.have.length.greaterThan(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
