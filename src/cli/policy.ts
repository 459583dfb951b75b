/** What the policy says of a change, and what its maker says to know of. */
import type { Acknowledgement } from '../schema/policy/index.js';
import { type Values, UsageError, texts } from './command.js';

/** Of a finding, as a service answers it; one of an older release says no action. */
interface Found {
  code: string;
  collection?: string | undefined;
  field?: string | undefined;
  action?: string | undefined;
}

/** What --acknowledge names. @throws UsageError */
export function acknowledged(values: Values): Acknowledgement[] {
  return texts(values, 'acknowledge').map((given) => {
    const [, code, place] = /^([A-Z_]+):(.*)$/s.exec(given) ?? [];
    if (code === undefined || place === undefined || /\p{Cc}/u.test(place))
      throw new UsageError('--acknowledge is CODE:PLACE, as a plan shows them: LOSES_DATA:posts.title.');
    return { code, place };
  });
}

/** The header that says it to a service. @throws UsageError */
export function acknowledgeHeader(values: Values): Record<string, string> {
  const given = acknowledged(values);
  if (given.length === 0) return {};
  const text = given.map(({ code, place }) => `${code}:${place.replaceAll('%', '%25').replaceAll(',', '%2C')}`);
  // Headers are bytes.
  return { 'x-acknowledge': Buffer.from(text.join(', ')).toString('latin1') };
}

/** What of a change the policy stops. */
export function stoppedBy<F extends Found>(findings: readonly F[] | undefined, values: Values): F[] {
  const known = new Set(acknowledged(values).map(({ code, place }) => `${code}:${place}`));
  return (findings ?? []).filter((finding) => {
    if (policyText(finding) === undefined) return false;
    return finding.action !== 'acknowledge' || !known.has(keyOf(finding));
  });
}

const keyOf = ({ code, collection, field }: Found): string =>
  `${code}:${[collection, field].filter((name) => name !== undefined).join('.')}`;

/** How a finding is stopped, in words; undefined: it isn't. */
export function policyText(finding: Found): string | undefined {
  switch (finding.action) {
    case 'refuse':
      return 'the policy refuses it';
    case 'approve':
      return 'the policy wants an approved change request';
    case 'acknowledge':
      return `the policy wants it acknowledged (--acknowledge ${shellWord(keyOf(finding))})`;
    default:
      return undefined;
  }
}

/** The name of the header, where its option is meant. */
const HEADER = 'X-Acknowledge';
export const OPTION = '--acknowledge';

/** A refusal, at a place or not, with the option in the place of the header that does the same. */
export function asOption(message: string, path?: string): string {
  const said = message.replaceAll(/\(X-Acknowledge: (.+?)\)(?=: )/g, (_, named: string) => {
    const key = named.replaceAll('%2C', ',').replaceAll('%25', '%');
    return `(${OPTION} ${shellWord(key)})`;
  });
  if (path === undefined || path === '') return said;
  return `${path === HEADER ? OPTION : path}: ${said}`;
}

/** As a shell takes it. */
const shellWord = (text: string): string =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
