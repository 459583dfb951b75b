/**
 * `npm run docs -- screenshots [FOLDER [PICTURE …]]`: takes a screenshot of each page of the admin app and writes it to
 * docs/images/app/. FOLDER, or CORPUS, has the real schemas to show. They are not part of the project, so the command
 * exits without them. PICTURE: only these, by name.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, startService } from '../../bench/servers.js';
import { INSTALL_CHROMIUM, browser, chromiumProgram } from '../../../test/support/browser.js';
import { ensureBuilt } from '../../../test/support/built.js';
import { stopAll } from '../../../test/support/at-end.js';
import { SCHEMA_FILE, furnish } from './furnish.js';
import { PICTURES } from './pictures.js';
import { openStudio, takePicture } from './take.js';

const IMAGES = fileURLToPath(new URL('../../../docs/images/app/', import.meta.url));

const [folder = process.env['CORPUS'] ?? '../shared/corpus', ...only] = process.argv.slice(2);
const schema = join(folder, SCHEMA_FILE);
const program = chromiumProgram();

if (!existsSync(schema)) {
  console.log(`No pictures: ${schema} is not there. Name its folder: npm run docs -- screenshots FOLDER, or CORPUS.`);
} else if (program === null) {
  console.log(INSTALL_CHROMIUM);
} else {
  await run(program);
}

async function run(chromium: string): Promise<void> {
  ensureBuilt();
  mkdirSync(IMAGES, { recursive: true });
  const server = await startServer();
  try {
    const databaseUrl = await server.createDatabase();
    const service = await startService(databaseUrl, undefined, { ADMIN_PASSWORD: 'correct horse battery' });
    try {
      const furnished = await furnish({ service, databaseUrl, schema });
      const selected = PICTURES.filter(({ name }) => only.length === 0 || only.includes(name));
      const studio = await openStudio({ chromium: await browser(chromium), service, furnished, folder: IMAGES });
      for (const picture of selected) {
        const bytes = await takePicture(studio, picture);
        console.log(`${picture.name.padEnd(24)} ${(bytes / 1024).toFixed(0).padStart(4)} KiB`);
      }
    } finally {
      await service.stop();
    }
  } finally {
    await stopAll();
    await server.stop();
  }
}
