import type { z } from 'zod';
import type { diff, finding } from '../http/openapi/answers/schema.js';
import { isObject, type Json } from '../kernel/json.js';
import { quoteForShell } from '../kernel/text.js';
import { locationText, INVALID_LOCATION, canonicalLocation } from '../schema/model/location.js';
import { type Acknowledgement, type Policy, keyOf } from '../schema/policy.js';
import { type Values, UsageError, texts } from './command.js';
import { type DocumentBody, parseDocument, parseObjectName } from './input.js';
import { toOneLine } from './output.js';

/* The policy's effect on a change, and acknowledged findings. */

/** A finding in a response. Earlier releases of the service return no action, and later ones may return others. */
type FindingAnswer = Pick<z.output<typeof finding>, 'code' | 'collection' | 'field'> & { action?: string | undefined };

/**
 * Parses --acknowledge.
 * @throws UsageError
 */
export function readAcknowledgements(values: Values): Acknowledgement[] {
  return texts(values, 'acknowledge').map((value) => {
    const [, code, text = ''] = /^([A-Z_]+):(\P{Cc}*)$/su.exec(value) ?? [];
    if (code === undefined)
      throw new UsageError('--acknowledge must be CODE:PLACE, as a plan shows it: LOSES_DATA:posts.title.');
    const location = canonicalLocation(text);
    if (location === undefined) throw new UsageError(`--acknowledge ${value}: ${INVALID_LOCATION}.`);
    return { code, place: location };
  });
}

/**
 * Returns the X-Acknowledge header.
 * @throws UsageError
 */
export function acknowledgeHeader(values: Values): Record<string, string> {
  const acknowledgements = readAcknowledgements(values);
  if (acknowledgements.length === 0) return {};
  return { 'X-Acknowledge': acknowledgements.map(keyOf).join(', ') };
}

/** The findings that the policy blocks. */
export function selectBlocked<F extends FindingAnswer>(findings: readonly F[] | undefined, values: Values): F[] {
  const acknowledgedKeys = new Set(readAcknowledgements(values).map(keyOf));
  return (findings ?? []).filter((finding) => {
    if (policyText(finding) === undefined) return false;
    return finding.action !== 'acknowledge' || !acknowledgedKeys.has(findingKey(finding));
  });
}

const findingKey = (answered: FindingAnswer): string => keyOf({ code: answered.code, place: locationText(answered) });

/** Describes the action of the policy. Undefined if the policy does not block the finding. */
export function policyText(finding: FindingAnswer): string | undefined {
  switch (finding.action) {
    case 'refuse':
      return 'the policy rejects it';
    case 'approve':
      return 'the policy requires an approved change request';
    case 'acknowledge':
      return `the policy requires an acknowledgement (--acknowledge ${shellWord(findingKey(finding))})`;
    default:
      return undefined;
  }
}

/** The header in messages of the service. In messages of this command, the option replaces it. */
const HEADER = 'X-Acknowledge';
export const OPTION = '--acknowledge';

/** Replaces the headers in a message with the equivalent options. */
export function withOptionNames(message: string, path?: string): string {
  const text = message
    .replaceAll(/\(X-Acknowledge: (.+?)\)(?=: )/g, (_, named: string) => `(${OPTION} ${shellWord(named)})`)
    .replace('(X-Reason)', '(--reason)');
  if (path === undefined || path === '') return text;
  return `${path === HEADER ? OPTION : path}: ${text}`;
}

/** Returns the text quoted for a shell, if necessary. */
export const shellWord = (text: string): string => (/^[\w.:%-]+$/.test(text) ? text : quoteForShell(text));

/** Returns one line per rule, then lines about collections, online changes and approvals. */
export function describePolicy({ findings, collections, online_above_rows: rows, ...people }: Policy): string {
  const lines = Object.entries(findings).map(([code, action]) => `${code}: ${action}`);
  for (const rule of collections)
    for (const [code, action] of Object.entries(rule.findings)) lines.push(`${code} for ${rule.pattern}: ${action}`);
  if (lines.length === 0) lines.push('Each finding is shown with its own level, and nothing is rejected.');
  if (rows !== null) lines.push(`Online changes are required above ${rows.toLocaleString('en')} rows.`);
  const who = people.author_may_approve ? 'its author may approve' : 'its author cannot approve';
  lines.push(`Required approvals of a change request: ${people.approvals}; ${who}.`);
  if (people.requires_reason) lines.push('Every change requires a reason.');
  const changes = POLICY_CHANGES[people.policy_changes];
  if (changes !== undefined) lines.push(changes);
  return lines.join('\n');
}

