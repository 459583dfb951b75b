import { pathToFileURL } from 'node:url';
import { isAbsolute } from 'node:path';
import type { z } from 'zod';
import { readRelease } from '../release.js';
import { json } from './output.js';
import type { finding } from '../http/openapi/answers/schema.js';
import { locationText } from '../schema/model/location.js';
import { policyText } from './planned-changes.js';
import { ruleOf } from '../schema/findings/finding.js';
import { type Level, type Rule, LEVELS } from '../schema/findings/model.js';
import { RULES } from '../schema/findings/rules/index.js';
import { formatCount } from '../kernel/text.js';

type Finding = z.output<typeof finding>;

/** A finding in a response. Earlier releases of the service return no level. */
export type PrintedFinding = Pick<Finding, 'code' | 'message'> & Partial<Finding>;

export interface Source {
  /** The name of the checked file. Null for stdin, or if there is no file. */
  file: string | null;
  /** The text of the file. Empty without a file. */
  text: string;
  /** Finds locations in several files. Returns null for a location that they do not contain. */
  locate?: Locate;
}

export type Locate = (collection?: string, field?: string) => { file: string; line: number } | null;

/** Formats the location: `articles.title`. Empty without a location. */
const placeOf = ({ object, ...finding }: PrintedFinding): string => {
  const location = locationText(finding);
  return object === undefined ? location : `${location} (${object.kind} ${object.name})`;
};

/** Formats the alternative request: `PATCH /fields/articles/title?online {"schema":…}`. */
function requestOf({ safer }: PrintedFinding): string | undefined {
  const request = safer?.request;
  if (request === undefined) return undefined;
  const body = request.body === undefined ? '' : ` ${JSON.stringify(request.body)}`;
  return `${request.method} ${request.path}${body}`;
}

/* Finds the line of a location in a JSON or YAML snapshot or diff, for annotations. */

const MEMBER = /^[\s-]*(?:\{\s*)?"?(collection|field)"?\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,}#]+))/;

type LineLookup = (collection: string | undefined, field?: string) => number;

/**
 * Finds the line of a location, starting at 1. If the location is not found, this is the first line. The text is
 * searched line by line, so all locations in one-line JSON are on line 1.
 */
function linesOf({ text }: Source): LineLookup {
  const countByLine = new Map<string, number>();
  let collection = '';
  for (const [index, line] of text.split('\n').entries()) {
    const [, member, double, single, plain] = MEMBER.exec(line) ?? [];
    if (member === undefined) continue;
    const name = double ?? single ?? plain ?? '';
    if (member === 'collection') collection = name;
    const key = member === 'collection' ? name : `${collection}\0${name}`;
    if (!countByLine.has(key)) countByLine.set(key, index + 1);
  }
  return (of = '', field) => countByLine.get(field === undefined ? of : `${of}\0${field}`) ?? countByLine.get(of) ?? 1;
}

/** Returns a function that finds the file and line of a location. */
function locatorOf(source: Source): Locate {
  const { file, locate } = source;
  if (locate !== undefined) return locate;
  if (file === null) return () => null;
  const lineOf = linesOf(source);
  return (collection, field) => ({ file, line: lineOf(collection, field) });
}

/**
 * Writes findings as GitHub workflow commands, which GitHub shows next to the lines of a pull request.
 * https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
 */

const COMMANDS: Readonly<Record<string, string>> = { danger: 'error', warn: 'warning', note: 'notice' };

/** Returns one line per finding. Empty without findings. Findings that the policy blocks are errors. */
function githubAnnotations(findings: readonly PrintedFinding[], source: Source): string {
  const locate = locatorOf(source);
  const lines = findings.map((finding) => {
    const { level = 'warn', code, collection, field, message, safer } = finding;
    const at = locate(collection, field);
    const properties = {
      ...(at !== null && { file: at.file, line: String(at.line) }),
      title: `${code} ${placeOf(finding)}`.trimEnd(),
    };
    const shown = Object.entries(properties).map(([name, value]) => `${name}=${property(value)}`);
    const policy = policyText(finding);
    const text = [message, policy, safer?.text, requestOf(finding)].filter((each) => each !== undefined).join('\n');
    return `::${policy === undefined ? (COMMANDS[level] ?? 'warning') : 'error'} ${shown.join(',')}::${data(text)}`;
  });
  return lines.join('\n');
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const LEVEL: Readonly<Record<Level, 'note' | 'warning' | 'error'>> = { note: 'note', warn: 'warning', danger: 'error' };

/** @param release the release of this command */
function sarifLog(findings: readonly PrintedFinding[], source: Source, release: string): object {
  const used = RULES.filter(({ code }) => findings.some((finding) => finding.code === code));
  const locate = locatorOf(source);
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'dps lint', version: release, rules: used.map(descriptorOf) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => resultOf(finding, { locate, used })),
      },
    ],
  };
}

