/** `npm run bench -- NAME [options]`: runs one benchmark on the built program. Without a name it lists them. */
import { ensureBuilt } from '../../test/support/built.js';

const BENCHMARKS: Record<string, () => Promise<unknown>> = {
  service: async () => (await import('./service.js')).service(),
  check: async () => (await import('./service.js')).check(),
  app: () => import('./app/main.js'),
  crowd: () => import('./crowd/main.js'),
  growth: () => import('./growth.js'),
  directus: () => import('./directus.js'),
  history: () => import('./history/main.js'),
  loop: () => import('./event-loop/main.js'),
  online: () => import('./online/main.js'),
  operators: () => import('./operators.js'),
  pooler: () => import('./pooler.js'),
  standbys: () => import('./standbys.js'),
  trash: () => import('./trash.js'),
  webhooks: () => import('./webhooks.js'),
};

// The benchmark reads the options that follow its name.
const [name = ''] = process.argv.splice(2, 1);
const benchmark = BENCHMARKS[name];
if (benchmark === undefined) {
  console.log(`npm run bench -- ${Object.keys(BENCHMARKS).join(' | ')}`);
  process.exit(1);
}
ensureBuilt();
await benchmark();
