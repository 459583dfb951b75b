/**
 * Renders the document as an HTML page without scripts or external resources. Its content is part of this program and
 * the same in every installation, so it needs no token.
 */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './document.js';
import { type Member, type OutlinedOperation, type OutlinedParameter, outlineOf } from './outline.js';

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

/** HTML as text. Values from the document are escaped. */
export function pageOf(document: OpenApiDocument): string {
  const { tags, shapes } = outlineOf(document);
  const { title, description } = document['info'] as { title: string; description: string };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}: the interface</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escape(title)}</h1>
<p>${escape(description)} For machines: <a href="/server/openapi.json"><code>/server/openapi.json</code></a> (OpenAPI 3.1, with a token).</p>
<p>A call: <code>curl -H "Authorization: Bearer $TOKEN" "$URL/collections"</code></p>
</header>
<nav aria-label="Parts"><ul>
${[...tags.map(({ name }) => name), 'shapes'].map((name) => `<li><a href="#${name}">${name}</a></li>`).join('\n')}
</ul></nav>
<main>
${tags.map((tag) => `<h2 id="${tag.name}">${tag.name}</h2>\n<p>${escape(tag.description)}</p>\n${tag.operations.map(operationHtml).join('\n')}`).join('\n')}
<h2 id="shapes">shapes</h2>
${shapes.map(({ name, ...shape }) => `<details id="shape-${name}"><summary><code>${name}</code></summary>\n${shapeHtml(shape)}</details>`).join('\n')}
</main>
</body>
</html>
`;
}

function operationHtml({
  id,
  method,
  path,
  summary,
  description,
  parameters,
  body,
  answers,
}: OutlinedOperation): string {
  const rows = answers.map(({ status, type }) => `<tr><td>${status}</td><td>${typeHtml(type)}</td></tr>`);
  return `<details id="${id}">
<summary><span class="method ${method}">${method}</span> <code>${escape(path)}</code> ${escape(summary)}</summary>
<p>${escape(description)}</p>
${parameters.length === 0 ? '' : membersHtml('Parameters', parameters)}
${body === undefined ? '' : `<h4>Body</h4>\n<p>${typeHtml(body.type)} as ${body.media.map((type) => `<code>${type}</code>`).join(', ')}</p>`}
${body?.example === undefined ? '' : `<pre>${escape(JSON.stringify(body.example, null, 2))}</pre>`}
<h4>Answers</h4>
<table><thead><tr><th scope="col">status</th><th scope="col">what</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
</details>`;
}

function shapeHtml({ description, members, type }: { description: string; members: Member[]; type: string }): string {
  const text = description === '' ? '' : `<p>${escape(description)}</p>\n`;
  return `${text}${members.length === 0 ? `<p>${typeHtml(type)}</p>` : membersHtml('Members', members)}`;
}

function membersHtml(title: string, members: readonly (Member | OutlinedParameter)[]): string {
  const rows = members.map((member) => {
    const place = 'in' in member ? member.in : member.required ? 'always' : 'optional';
    const cells = [`<code>${escape(member.name)}</code>`, place, typeHtml(member.type), escape(member.description)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const head = ['name', 'where', 'type', 'meaning'].map((name) => `<th scope="col">${name}</th>`).join('');
  return `<h4>${title}</h4>\n<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

/** Names of shapes link to them. */
function typeHtml(type: string): string {
  return escape(type).replaceAll(/&lt;(\w+)&gt;/g, '<a href="#shape-$1">$1</a>');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