function descriptorOf({ code, title, what, why, safer, level }: Rule): object {
  return {
    id: code,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: `${what} ${why}` },
    help: { text: safer },
    defaultConfiguration: { level: LEVEL[level] },
  };
}

interface FileLocations {
  locate: Locate;
  used: readonly Rule[];
}

function resultOf(finding: PrintedFinding, { locate, used }: FileLocations): object {
  const { code, level = 'warn', collection, field, message, why, safer } = finding;
  const rule = ruleOf(code);
  const location = placeOf(finding);
  const policy = policyText(finding);
  const text = [message, policy, why, safer?.text, requestOf(finding)].filter((each) => each !== undefined).join('\n');
  const at = locate(collection, field);
  const physical = at !== null && {
    physicalLocation: { artifactLocation: { uri: uriOf(at.file) }, region: { startLine: at.line } },
  };
  const logical = location !== '' && {
    logicalLocations: [{ fullyQualifiedName: location, kind: field === undefined ? 'type' : 'member' }],
  };
  return {
    ruleId: code,
    ...(rule !== undefined && { ruleIndex: used.indexOf(rule) }),
    level: policy === undefined ? LEVEL[level] : 'error',
    message: { text },
    ...((physical || logical) && { locations: [{ ...physical, ...logical }] }),
    partialFingerprints: { 'finding/v1': `${code} ${location}` },
  };
}

const uriOf = (file: string): string =>
  isAbsolute(file) ? pathToFileURL(file).href : file.split(/[\\/]/).map(encodeURIComponent).join('/');

/** Returns each finding with its reason and its alternative. */
function findingsText(findings: readonly PrintedFinding[]): string {
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

/** Returns the number of findings: `3 findings: 1 danger, 2 notes`. */
function countText(findings: readonly PrintedFinding[]): string {
  if (findings.length === 0) return 'No findings.';
  const counts = LEVELS.toReversed().flatMap((level) => {
    const count = findings.filter((finding) => (finding.level ?? 'warn') === level).length;
    return count === 0 ? [] : [`${count} ${level}`];
  });
  return `${formatCount(findings.length, 'finding')}: ${counts.join(', ')}.`;
}

const MARKS: Readonly<Record<string, string>> = { danger: '🛑', warn: '⚠️', note: 'ℹ️' };

/** Returns a table with the number of findings. Without findings, only the number. */
function findingsMarkdown(findings: readonly PrintedFinding[]): string {
  if (findings.length === 0) return `${countText(findings)}\n`;
  const rows = findings.map((finding) => {
    const { level = 'warn', code, message, safer } = finding;
    const request = requestOf(finding);
    const way = [safer?.text ?? '', request === undefined ? '' : code_(request)].filter(Boolean).join('<br>');
    const sentence = [message, policyText(finding)].filter((each) => each !== undefined).join('; ');
    const what = [`${MARKS[level] ?? ''} ${level}`, code_(code), code_(placeOf(finding)), cell(sentence), way];
    return `| ${what.map((each) => each.trim()).join(' | ')} |`;
  });
  return [
    `**${countText(findings)}**`,
    '',
    '| level | finding | location | message | safer alternative |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** Escapes a string for a cell. Names are untrusted, so nothing in them may be markup or end the cell. */
const cell = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>#|!@&]/g, String.raw`\$&`).replaceAll(/\s*\n\s*/g, ' ');

function code_(text: string): string {
  if (text === '') return '';
  const inner = text.replaceAll('|', String.raw`\|`).replaceAll(/\s*\n\s*/g, ' ');
  const longest = Math.max(0, ...[...inner.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${inner}${fence}` : `${fence} ${inner} ${fence}`;
}

export const FINDING_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'] as const;
export type FindingFormat = (typeof FINDING_FORMATS)[number];

/** @param source the document of the findings, for formats with line numbers */
export function printFindings(findings: readonly PrintedFinding[], format: FindingFormat, source: Source): string {
  switch (format) {
    case 'text':
      return findingsText(findings);
    case 'json':
      return json({ findings });
    case 'markdown':
      return findingsMarkdown(findings);
    case 'github':
      return githubAnnotations(findings, source);
    case 'sarif':
      return json(sarifLog(findings, source, readRelease()));
  }
}
