/* `dps login` and `dps logout`: start and end a session with the OpenID provider through a browser. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExitCode, Invocation } from '../../cli/command.js';
import { requestAnyStatus, requestData, baseOf, describeRejection } from '../../cli/connections/service.js';
import { storeSession, readStoredRefreshToken } from '../../cli/connections/sessions.js';
import { toOneLine } from '../../cli/output.js';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Grant } from './sessions.js';

/** Opens a browser unless --no-browser is set, and waits until the user has signed in. */
export async function login(invocation: Invocation): Promise<ExitCode> {
  const { terminal, values } = invocation;
  const base = baseOf(invocation);
  // The requests of the login would fail with the token of an expired session.
  await storeSession(invocation, base, null);
  const { oidc } = await requestData(invocation, 'listProviders');
  if (oidc === null) {
    throw new OperatorError(
      'The service has no OpenID provider. Use an API token (DPS_TOKEN), or set OIDC_ISSUER there.',
    );
  }
  const verifier = randomBytes(32).toString('base64url');
  const returned = await listenForReturn();
  try {
    const url = new URL('auth/oidc/login', base);
    url.searchParams.set('port', String(returned.port));
    url.searchParams.set('challenge', createHash('sha256').update(verifier).digest('base64url'));
    terminal.note(`Open ${url.href} in a browser.`);
    if (values['browser'] !== false) openBrowser(url.href);
    const code = await returned.code;
    const grant = await exchange(invocation, { code, verifier });
    await storeSession(invocation, base, grant);
  } finally {
    returned.close();
  }
  const { email, role } = await requestData(invocation, 'getMe');
  terminal.note(`Logged in to ${new URL(base).origin} as ${toOneLine(email)} (${role}).`);
  return 0;
}

/** Ends the stored session, also at the service. */
export async function logout(invocation: Invocation): Promise<ExitCode> {
  const base = baseOf(invocation);
  const token = await readStoredRefreshToken(invocation, base);
  if (token === undefined) {
    invocation.terminal.note('There is no session to end.');
    return 0;
  }
  await storeSession(invocation, base, null);
  const { status, text } = await requestAnyStatus(invocation, 'logout', { body: { refresh_token: token } });
  if (status !== 204) throw new OperatorError(describeRejection(status, text));
  invocation.terminal.note(`Logged out of ${new URL(base).origin}.`);
  return 0;
}

async function exchange(invocation: Invocation, body: { code: string; verifier: string }): Promise<Grant> {
  const { status, text } = await requestAnyStatus(invocation, 'exchangeSignIn', { body });
  if (status !== 200) throw new OperatorError(describeRejection(status, text));
  return (JSON.parse(text) as { data: Grant }).data;
}

/* Runs a server on this machine, to which the browser returns. */

const OUTCOMES: Readonly<Record<string, string>> = {
  denied: 'You cancelled the sign-in.',
  unavailable: 'The OpenID provider does not respond. Try again later.',
  'no-access': 'Your account at the provider has no role in this service. Ask an admin for access.',
  suspended: 'Your account is suspended. Ask an admin to activate it.',
  link: 'An account with your e-mail address exists. Sign in once in the app to link your identity to it.',
};

interface Return {
  port: number;
  /** Rejects with an OperatorError if the sign-in did not succeed. */
  code: Promise<string>;
  close(): void;
}

async function listenForReturn(): Promise<Return> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const code = new Promise<string>((resolve, reject) => {
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      const { pathname, searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1');
      const outcome = searchParams.get('sign_in');
      if (pathname !== '/' || outcome === null) {
        res.writeHead(404).end();
        return;
      }
      const returnedCode = searchParams.get('code');
      const message = OUTCOMES[outcome] ?? 'The sign-in failed. The log of the service contains the reason.';
      res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      res.end(returnedCode === null ? message : 'You are signed in. You can close this window.');
      if (returnedCode === null) reject(new OperatorError(message));
      else resolve(returnedCode);
    });
  });
  // The code is awaited only after the browser was opened. Until then, a rejection must not count as unhandled.
  code.catch(() => undefined);
  return { port: (server.address() as AddressInfo).port, code, close: () => void server.close() };
}

/** Opens the browser. Failures are ignored, because the address was printed. */
function openBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  const opened = spawn(program, [url], { detached: true, stdio: 'ignore' });
  opened.on('error', () => undefined);
  opened.unref();
}