/** The requirements of a change to the policy. Absent if it requires nothing. */
const POLICY_CHANGES: Readonly<Partial<Record<Policy['policy_changes'], string>>> = {
  acknowledge: 'A change that loosens the policy requires an acknowledgement.',
  approve: 'A policy change requires an approved change request.',
};

export type DiffDocument = z.output<typeof diff>;

/** A changed object with its kind, its name and its changes. */
export interface Entry {
  kind: string;
  name: string;
  diff: DiffDocument['diff']['collections'][number]['diff'];
}

/** The members of a finding that are shown in one line. */
export type JudgedWarning = Pick<z.output<typeof finding>, 'code' | 'message' | 'collection' | 'field' | 'action'>;

/** Earlier releases of the service return no objects. */
export function entriesOf({ collections, fields, relations, objects = [] }: DiffDocument['diff']): Entry[] {
  return [
    ...collections.map((entry) => ({ kind: 'collection', name: locationText(entry), diff: entry.diff })),
    ...fields.map((entry) => ({ kind: 'field', name: locationText(entry), diff: entry.diff })),
    ...relations.map((entry) => ({ kind: 'relation', name: locationText(entry), diff: entry.diff })),
    ...objects.map(({ kind, id, diff }) => ({ kind: kind.replaceAll('_', ' '), name: id, diff })),
  ];
}

/** True if the diff has no entries. Warnings do not count. */
export const isEmpty = ({ diff }: DiffDocument): boolean => entriesOf(diff).length === 0;

/** Returns one line per entry, such as `+ field articles.title`, and then the warnings. */
export function describeDiff(document: DiffDocument): string {
  const lines = entriesOf(document.diff).map(describeEntry);
  if (lines.length === 0) lines.push('No differences.');
  lines.push(...describeWarnings(document.warnings));
  return lines.join('\n');
}

/** Returns one line per warning. */
export const describeWarnings = (warnings: readonly JudgedWarning[] = []): string[] =>
  warnings.map((warning) => `! ${describeWarning(warning)}`);

/** Returns one line with the code, the location, and the action of the policy if there is one. */
export function describeWarning(warning: JudgedWarning): string {
  const { code, message } = warning;
  const location = locationText(warning);
  const policy = policyText(warning);
  const text = policy === undefined ? message : `${message}; ${policy}`;
  return toOneLine(location === '' ? `${code}: ${text}` : `${code} ${location}: ${text}`);
}

function describeEntry({ kind, name: untrusted, diff }: Entry): string {
  const name = toOneLine(untrusted);
  const whole = diff.find((change) => change.path === undefined || change.path.length === 0);
  if (whole?.kind === 'N') return `+ ${kind} ${name}`;
  if (whole?.kind === 'D') return `- ${kind} ${name}`;
  const members = new Set(diff.map(({ path }) => (path ?? []).join('.')));
  return `~ ${kind} ${name}: ${[...members].join(', ')}`;
}

interface RequestedBackfill {
  collection: string;
  field: string;
  backfill: Json;
}

/**
 * Adds the backfills of --backfill to a diff.
 * @param file the name of the diff, for messages
 * @throws UsageError if an option is malformed, or if the diff does not change its field
 */
export function addBackfills(values: Values, body: DocumentBody, file: string): DocumentBody {
  const requested = texts(values, 'backfill').map(parseBackfill);
  if (requested.length === 0) return body;
  const document = structuredClone(parseDocument(body, file)) as { diff?: { fields?: unknown } };
  const fields = document.diff?.fields;
  const items = Array.isArray(fields) ? fields.filter(isObject) : [];
  for (const { collection, field, backfill } of requested) {
    // A replaced field has two items, first its removal and then its addition.
    const item = items.findLast((each) => each['collection'] === collection && each['field'] === field);
    if (item === undefined)
      throw new UsageError(`--backfill: the change does not contain the field ${locationText({ collection, field })}.`);
    item['backfill'] = backfill;
  }
  return { type: 'application/json', content: Buffer.from(JSON.stringify(document)) };
}

const EXAMPLE = '--backfill must be FIELD=JSON, for example \'orders.status={"value": "new"}\'';

function parseBackfill(option: string): RequestedBackfill {
  const [, place, text = ''] = /^(.+?)=(\{.*)$/su.exec(option) ?? [];
  if (place === undefined) throw new UsageError(`${EXAMPLE}.`);
  const { collection, field } = parseObjectName(place);
  if (field === undefined) throw new UsageError(`${EXAMPLE}. ${shellWord(place)} is not a field.`);
  try {
    return { collection, field, backfill: JSON.parse(text) as Json };
  } catch {
    throw new UsageError(`${EXAMPLE}. The text after the equals sign in ${shellWord(place)} is not JSON.`);
  }
}
