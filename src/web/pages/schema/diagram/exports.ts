/** Writes the diagram as SVG and in the language of Mermaid. */
import {
  type Mark,
  HEAD,
  ROW,
  type Link,
  type Table,
  type TableRow,
  type PlacedGraph,
  linkLabel,
  pathOf,
  type Graph,
} from '../graph/graph.js';

const MARGIN = 40;

const COLOURS: Readonly<Record<Mark, string>> = {
  made: '#0c9a6e',
  changed: '#d9730d',
  removed: '#d63636',
  drift: '#c22525',
  prepared: '#4f46e5',
  indexing: '#0b7285',
};

const STYLE = `
  text { font-family: Inter, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: #1d212b; }
  .head { font-size: 13px; font-weight: 600; }
  .key { font-weight: 600; }
  .type, .more { fill: #5b6372; }
  .line { fill: none; stroke: #8d95a3; stroke-width: 1.4; }
  .unkept { stroke-dasharray: 5 4; }
  .any { stroke-dasharray: 2 4; }`;

/**
 * The complete diagram in light colours, including tables out of view.
 * @returns a standalone UTF-8 document
 */
export function svgOf(placed: PlacedGraph, title: string): string {
  const { tables, links, places } = placed;
  const boxes = tables.map(({ name, width, height }) => ({ ...(places.get(name) ?? { x: 0, y: 0 }), width, height }));
  const corners = [...placed.lines.values()].flat();
  const left = Math.min(0, ...boxes.map(({ x }) => x), ...corners.map(({ x }) => x)) - MARGIN;
  const top = Math.min(0, ...boxes.map(({ y }) => y), ...corners.map(({ y }) => y)) - MARGIN;
  const right = Math.max(...boxes.map(({ x, width }) => x + width), ...corners.map(({ x }) => x), 0) + MARGIN;
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height), ...corners.map(({ y }) => y), 0) + MARGIN;
  const [width, height] = [Math.ceil(right - left), Math.ceil(bottom - top)];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8d95a3"/></marker></defs>',
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="#ffffff"/>`,
    ...links.map((link) => lineOf(link, placed)),
    ...tables.map((table) => tableOf(table, placed)),
    '</svg>\n',
  ].join('\n');
}

function lineOf(link: Link, { lines }: PlacedGraph): string {
  const colour = link.mark === undefined ? '' : ` style="stroke: ${COLOURS[link.mark]}"`;
  const path = pathOf(lines.get(link.id) ?? []);
  return `<path class="line ${link.kind}" d="${path}" marker-end="url(#end)"${colour}><title>${escaped(linkLabel(link))}</title></path>`;
}

function tableOf(table: Table, { places }: PlacedGraph): string {
  const { name, width, height, rows, more, mark } = table;
  const { x, y } = places.get(name) ?? { x: 0, y: 0 };
  const colour = mark === undefined ? '#d5dae1' : COLOURS[mark];
  const last = HEAD + rows.length * ROW + ROW / 2 + 4;
  return [
    `<g transform="translate(${x} ${y})">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff" stroke="${colour}" stroke-width="${mark === undefined ? 1 : 2}"/>`,
    `<text class="head" x="10" y="24">${escaped(truncateToWidth(name, width - 20, 8))}</text>`,
    ...rows.map((row, index) => rowOf(row, { width, y: HEAD + index * ROW })),
    ...(more > 0 ? [`<text class="more" x="10" y="${last}">${more} more</text>`] : []),
    '</g>',
  ].join('');
}

function rowOf({ field, type, isKey, isRequired, mark }: TableRow, { width, y }: { width: number; y: number }): string {
  const text = `${type}${isRequired ? '' : '?'}`;
  const colour = mark === undefined ? '' : ` style="fill: ${COLOURS[mark]}"`;
  return (
    `<path d="M0 ${y}H${width}" stroke="#e5e8ed"/>` +
    `<text${isKey ? ' class="key"' : ''} x="10" y="${y + 16}"${colour}>${escaped(truncateToWidth(field, width - 30 - text.length * 6, 7))}</text>` +
    `<text class="type" x="${width - 10}" y="${y + 16}" text-anchor="end">${escaped(text)}</text>`
  );
}

/** Truncated to the available width. */
function truncateToWidth(text: string, room: number, letter: number): string {
  const letters = Array.from(text);
  const most = Math.max(3, Math.floor(room / letter));
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Removes what XML cannot represent: control characters and lone surrogates. */
const escaped = (text: string): string =>
  text
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

/** Returns an entity relationship diagram in the language of Mermaid, with the rows that the diagram shows. */
export const mermaidOf = ({ tables, links }: Graph): string =>
  ['erDiagram', ...tables.map(entityOf), ...links.map(relationshipOf), ''].join('\n');

function entityOf({ name, rows }: Table): string {
  if (rows.length === 0) return `  ${quoted(name)}`;
  return [`  ${quoted(name)} {`, ...rows.map(attributeOf), '  }'].join('\n');
}

function attributeOf({ field, type, isKey, isForeign }: TableRow): string {
  const keys = [isKey && 'PK', isForeign && 'FK'].filter((key) => key !== false).join(', ');
  const name = identifierOf(field);
  const comment = name === field ? '' : ` ${quoted(field)}`;
  return `    ${identifierOf(type)} ${name}${keys === '' ? '' : ` ${keys}`}${comment}`;
}

/** A dashed line stands for a relation without a foreign key. */
const relationshipOf = ({ from, fromField, to, kind }: Link): string =>
  `  ${quoted(from)} }o${kind === 'key' ? '--' : '..'}|| ${quoted(to)} : ${quoted(fromField)}`;

/** Mermaid has no escape for quotation marks. */
const quoted = (name: string): string => `"${name.replaceAll(/["\n\r\\%]/g, "'")}"`;

/** Types and attributes cannot be quoted. */
function identifierOf(name: string): string {
  const word = name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_');
  return /^\p{L}|^_/u.test(word) ? word : `_${word}`;
}
