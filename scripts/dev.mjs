/**
 * `npm run dev`: the service from its sources, started again after each change of one, with a database of its own in
 * ./data-dev and the same credentials every day. Settings of the environment win.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const ACCOUNT = {
  ADMIN_EMAIL: 'admin@example.com',
  ADMIN_PASSWORD: 'development only',
  ADMIN_TOKEN: 'development-only-0123456789abcdef',
};

const env = { DATA_DIR: './data-dev', LOG_FORMAT: 'pretty', ...process.env };
// Credentials that everybody knows are for a database that only this machine can reach.
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
// What follows `npm run dev --` is for Node, such as --inspect.
const flags = ['watch', '--clear-screen=false', '--import', register, ...process.argv.slice(2)];
const child = spawn(process.execPath, [tsx, ...flags, 'src/main.ts'], { env, stdio: 'inherit' });

// The terminal sends Ctrl-C to the child as well; a signal to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
