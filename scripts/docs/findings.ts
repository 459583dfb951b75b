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

What findings are, and where they are shown: [Findings](../findings.md). ${NOTICE}

The level is the usual one: where a page says so, it goes by the size and use of the table.

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
    return 'It is noticed where a document is read, and not where the change is made: a [policy](../policy.md) can show it or not, and stop nothing by it.';
  if (standing === true)
    return 'It is about what is there then, however it came: a [policy](../policy.md) that stops it stops adopting such a table, too.';
  return undefined;
}
