/** The policy's effect on a change, and acknowledged findings. */
import { NO_PLACE, placeText, samePlace } from '../schema/model/place.js';
import { type Acknowledgement, type Policy, keyOf } from '../schema/policy/index.js';
import { shellQuoted } from '../kernel/shell.js';
import { type Values, UsageError, texts } from './command.js';

/** A finding in a response; earlier releases return no action. */
interface Found {
  code: string;
  collection?: string | undefined;
  field?: string | undefined;
  action?: string | undefined;
}

/**
 * Parses --acknowledge.
 * @throws UsageError
 */
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

/**
 * The X-Acknowledge header.
 * @throws UsageError
 */
export function acknowledgeHeader(values: Values): Record<string, string> {
  const given = acknowledged(values);
  if (given.length === 0) return {};
  const text = given.map(keyOf);
  // Headers are bytes, so UTF-8 is passed as latin1.
  return { 'x-acknowledge': Buffer.from(text.join(', ')).toString('latin1') };
}

/** The findings that the policy blocks. */
export function stoppedBy<F extends Found>(findings: readonly F[] | undefined, values: Values): F[] {
  const known = new Set(acknowledged(values).map(keyOf));
  return (findings ?? []).filter((finding) => {
    if (policyText(finding) === undefined) return false;
    return finding.action !== 'acknowledge' || !known.has(keyOfFound(finding));
  });
}

const keyOfFound = (found: Found): string => keyOf({ code: found.code, place: placeText(found) });

/** The policy's action in words; undefined if it does not block the finding. */
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

/** The header name, which messages replace by the option. */
const HEADER = 'X-Acknowledge';
export const OPTION = '--acknowledge';

/** A message with the option instead of the equivalent header. */
export function asOption(message: string, path?: string): string {
  const said = message.replaceAll(
    /\(X-Acknowledge: (.+?)\)(?=: )/g,
    (_, named: string) => `(${OPTION} ${shellWord(named)})`,
  );
  if (path === undefined || path === '') return said;
  return `${path === HEADER ? OPTION : path}: ${said}`;
}

/** Quoted for a shell. */
export const shellWord = (text: string): string => (/^[\w.:%-]+$/.test(text) ? text : shellQuoted(text));

/** One line per rule, then collections, online changes and approvals. */
export function describePolicy({ findings, collections, online_above_rows: rows, ...people }: Policy): string {
  const lines = Object.entries(findings).map(([code, action]) => `${code}: ${action}`);
  for (const rule of collections)
    for (const [code, action] of Object.entries(rule.findings)) lines.push(`${code} of ${rule.pattern}: ${action}`);
  if (lines.length === 0) lines.push('Every finding is shown by its level, and nothing is refused.');
  if (rows !== null) lines.push(`Online above ${rows.toLocaleString('en')} rows.`);
  const who = people.author_may_approve ? 'its author may be one of them' : 'its author is none of them';
  lines.push(`Approvals of a change request: ${people.approvals}; ${who}.`);
  const changes = POLICY_CHANGES[people.policy_changes];
  if (changes !== undefined) lines.push(changes);
  return lines.join('\n');
}

/** What a change of the policy needs, where it needs anything. */
const POLICY_CHANGES: Readonly<Partial<Record<Policy['policy_changes'], string>>> = {
  acknowledge: 'Loosening the policy must be acknowledged.',
  approve: 'A change of the policy needs an approved change request.',
};
