import { pathToFileURL } from 'node:url';
import { isAbsolute } from 'node:path';
import { type Level, RULES, type Rule, ruleOf } from '../../schema/findings/index.js';
import { policyText } from '../policy.js';
import { locatorOf } from './lines.js';
import { type Locate, type Shown, type Source, placeOf, requestOf } from './model.js';

const LEVEL: Readonly<Record<Level, 'note' | 'warning' | 'error'>> = { note: 'note', warn: 'warning', danger: 'error' };

/** @param release of this command */
export function sarifLog(findings: readonly Shown[], source: Source, release: string): object {
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

interface Places {
  locate: Locate;
  used: readonly Rule[];
}

function resultOf(finding: Shown, { locate, used }: Places): object {
  const { code, level = 'warn', collection, field, message, why, safer } = finding;
  const rule = ruleOf(code);
  const place = placeOf(finding);
  const policy = policyText(finding);
  const text = [message, policy, why, safer?.text, requestOf(finding)].filter((each) => each !== undefined).join('\n');
  const at = locate(collection, field);
  const physical = at !== null && {
    physicalLocation: { artifactLocation: { uri: uriOf(at.file) }, region: { startLine: at.line } },
  };
  const logical = place !== '' && {
    logicalLocations: [{ fullyQualifiedName: place, kind: field === undefined ? 'type' : 'member' }],
  };
  return {
    ruleId: code,
    ...(rule !== undefined && { ruleIndex: used.indexOf(rule) }),
    level: policy === undefined ? LEVEL[level] : 'error',
    message: { text },
    ...((physical || logical) && { locations: [{ ...physical, ...logical }] }),
    partialFingerprints: { 'finding/v1': `${code} ${place}` },
  };
}

const uriOf = (file: string): string =>
  isAbsolute(file) ? pathToFileURL(file).href : file.split(/[\\/]/).map(encodeURIComponent).join('/');
