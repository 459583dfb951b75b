/** Writes docs/api: the OpenAPI document as Markdown, one page per resource. */
import type { OpenApiDocument } from '../../src/http/openapi/document.js';
import {
  type Block,
  errorTable,
  headerTable,
  type Inline,
  operationBlocks,
  type Outline,
  outlineOf,
  type OutlinedOperation,
  type OutlinedShape,
  shapeBlocks,
  type Table,
} from '../../src/http/openapi/outline.js';

/** The page of schemas that several resources use. */
const SHARED = 'schemas';

/** Keyed by file name in docs/api. */
export function apiPages(document: OpenApiDocument): Map<string, string> {
  const outline = outlineOf(document);
  const { tags, shapes } = outline;
  const placed = placesOf(outline);
  const pages = new Map([['index.md', indexPage(outline)]]);
  for (const { name, description, operations } of tags) {
    const own = shapes.filter((shape) => placed.get(shape.name) === name);
    const write = writerOf(placed, name);
    const parts = [
      `# API: ${name}`,
      `${description}. [All resources](index.md)`,
      ...operations.flatMap((operation) => write.operation(operation)),
      ...(own.length === 0 ? [] : ['## Schemas', ...own.flatMap((shape) => write.shape(shape))]),
    ];
    pages.set(`${name}.md`, pageText(parts));
  }
  const write = writerOf(placed, SHARED);
  const shared = shapes.filter(({ name }) => placed.get(name) === SHARED);
  const parts = [
    '# API: schemas',
    'The schemas that several resources use. [All resources](index.md)',
    ...shared.flatMap((shape) => write.shape(shape)),
  ];
  return pages.set(`${SHARED}.md`, pageText(parts));
}

const pageText = (parts: readonly string[]): string => `${parts.join('\n\n')}\n`;

function indexPage(outline: Outline): string {
  const rows = outline.tags.map(({ name, description, operations }) => [
    { prose: `[${name}](${name}.md)` },
    { prose: String(operations.length) },
    { prose: description },
  ]);
  const write = writerOf(new Map(), '');
  return pageText([
    '# API reference',
    'These pages describe every operation: its parameters, body, responses and errors. [HTTP](../http.md) explains what all operations share.',
    '`npm run docs -- api` generates the pages from the OpenAPI document. To change them, change the routes in `src/http/routes/`. A running service shows the same reference at `/docs`, without a token, and has the document at `/server/openapi.json`.',
    '## Resources',
    write.table({ kind: 'table', title: '', head: ['Resource', 'Operations', 'Description'], rows }),
    `[schemas](${SHARED}.md) has the schemas that several resources use.`,
    '## Request headers',
    'Each operation lists the headers that it supports.',
    write.table(headerTable(outline)),
    '## Responses',
    'A list or an object is in `{ "data": … }`. `GET /schema/snapshot`, `POST /schema/diff` and `POST /schema/merge` respond with their document itself. `fields` selects top-level members of the response.',
    '## Errors',
    'An error response is `{ "errors": [{ "message": …, "extensions": { "code": …, "path": … } }] }`, with one entry per problem. Each operation lists its statuses.',
    write.table(errorTable(outline)),
  ]);
}

const NAMES = /<(\w+)>/g;

/** The page of each schema: the page of the only resource that uses it, directly or indirectly, or the shared page. */
function placesOf({ tags, shapes }: Outline): Map<string, string> {
  const named = new Map(shapes.map((shape) => [shape.name, namesIn(shapeBlocks(shape))]));
  const users = new Map<string, Set<string>>();
  const use = (name: string, tag: string): void => {
    const userRoutes = users.get(name) ?? new Set();
    if (userRoutes.has(tag)) return;
    users.set(name, userRoutes.add(tag));
    for (const other of named.get(name) ?? []) use(other, tag);
  };
  for (const { name: tag, operations } of tags)
    for (const operation of operations) for (const name of namesIn(operationBlocks(operation))) use(name, tag);
  return new Map(
    shapes.map(({ name }) => {
      const [only = SHARED, ...others] = users.get(name) ?? [];
      return [name, others.length === 0 ? only : SHARED];
    }),
  );
}

function namesIn(blocks: readonly Block[]): string[] {
  const inlines = blocks.flatMap((block) => {
    if (block.kind === 'table') return block.rows.flat();
    return block.kind === 'paragraph' ? block.content : [];
  });
  return inlines.flatMap((each) => ('type' in each ? [...each.type.matchAll(NAMES)].map(([, name = '']) => name) : []));
}

/**
 * @param placed the page of each schema
 * @param page the current page
 */
function writerOf(placed: ReadonlyMap<string, string>, page: string) {
  const linked = (name: string): string => {
    const place = placed.get(name) ?? SHARED;
    return `[${name}](${place === page ? '' : `${place}.md`}#${name.toLowerCase()})`;
  };
  const inline = (each: Inline): string => {
    if ('code' in each) return `\`${each.code}\``;
    return 'type' in each ? each.type.replaceAll(NAMES, (_, name: string) => linked(name)) : each.prose;
  };
  const table = ({ head, rows }: Table): string => {
    const line = (cells: readonly string[]) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
    return [head, head.map(() => '---'), ...rows.map((row) => row.map(inline))].map(line).join('\n');
  };
  const text = (block: Block): string => {
    if (block.kind === 'example') return `\`\`\`json\n${block.json}\n\`\`\``;
    return block.kind === 'table' ? table(block) : block.content.map(inline).join('');
  };
  return {
    table,
    operation: (operation: OutlinedOperation): string[] => [
      `## ${operation.method} ${operation.path}`,
      `${operation.summary}.`,
      ...operationBlocks(operation).map(text),
    ],
    shape: (shape: OutlinedShape): string[] => [`### ${shape.name}`, ...shapeBlocks(shape).map(text)],
  };
}
