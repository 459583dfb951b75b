import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createBuiltApp } from '../../src/http/admin-app.js';

describe('the files of the admin app', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-built-'));
    await mkdir(join(directory, 'assets'));
  });
  after(() => rm(directory, { recursive: true }));

  const put = (name: string, text = name): Promise<void> => writeFile(join(directory, name), text);

  it('do not exist before the app is built', () => {
    expect(createBuiltApp(directory)()).to.equal(null);
  });

  it('have their media types, and their bytes in the built codings', async () => {
    const TYPES = {
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
      json: 'application/json; charset=utf-8',
      svg: 'image/svg+xml',
      txt: 'text/plain; charset=utf-8',
    };
    await put('index.html', '<p>');
    for (const end of Object.keys(TYPES)) await put(`assets/a.${end}`);
    await put('assets/a.js.br');
    await put('assets/a.js.gz');
    await put('assets/a.css.gz');
    await put('assets/a.html');
    const app = createBuiltApp(directory)() ?? expect.fail('it is built');
    for (const [end, type] of Object.entries(TYPES)) {
      const name = `assets/a.${end}`;
      expect([app.file(name)?.type, app.file(name)?.bytes(null)?.toString()]).to.deep.equal([type, name]);
    }
    const coded = (name: string) =>
      (['br', 'gzip'] as const).map((coding) => app.file(name)?.bytes(coding)?.toString());
    expect(coded('assets/a.js')).to.deep.equal(['assets/a.js.br', 'assets/a.js.gz']);
    expect(coded('assets/a.css')).to.deep.equal([undefined, 'assets/a.css.gz']);
    expect(app.file('assets/a.css')?.bytes('br')).to.equal(null);
    for (const none of ['assets/b.js', 'assets/a.html', 'assets/../index.html', 'assets', 'assets/a.js.br', '']) {
      expect(app.file(none), none).to.equal(undefined);
    }
    expect(app.page).to.equal('<p>');
  });

  it('include icons by name, and none for names of Object.prototype', async () => {
    await put('icons.json', '{"home":"<path/>"}');
    const app = createBuiltApp(directory)() ?? expect.fail('it is built');
    expect(app.icon('home')).to.equal('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path/></svg>');
    for (const none of ['house', 'toString', '']) expect(app.icon(none), none).to.equal(undefined);
  });

  it('come from the newest build', async () => {
    const built = createBuiltApp(directory);
    const first = built();
    expect(built()).to.equal(first);
    await put('index.html', '<p>newer');
    await utimes(join(directory, 'index.html'), new Date(), new Date(Date.now() + 5_000));
    expect(built()?.page).to.equal('<p>newer');
    expect(built()).not.to.equal(first);
  });
});
