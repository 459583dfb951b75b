/** The OpenAPI document as Markdown. */
import type { OpenApiDocument } from '../../src/http/openapi/document.js';
import { type Member, type OutlinedOperation, outlineOf } from '../../src/http/openapi/outline.js';

/** As docs/api.md says it, before prettier has laid it out. */
export function apiReference(document: OpenApiDocument): string {
  const { tags, shapes } = outlineOf(document);
  const refusals = refusalsOf(tags.flatMap(({ operations }) => operations));
  const parts = [
    '# The interface',
    'Generated from the OpenAPI document by `npm run docs -- api`; change the routes, not this page. A running service has the same as a page under `/docs` (no token needed), and the document itself under `/server/openapi.json` and `/server/specs/oas`.',
    'Success of lists and single objects is `{ "data": … }`; the three schema endpoints answer their document as it is. A refusal is `{ "errors": [{ "message": …, "extensions": { "code": …, "path": … } }] }`: one entry a problem. `fields` chooses top-level members of what is shown, with commas or repeated; the others are left out.',
    'What is refused, by status; which operation has which stands with it:',
    table(['status', 'codes'], refusals),
    tags.map(({ name }) => `- [${name}](#${name})`).join('\n') + '\n- [shapes](#shapes)',
    ...tags.flatMap(({ name, description, operations }) => [
      `## ${name}`,
      description,
      ...operations.flatMap(operationParts),
    ]),
    '## shapes',
    ...shapes.flatMap(({ name, description, members, type }) => [
      `### ${name}`,
      ...(description === '' ? [] : [description]),
      members.length === 0 ? cell(type) : membersTable(members),
    ]),
  ];
  return parts.join('\n\n');
}

/** Status and codes of every refusal, once. */
function refusalsOf(operations: readonly OutlinedOperation[]): string[][] {
  const codes = new Map(
    operations.flatMap(({ answers }) =>
      answers.filter(({ refusal }) => refusal).map(({ status, type }) => [status, type] as const),
    ),
  );
  return [...codes].sort(([a], [b]) => Number(a) - Number(b));
}

function operationParts(operation: OutlinedOperation): string[] {
  const { method, path, summary, description, parameters, body, answers } = operation;
  const example = body?.example === undefined ? [] : ['```json\n' + JSON.stringify(body.example, null, 2) + '\n```'];
  return [
    `### ${method} ${path}`,
    `${summary}. ${description}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'type', 'meaning'],
            parameters.map((each) => [`\`${each.name}\``, each.in, each.type, each.description]),
          ),
        ]),
    ...(body === undefined
      ? []
      : [`Body: ${cell(body.type)} as ${body.media.map((type) => `\`${type}\``).join(', ')}.`]),
    ...example,
    table(
      ['status', 'answer'],
      answers.filter(({ refusal }) => !refusal).map(({ status, type }) => [status, type]),
    ),
    `Refused: ${answers
      .filter(({ refusal }) => refusal)
      .map(({ status }) => status)
      .join(', ')}.`,
  ];
}

function membersTable(members: readonly Member[]): string {
  return table(
    ['member', 'type', 'meaning'],
    members.map(({ name, type, required, description }) => [`\`${name}\`${required ? '' : '?'}`, type, description]),
  );
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Names of shapes lead to them. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/<(\w+)>/g, (_, name: string) => `[${name}](#${name.toLowerCase()})`);
}
