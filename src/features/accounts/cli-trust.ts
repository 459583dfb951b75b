/* `dps trust` and `dps exchange`: give pipelines access without a stored secret. */
import type { z } from 'zod';
import { type ExitCode, type Invocation, UsageError, text } from '../../cli/command.js';
import {
  baseOf,
  describeRejection,
  reasonHeader,
  requestAnyStatus,
  requestData,
} from '../../cli/connections/service.js';
import { parseDocument, readContent, readDocument } from '../../cli/input.js';
import { show as print, table, toOneLine } from '../../cli/output.js';
import { OperatorError } from '../../kernel/problem.js';
import type { newToken } from './routes-answers.js';
import type { trust } from './routes-trust.js';

type Trust = z.output<typeof trust>;

/** Prints the current rules. With --json, the output is in the format that `set` reads. */
export async function show(invocation: Invocation): Promise<ExitCode> {
  const rules = await requestData(invocation, 'getTrust');
  print(invocation, rules, () => describe(rules));
  return 0;
}

/** Replaces all rules. */
export async function set(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const body = parseDocument(await readDocument(invocation, file), file, 'a list of trust rules');
  const rules = await requestData(invocation, 'setTrust', { body, headers: reasonHeader(invocation) });
  print(invocation, rules, () => describe(rules));
  return 0;
}

function describe({ rules }: Trust): string {
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
  print(invocation, made, () => made.token);
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

/** Milliseconds in which GitHub must respond. */
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
