/** What the policy says of a change, and what its maker says to know of. */
import { NO_PLACE, placeText, samePlace } from '../schema/model/place.js';
import { type Acknowledgement, keyOf } from '../schema/policy/index.js';
import { shellQuoted } from '../kernel/shell.js';
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
    const [, code, text = ''] = /^([A-Z_]+):(\P{Cc}*)$/su.exec(given) ?? [];
    if (code === undefined)
      throw new UsageError('--acknowledge is CODE:PLACE, as a plan shows them: LOSES_DATA:posts.title.');
    const place = samePlace(text);
    if (place === undefined) throw new UsageError(`--acknowledge ${given}: ${NO_PLACE}.`);
    return { code, place };
  });
}

/** The header that says it to a service. @throws UsageError */
export function acknowledgeHeader(values: Values): Record<string, string> {
  const given = acknowledged(values);
  if (given.length === 0) return {};
  const text = given.map(keyOf);
  // Headers are bytes.
  return { 'x-acknowledge': Buffer.from(text.join(', ')).toString('latin1') };
}

/** What of a change the policy stops. */
export function stoppedBy<F extends Found>(findings: readonly F[] | undefined, values: Values): F[] {
  const known = new Set(acknowledged(values).map(keyOf));
  return (findings ?? []).filter((finding) => {
    if (policyText(finding) === undefined) return false;
    return finding.action !== 'acknowledge' || !known.has(keyOfFound(finding));
  });
}

const keyOfFound = (found: Found): string => keyOf({ code: found.code, place: placeText(found) });

/** How a finding is stopped, in words; undefined: it isn't. */
export function policyText(finding: Found): string | undefined {
  switch (finding.action) {
    case 'refuse':
      return 'the policy refuses it';
    case 'approve':
      return 'the policy wants an approved change request';
    case 'acknowledge':
      return `the policy wants it acknowledged (--acknowledge ${shellWord(keyOfFound(finding))})`;
    default:
      return undefined;
  }
}

/** The name of the header, where its option is meant. */
const HEADER = 'X-Acknowledge';
export const OPTION = '--acknowledge';

/** A refusal, at a place or not, with the option in the place of the header that does the same. */
export function asOption(message: string, path?: string): string {
  const said = message.replaceAll(
    /\(X-Acknowledge: (.+?)\)(?=: )/g,
    (_, named: string) => `(${OPTION} ${shellWord(named)})`,
  );
  if (path === undefined || path === '') return said;
  return `${path === HEADER ? OPTION : path}: ${said}`;
}

/** As a shell takes it. */
export const shellWord = (text: string): string => (/^[\w.:%-]+$/.test(text) ? text : shellQuoted(text));
