/**
 * `npm run dev`: runs the service from its sources and restarts it after each change. The database is in ./data-dev,
 * and the credentials stay the same. Settings of the environment take precedence.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const ACCOUNT = {
  ADMIN_EMAIL: 'admin@example.com',
  ADMIN_PASSWORD: 'development only',
  ADMIN_TOKEN: 'development-only-0123456789abcdef',
};

const env = { DATA_DIR: './data-dev', LOG_FORMAT: 'pretty', ...process.env };
// Well-known credentials are safe only for a database that nobody else can reach.
const isOurs = !env.DATABASE_URL && !env.DATABASE_URL_FILE && !env.HOST;
if (isOurs) {
  for (const [name, value] of Object.entries(ACCOUNT)) env[name] ??= value;
  console.log(`Database: ${env.DATA_DIR}   E-mail: ${env.ADMIN_EMAIL}   Password: ${env.ADMIN_PASSWORD}`);
  console.log(
    `export URL=http://127.0.0.1:${env.PORT ?? 8055} TOKEN=${env.ADMIN_TOKEN} ADMIN_TOKEN=${env.ADMIN_TOKEN}\n`,
  );
}

const tsx = createRequire(import.meta.url).resolve('tsx/cli');
const register = new URL('../test/support/typescript.mjs', import.meta.url).href;
// Arguments after `npm run dev --` go to Node, for example --inspect.
const flags = ['watch', '--clear-screen=false', '--import', register, ...process.argv.slice(2)];
const child = spawn(process.execPath, [tsx, ...flags, 'src/main.ts'], { env, stdio: 'inherit' });

// The terminal sends Ctrl-C to the child too. A signal to this process alone is forwarded.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
