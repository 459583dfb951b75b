/**
 * `npm run bench -- app`: measures the admin app in Chromium. It measures the time until the tree of collections is
 * painted (cold and warm cache), the frame rate while panning a diagram of 300 tables, steps per second of the history
 * slider, the verification of 100,000 events, and the size of the first load. Settings: BENCH_COLLECTIONS
 * (90,1000,10000), BENCH_ROUNDS (5). Chromium limits the frame rate to 60 per second.
 */
import { browser, chromiumProgram, INSTALL_CHROMIUM } from '../../../test/support/browser.js';
import { stopAll } from '../../../test/support/at-end.js';
import { type Server, type Service, startServer, startService } from '../servers.js';
import { fill, fillHistory, fillLongLog, fillTree } from './fill.js';
import { firstLoad, firstPaint, measurePanning, verifying, measureStepping } from './measures.js';
import { signedIn } from './signed-in.js';

const SIZES = (process.env['BENCH_COLLECTIONS'] ?? '90,1000,10000').split(',').map(Number);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const TABLES = 300;
const STEPS = 100;
const EVENTS = 100_000;
const PASSWORD = 'correct horse battery';

const program = chromiumProgram();
const rows: [work: string, measured: string][] = [];

if (program === null) console.log(INSTALL_CHROMIUM);
else await run(program);

async function run(chromium: string): Promise<void> {
  const server = await startServer();
  try {
    for (const size of SIZES) {
      await withService(server, async (service) => {
        await fill(service, size);
        const context = () => signedIn(chromium, service.url, PASSWORD);
        const { cold, warm } = await firstPaint(context, ROUNDS);
        add(`${size.toLocaleString()} collections: tree painted, cold cache`, `${cold.toFixed(0)} ms`);
        add(`${size.toLocaleString()} collections: tree painted, again`, `${warm.toFixed(0)} ms`);
      });
    }
    await withService(server, async (service) => {
      await fillTree(service, TABLES);
      const stops = await measurePanning(() => signedIn(chromium, service.url, PASSWORD));
      const what = `panning over ${TABLES} tables, ${stops.drawn} in sight`;
      add(what, `${stops.perSecond.toFixed(0)} frames a second, the longest ${stops.longest.toFixed(0)} ms`);
    });
    await withService(server, async (service) => {
      await fillHistory(service, STEPS);
      const perSecond = await measureStepping(() => signedIn(chromium, service.url, PASSWORD), STEPS);
      add(`slider, ${STEPS} batches one after the other`, `${perSecond.toFixed(1)} steps a second`);
      const { files, bytes } = await firstLoad(await browser(chromium), service.url);
      add('first load, as sent', `${(bytes / 1000).toFixed(0)} kB in ${files} files`);
    });
    await withService(
      server,
      async (service) => {
        const took = await verifying(() => signedIn(chromium, service.url, PASSWORD));
        add(`verification of ${EVENTS.toLocaleString()} events`, `${(took / 1000).toFixed(1)} s`);
      },
      (databaseUrl) => fillLongLog(databaseUrl, { events: EVENTS, password: PASSWORD }),
    );
    const lines = [['work', 'measured'], ['---', '---'], ...rows].map((row) => `| ${row.join(' | ')} |`);
    const version = (await browser(chromium)).version();
    process.stdout.write(
      `PostgreSQL ${server.version}, Node.js ${process.version}, Chromium ${version}\n\n${lines.join('\n')}\n`,
    );
  } finally {
    await stopAll();
    await server.stop();
  }
}

function add(work: string, measured: string): void {
  rows.push([work, measured]);
  process.stderr.write(`${work}: ${measured}\n`);
}

/** @param fill fills the database before its service starts */
async function withService(
  server: Server,
  work: (service: Service) => Promise<void>,
  fill?: (databaseUrl: string) => Promise<void>,
): Promise<void> {
  const databaseUrl = await server.createDatabase();
  await fill?.(databaseUrl);
  const service = await startService(databaseUrl, undefined, { ADMIN_PASSWORD: PASSWORD });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}
