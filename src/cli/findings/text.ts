import { LEVELS } from '../../schema/findings/index.js';
import { counted } from '../../kernel/counted.js';
import { policyText } from '../policy.js';
import { type Shown, placeOf, requestOf } from './model.js';

/** Each with the reason and the alternative. */
export function findingsText(findings: readonly Shown[]): string {
  const blocks = findings.map((finding) => {
    const { level = 'warn', code, message, why, safer } = finding;
    const lines = [`${level.padEnd(6)} ${code} ${placeOf(finding)}`.trimEnd(), `  ${message}`];
    if (why !== undefined && why !== message) lines.push(`  why: ${why}`);
    if (safer !== undefined) lines.push(`  safer: ${safer.text}`);
    const request = requestOf(finding);
    if (request !== undefined) lines.push(`    ${request}`);
    const policy = policyText(finding);
    if (policy !== undefined) lines.push(`  ${policy}`);
    return lines.join('\n');
  });
  return [...blocks, countText(findings)].join('\n\n');
}

/** `3 findings: 1 danger, 2 notes` */
function countText(findings: readonly Shown[]): string {
  if (findings.length === 0) return 'No findings.';
  const counts = LEVELS.toReversed().flatMap((level) => {
    const count = findings.filter((finding) => (finding.level ?? 'warn') === level).length;
    return count === 0 ? [] : [`${count} ${level}`];
  });
  return `${counted(findings.length, 'finding')}: ${counts.join(', ')}.`;
}

const MARKS: Readonly<Record<string, string>> = { danger: '🛑', warn: '⚠️', note: 'ℹ️' };

/** A table with a count, or the count alone. */
export function findingsMarkdown(findings: readonly Shown[]): string {
  if (findings.length === 0) return `${countText(findings)}\n`;
  const rows = findings.map((finding) => {
    const { level = 'warn', code, message, safer } = finding;
    const request = requestOf(finding);
    const way = [safer?.text ?? '', request === undefined ? '' : code_(request)].filter(Boolean).join('<br>');
    const said = [message, policyText(finding)].filter((each) => each !== undefined).join('; ');
    const what = [`${MARKS[level] ?? ''} ${level}`, code_(code), code_(placeOf(finding)), cell(said), way];
    return `| ${what.map((each) => each.trim()).join(' | ')} |`;
  });
  return [
    `**${countText(findings)}**`,
    '',
    '| level | finding | place | what | safer |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** Names are untrusted: nothing in them may be markup or end a cell. */
const cell = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>#|!@&]/g, String.raw`\$&`).replaceAll(/\s*\n\s*/g, ' ');

function code_(text: string): string {
  if (text === '') return '';
  const inner = text.replaceAll('|', String.raw`\|`).replaceAll(/\s*\n\s*/g, ' ');
  const longest = Math.max(0, ...[...inner.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${inner}${fence}` : `${fence} ${inner} ${fence}`;
}
