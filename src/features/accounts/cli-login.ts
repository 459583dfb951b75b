/* `dps login` and `dps logout`: start and end a session with the OpenID provider through a browser of this machine or of
   another device. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { parseDocument, readContent, readDocument } from '../../cli/input.js';
import { type ExitCode, type Invocation, UsageError, text } from '../../cli/command.js';
import {
  requestAnyStatus,
  requestData,
  baseOf,
  describeRejection,
  reasonHeader,
} from '../../cli/connections/service.js';
import { storeSession, readStoredRefreshToken } from '../../cli/connections/sessions.js';
import { toOneLine, show, table } from '../../cli/output.js';
import { OperatorError } from '../../kernel/problem.js';
import type { newToken } from './routes-answers.js';
import type { trust } from './routes-trust.js';
import type { Grant } from './sessions.js';
import { explainOutcome } from './sign-in-outcomes.js';

/** Opens a browser unless --no-browser or --device is set, and waits until the user has signed in. */
export async function login(invocation: Invocation): Promise<ExitCode> {
  const { terminal, values } = invocation;
  const base = baseOf(invocation);
  // The login requests would fail with the token of an expired session.
  await storeSession(invocation, base, null);
  const { oidc } = await requestData(invocation, 'listProviders');
  if (oidc === null) {
    throw new OperatorError(
      'The service has no OpenID provider. Use an API token (DPS_TOKEN), or set OIDC_ISSUER there.',
    );
  }
  await (values['device'] === true ? logInOnOtherDevice(invocation, base) : logInWithBrowser(invocation, base));
  const { email, role } = await requestData(invocation, 'getMe');
  terminal.note(`Logged in to ${new URL(base).origin} as ${toOneLine(email)} (${role}).`);
  return 0;
}

async function logInWithBrowser(invocation: Invocation, base: string): Promise<void> {
  const { terminal, values } = invocation;
  const verifier = randomBytes(32).toString('base64url');
  const returned = await listenForReturn();
  try {
    const url = new URL('auth/oidc/login', base);
    url.searchParams.set('port', String(returned.port));
    url.searchParams.set('challenge', createHash('sha256').update(verifier).digest('base64url'));
    terminal.note(`Open ${url.href} in a browser.`);
    if (values['browser'] !== false) openBrowser(url.href);
    const code = await returned.code;
    const grant = await redeemCode(invocation, { code, verifier });
    await storeSession(invocation, base, grant);
  } finally {
    returned.close();
  }
}

/** Waits until the user has confirmed the code in a browser of any device. */
async function logInOnOtherDevice(invocation: Invocation, base: string): Promise<void> {
  const started = await requestData(invocation, 'startDeviceSignIn');
  const { verification_uri: page, user_code: code } = started;
  invocation.terminal.note(
    `Open ${toOneLine(page)} in a browser on any device, and enter the code ${toOneLine(code)}.`,
  );
  const expiresAt = Date.now() + started.expires_in * 1000;
  let { device, interval } = started;
  for (;;) {
    await sleep(Math.min(interval * 1000, Math.max(expiresAt - Date.now(), 0)));
    const { grant, pending, failure } = await pollDevice(invocation, device);
    if (grant !== undefined) {
      await storeSession(invocation, base, grant);
      return;
    }
    if (failure !== undefined && Date.now() >= expiresAt) throw failure;
    // RFC 8628 recommends doubling the interval while the service does not respond.
    ({ device, interval } = pending ?? { device, interval: Math.min(Math.max(interval, 1) * 2, LONGEST_INTERVAL) });
  }
}

/** Maximum number of seconds between two requests while the service does not respond. */
const LONGEST_INTERVAL = 60;

/** `failure`: the reason why the service cannot respond now. */
interface DevicePoll {
  grant?: Grant;
  pending?: { device: string; interval: number };
  failure?: OperatorError;
}

/** @throws OperatorError if the service rejects the sign-in */
async function pollDevice(invocation: Invocation, device: string): Promise<DevicePoll> {
  const request = requestAnyStatus(invocation, 'finishDeviceSignIn', { body: { device } });
  const answer = await request.catch((error: unknown) => {
    if (error instanceof OperatorError) return error;
    throw error;
  });
  if (answer instanceof OperatorError) return { failure: answer };
  const { status, text } = answer;
  if (status === 200) return { grant: (JSON.parse(text) as { data: Grant }).data };
  if (status === 202) return { pending: (JSON.parse(text) as { data: { device: string; interval: number } }).data };
  const rejection = new OperatorError(describeRejection(status, text));
  if (status >= 500 || status === 429) return { failure: rejection };
  throw rejection;
}

