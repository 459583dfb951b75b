import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureBuilt } from '../support/built.js';
import { ROOT } from '../support/documents.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const BUILT = join(ROOT, 'dist/web');
/** Compressed bytes of the first page: the entry, its direct dependencies, and the schema page. */
const FIRST_LOAD = 300 * 1024;

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
  isEntry?: boolean;
}

describe('the admin app', () => {
  before(() => {
    ensureBuilt();
  });
  const { service } = withService();

  /** Reads the whole response, because an unread one would keep the service from stopping. */
  const ask = async (url: string, init: RequestInit = {}) => {
    const answer = await fetch(url, { redirect: 'manual', ...init });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text: () => text };
  };
  const get = (path: string, headers: Record<string, string> = {}) => ask(service.url + path, { headers });
  const page = async () => (await get('/app')).text();

  it('redirects the root path to the app only for browsers', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers.get('location')]).to.deep.equal([302, '/app']);
    expect((await get('/', { accept: '*/*' })).status).to.equal(404);
  });

  it('serves its page, uncached, for every path below it', async () => {
    for (const path of ['/app', '/app/', '/app/collections/x.y', '/app?c=%3Cimg%3E']) {
      const answer = await get(path);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect(answer.text()).to.contain('<div id="app">').and.not.to.contain('%CSP_NONCE%');
    }
  });

  it('allows only its own resources, and styles only with the nonce of the response', async () => {
    const [one, other] = [await get('/app'), await get('/app')];
    const policy = one.headers.get('content-security-policy') ?? '';
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
    expect(nonce).to.have.length.greaterThan(20);
    expect(one.text()).to.contain(`nonce="${nonce}"`);
    expect(other.headers.get('content-security-policy')).not.to.contain(nonce);
    expect(policy)
      .to.contain("default-src 'none'")
      .and.contain("script-src 'self';")
      .and.contain("frame-ancestors 'none'");
    expect(policy).not.to.match(/unsafe|data:|https?:/);
    expect(one.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(one.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(one.headers.get('strict-transport-security')).to.equal(null);
  });

  it('caches files forever in the requested coding', async () => {
    const [, script = ''] = /src="([^"]+\.js)"/.exec(await page()) ?? [];
    for (const [coding, ending] of [
      ['br', '.br'],
      ['gzip', '.gz'],
    ]) {
      const answer = await get(script, { 'accept-encoding': coding ?? '' });
      expect(answer.headers.get('content-encoding')).to.equal(coding);
      expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(answer.headers.get('vary')).to.contain('Accept-Encoding');
      const built = readFileSync(join(BUILT, script.replace('/app/', '') + ending));
      expect(answer.headers.get('content-length')).to.equal(String(built.length));
    }
    const plain = await get(script, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(plain.text()).to.equal(readFileSync(join(BUILT, script.replace('/app/', '')), 'utf8'));
    expect((await ask(service.url + script, { method: 'HEAD' })).status).to.equal(200);
    expect((await ask(service.url + script, { method: 'POST' })).status).to.equal(404);
  });

  it('accepts only GET and HEAD', async () => {
    for (const path of ['/', '/app', '/app/collections/a', '/app/no-such-page'])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await ask(service.url + path, { method, headers: { accept: 'text/html' } });
        expect([answer.status, JSON.parse(answer.text()).errors[0].extensions.code], `${method} ${path}`).to.deep.equal(
          [404, 'ROUTE_NOT_FOUND'],
        );
      }
  });

  it('serves no file that is not part of its build', async () => {
    for (const path of [
      '/app/assets/../index.html',
      '/app/assets/%2e%2e/icons.json',
      '/app/assets/x.js',
      '/app/assets/.made-of.json',
    ]) {
      const text = (await get(path)).text();
      expect(text, path).not.to.contain('src/web').and.not.to.contain('"home":');
    }
    expect((await get('/app/assets/x.js')).status).to.equal(404);
  });

  it('serves single icons by current and former names, and nothing for unknown ones', async () => {
    for (const name of ['home', 'import_export', 'insert_link', 'warning_amber']) {
      const icon = await get(`/app/icons/x/${name}.svg`);
      expect(icon.headers.get('content-type'), name).to.equal('image/svg+xml');
      expect(icon.headers.get('cache-control'), name).to.equal('public, max-age=31536000, immutable');
      expect(icon.text()).to.match(/^<svg [^>]+><path/);
    }
    const nobodys = await get('/app/icons/x/constructor.svg');
    expect(nobodys.status).to.equal(204);
    expect(nobodys.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
  });

  it('needs at most 300 KB for its first view', () => {
    const chunks = JSON.parse(readFileSync(join(BUILT, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
    const entry = Object.entries(chunks).find(([, { isEntry }]) => isEntry)?.[0] ?? '';
    const files = new Set<string>();
    const add = (name: string): void => {
      const { file = '', css = [], imports = [] } = chunks[name] ?? {};
      if (files.has(file)) return;
      for (const each of [file, ...css]) files.add(each);
      imports.forEach(add);
    };
    for (const name of [entry, 'pages/schema/page.tsx']) {
      expect(chunks).to.have.property(name);
      add(name);
    }
    const names = readdirSync(join(BUILT, 'assets'));
    const bytes = [...files].map((file) => {
      const best = names.includes(`${file.slice('assets/'.length)}.br`) ? `${file}.br` : file;
      return readFileSync(join(BUILT, best)).length;
    });
    expect(bytes.reduce((sum, each) => sum + each, 0)).to.be.within(50_000, FIRST_LOAD);
  });

  it('lists the licence of every dependency', () => {
    const text = readFileSync(join(BUILT, 'licences.txt'), 'utf8');
    for (const name of ['react ', '@mantine/core ', 'elkjs ', '@iconify-json/material-symbols '])
      expect(text).to.contain(name);
    const packages = JSON.parse(readFileSync(join(BUILT, 'packages.json'), 'utf8')) as {
      name: string;
      license: string;
    }[];
    const allowed = ['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-3-Clause', 'EPL-2.0 OR GPL-3.0-or-later'];
    for (const { name, license } of packages) expect(allowed, name).to.include(license);
  });

  it('responds with 404 to every path of the app if APP is off', async () => {
    const without = await startService({ APP: 'off' });
    try {
      for (const path of ['/app', '/app/assets/x.js', '/']) {
        const answer = await ask(without.url + path, { headers: { accept: 'text/html' } });
        expect(answer.status, path).to.equal(404);
      }
      expect((await ask(`${without.url}/server/ping`)).status).to.equal(200);
    } finally {
      await without.stop();
    }
  });
});
