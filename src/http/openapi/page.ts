/**
 * Renders the OpenAPI document as an HTML page without scripts or external resources. The content is part of the
 * program and the same in every installation, so the page needs no token.
 */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './document.js';
import {
  type Block,
  errorTable,
  headerTable,
  type Inline,
  operationBlocks,
  type OutlinedOperation,
  outlineOf,
  shapeBlocks,
  type Table,
} from './outline.js';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --code: #8881; --get: #15803d; --post: #1d4ed8; --patch: #b45309; --delete: #b91c1c }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 68rem; padding: 1rem 1.5rem 4rem }
nav ul { columns: 14rem; list-style: none; padding: 0 }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; padding-bottom: .3rem }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer }
code, pre { background: var(--code); border-radius: .2rem; font: .9em ui-monospace, monospace; padding: .1em .3em }
pre { overflow-x: auto; padding: .8rem }
table { border-collapse: collapse; width: 100% }
th, td { border-top: 1px solid var(--line); padding: .25rem .6rem .25rem 0; text-align: left; vertical-align: top }
.method { display: inline-block; font: bold .85em ui-monospace, monospace; min-width: 4.5em }
.GET { color: var(--get) } .POST { color: var(--post) } .PATCH { color: var(--patch) } .DELETE { color: var(--delete) }
@media (prefers-color-scheme: dark) { :root { --get: #4ade80; --post: #93c5fd; --patch: #fbbf24; --delete: #fca5a5 } }
`;

/** Allows only the page's own style. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the HTML. Values from the document are escaped. */
export function pageOf(document: OpenApiDocument): string {
  const outline = outlineOf(document);
  const { tags, shapes } = outline;
  const { title, description } = document['info'] as { title: string; description: string };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}: API reference</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escape(title)}</h1>
<p>${escape(description)} For programs: <a href="/server/openapi.json"><code>/server/openapi.json</code></a> (OpenAPI 3.1, with a token).</p>
<p>Example: <code>curl -H "Authorization: Bearer $TOKEN" "$URL/collections"</code></p>
</header>
<nav aria-label="Resources"><ul>
${[...tags.map(({ name }) => name), 'headers', 'errors', 'schemas'].map((name) => `<li><a href="#${name}">${name}</a></li>`).join('\n')}
</ul></nav>
<main>
${tags.map((tag) => `<h2 id="${tag.name}">${tag.name}</h2>\n<p>${escape(tag.description)}</p>\n${tag.operations.map(operationHtml).join('\n')}`).join('\n')}
<h2 id="headers">headers</h2>
${tableHtml(headerTable(outline))}
<h2 id="errors">errors</h2>
${tableHtml(errorTable(outline))}
<h2 id="schemas">schemas</h2>
${shapes.map((shape) => `<details id="schema-${shape.name}"><summary><code>${shape.name}</code></summary>\n${blocksHtml(shapeBlocks(shape))}\n</details>`).join('\n')}
</main>
</body>
</html>
`;
}

function operationHtml(operation: OutlinedOperation): string {
  const { id, method, path, summary } = operation;
  return `<details id="${id}">
<summary><span class="method ${method}">${method}</span> <code>${escape(path)}</code> ${escape(summary)}</summary>
${blocksHtml(operationBlocks(operation))}
</details>`;
}

const blocksHtml = (blocks: readonly Block[]): string => blocks.map(blockHtml).join('\n');

function blockHtml(block: Block): string {
  if (block.kind === 'paragraph') return `<p>${block.content.map(inlineHtml).join('')}</p>`;
  if (block.kind === 'example') return `<pre>${escape(block.json)}</pre>`;
  return `<h4>${block.title}</h4>\n${tableHtml(block)}`;
}

function tableHtml({ head, rows }: Table): string {
  const heads = head.map((name) => `<th scope="col">${name}</th>`).join('');
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${inlineHtml(cell)}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${heads}</tr></thead><tbody>${lines.join('\n')}</tbody></table>`;
}

function inlineHtml(inline: Inline): string {
  if ('code' in inline) return `<code>${escape(inline.code)}</code>`;
  if ('type' in inline) return escape(inline.type).replaceAll(/&lt;(\w+)&gt;/g, '<a href="#schema-$1">$1</a>');
  return escape(inline.prose).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
