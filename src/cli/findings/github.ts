/**
 * Findings as GitHub workflow commands, which are shown beside the lines of a pull request.
 * https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
 */
import { policyText } from '../policy.js';
import { locatorOf } from './lines.js';
import { type Shown, type Source, placeOf, requestOf } from './model.js';

const COMMANDS: Readonly<Record<string, string>> = { danger: 'error', warn: 'warning', note: 'notice' };

/** One line per finding; empty without findings. Findings that the policy blocks are errors. */
export function githubAnnotations(findings: readonly Shown[], source: Source): string {
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
