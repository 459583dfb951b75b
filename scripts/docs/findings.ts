/** Generates docs/findings from the rules. */
import type { Aliases, Rule } from '../../src/schema/findings/model.js';
import { RULES } from '../../src/schema/findings/rules/index.js';

const TOOLS: Readonly<Record<keyof Aliases, string>> = {
  squawk: 'Squawk',
  strong_migrations: 'strong_migrations',
  atlas: 'Atlas',
};

const NOTICE = 'Generated from the rule by `npm run docs -- findings`.';

/** Keyed by file name, in `docs/findings`. */
export function findingPages(): Map<string, string> {
  return new Map([['index.md', indexPage()], ...RULES.map((rule) => [fileOf(rule), rulePage(rule)] as const)]);
}

const fileOf = ({ code }: Rule): string => `${code}.md`;

function indexPage(): string {
  const rows = RULES.map((rule) => `| [\`${rule.code}\`](${fileOf(rule)}) | ${rule.level} | ${rule.title} |`);
  return `# Every finding

[Findings](../findings.md) explains what findings are and where they appear. ${NOTICE}

The table shows the usual level. If a page says so, the level depends on the size and use of the table.

| code | level | what |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function rulePage(rule: Rule): string {
  const { code, title, level, what, why, safer, levels, example, aliases = {} } = rule;
  const parts = [
    `# \`${code}\``,
    `**${title}.** ${what}`,
    `## Why it matters\n\n${why}`,
    `## The safer way\n\n${safer}`,
    `## Level\n\n${levels ?? `\`${level}\`.`}`,
  ];
  const policy = describePolicyUse(rule);
  if (policy !== undefined) parts.push(`## Under a policy\n\n${policy}`);
  if (example !== undefined) parts.push(`## Example\n\n${exampleText(example)}`);
  const others = Object.entries(aliases).map(([tool, names]: [string, readonly string[]]) => {
    return `- ${TOOLS[tool as keyof Aliases]}: ${names.map((name) => `\`${name}\``).join(', ')}`;
  });
  if (others.length > 0) parts.push(`## In other tools\n\n${others.join('\n')}`);
  parts.push(`[Every finding](index.md). ${NOTICE}`);
  return `${parts.join('\n\n')}\n`;
}

function exampleText({ unsafe, safe }: NonNullable<Rule['example']>): string {
  const example = `Found:\n\n\`\`\`text\n${unsafe}\n\`\`\``;
  return safe === undefined ? example : `${example}\n\nNot found:\n\n\`\`\`text\n${safe}\n\`\`\``;
}

function describePolicyUse({ shownOnly, standing }: Rule): string | undefined {
  if (shownOnly === true)
    return 'The service reports this finding when it reads a document, not when it applies a change. A [policy](../policy.md) can hide it, but cannot reject changes because of it.';
  if (standing === true)
    return 'This finding describes the resulting state. A [policy](../policy.md) that rejects it therefore also rejects the adoption of such a table.';
  return undefined;
}