/** Ends the stored session, including at the service. */
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

async function redeemCode(invocation: Invocation, body: { code: string; verifier: string }): Promise<Grant> {
  const { status, text } = await requestAnyStatus(invocation, 'exchangeSignIn', { body });
  if (status !== 200) throw new OperatorError(describeRejection(status, text));
  return (JSON.parse(text) as { data: Grant }).data;
}

/* Runs a server on this machine, to which the browser returns. */

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
      const message = explainOutcome(outcome);
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

/* `dps trust` and `dps exchange`: give pipelines access without a stored secret. */

type Trust = z.output<typeof trust>;

/** Prints the current rules. With --json, the output is in the format that `set` reads. */
export async function showTrust(invocation: Invocation): Promise<ExitCode> {
  const rules = await requestData(invocation, 'getTrust');
  show(invocation, rules, () => describeRules(rules));
  return 0;
}

/** Replaces all rules. */
export async function setTrust(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const body = parseDocument(await readDocument(invocation, file), file, 'a list of trust rules');
  const rules = await requestData(invocation, 'setTrust', { body, headers: reasonHeader(invocation) });
  show(invocation, rules, () => describeRules(rules));
  return 0;
}

function describeRules({ rules }: Trust): string {
  if (rules.length === 0) return 'No trust rules.';
  const rows = rules.map(({ name, issuer, audience, claims, scope, minutes }) => {
    const required = Object.entries(claims).map(([claim, pattern]) => `${claim}=${pattern}`);
    const limits = [
      `as ${scope.role}`,
      scope.actions.join(','),
      scope.collections?.join(','),
      scope.networks?.join(','),
    ];
    return [name, issuer, audience, required.join(' '), limits.filter(Boolean).join('; '), `${minutes} min`].map(
      toOneLine,
    );
  });
  return table(['name', 'issuer', 'audience', 'claims', 'scope', 'lifetime'], rows);
}

/** Prints only the API token, so that a script can store it in DPS_TOKEN. */
export async function exchange(invocation: Invocation): Promise<ExitCode> {
  const audience = text(invocation.values, 'audience') ?? new URL(baseOf(invocation)).origin;
  const token = await readIdToken(invocation, audience);
  const response = await requestAnyStatus(invocation, 'exchangeToken', { body: { token } });
  if (response.status !== 200) throw new OperatorError(describeRejection(response.status, response.text));
  const { data: made } = JSON.parse(response.text) as { data: z.output<typeof newToken> };
  show(invocation, made, () => made.token);
  invocation.terminal.note(
    `API token under the trust rule "${toOneLine(made.rule ?? '')}", expires ${made.expires_at}.`,
  );
  return 0;
}

/** Reads the ID token. GitLab and others pass it in a variable or a file. GitHub returns it for an audience. */
async function readIdToken(invocation: Invocation, audience: string): Promise<string> {
  const { environment, values } = invocation;
  const file = text(values, 'idTokenFile');
  if (file !== undefined) return (await readContent(invocation, file)).toString().trim();
  const {
    DPS_ID_TOKEN: token,
    ACTIONS_ID_TOKEN_REQUEST_URL: url,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret,
  } = environment;
  if (token) return token.trim();
  if (!url || !secret)
    throw new UsageError(
      'There is no ID token. Set DPS_ID_TOKEN, or use --id-token-file. On GitHub, the job needs "permissions: id-token: write".',
    );
  return requestIdToken(url, secret, audience);
}

/** Milliseconds within which GitHub must respond. */
const TIMEOUT = 30_000;

async function requestIdToken(url: string, secret: string, audience: string): Promise<string> {
  const address = new URL(url);
  address.searchParams.set('audience', audience);
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${secret}`, accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((cause: unknown) => {
    throw new OperatorError(`No ID token: ${address.origin} does not respond.`, { cause });
  });
  if (!response.ok) throw new OperatorError(`No ID token: ${address.origin} responded with status ${response.status}.`);
  const { value } = (await response.json()) as { value?: unknown };
  if (typeof value !== 'string') throw new OperatorError(`No ID token: ${address.origin} returned none.`);
  return value;
}
