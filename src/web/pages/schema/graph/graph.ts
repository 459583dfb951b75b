import type { FieldDocument, ListedCollection, RelationDocument } from '../../../service/types.js';
import { messages } from '../messages.js';
import type { Depth } from '../search.js';

/** The effect of a batch on an object. */
export type ChangeKind = 'made' | 'changed' | 'removed';

/** The effect of a batch, or the current state: drift, a change in preparation, or an index that is being built. */
export type Mark = ChangeKind | 'drift' | 'prepared' | 'indexing';

/** The signs of the marks in the tree, the diagram and its files. */
export const SIGNS: Readonly<Record<Mark, string>> = {
  made: '+',
  changed: '~',
  removed: '−',
  drift: '!',
  prepared: '…',
  indexing: '#',
};

/** The marks of collections by name, and of fields and relations by `fieldKey`. */
export interface DrawnMarks {
  collections: ReadonlyMap<string, Mark>;
  /** Fields of created and deleted collections have no marks of their own. */
  fields: ReadonlyMap<string, Mark>;
  relations: ReadonlyMap<string, Mark>;
}

/** Returns a unique text for a pair of names. */
export const fieldKey = ({ collection, field }: { collection: string; field: string }): string =>
  JSON.stringify([collection, field]);

export type ShownRelation = Pick<RelationDocument, 'collection' | 'field' | 'related_collection' | 'meta' | 'schema'>;
export type ShownField = Pick<FieldDocument, 'collection' | 'field' | 'type' | 'schema' | 'meta'>;

export interface TableRow {
  field: string;
  type: string;
  isKey: boolean;
  isForeign: boolean;
  isRequired: boolean;
  /** The change by the current batch. */
  mark?: Mark | undefined;
}

export interface Table {
  name: string;
  collection: ListedCollection;
  rows: TableRow[];
  /** The number of fields hidden at this depth. */
  more: number;
  width: number;
  height: number;
  mark?: Mark | undefined;
}

export interface Link {
  id: string;
  from: string;
  fromField: string;
  to: string;
  toField: string;
  /** The kind of the relation. `any` references one of several collections, `many` leads through a hidden junction. */
  kind: 'key' | 'unkept' | 'any' | 'many';
  mark?: Mark | undefined;
}

export interface Graph {
  tables: Table[];
  links: Link[];
}

const HEAD = 38;
const ROW = 24;
const PADDING = 6;
const LETTER = 7.1;

/** Maximum number of tables, because the layout of more would take too long. */
export const MOST_TABLES = 300;

/** The tables within `steps` relations of `chosen`, including itself. */
export function findNeighbours(chosen: string, steps: number, relations: readonly ShownRelation[]): Set<string> {
  let neighbours = new Set([chosen]);
  for (let step = 0; step < steps; step++) {
    const within = neighbours;
    const touched = relations
      .map((relation) => [relation.collection, ...targetsOf(relation)])
      .filter((ends) => ends.some((end) => within.has(end)));
    neighbours = new Set([...within, ...touched.flat()]);
  }
  return neighbours;
}

interface DrawnGraph {
  fields: readonly ShownField[];
  relations: readonly ShownRelation[];
  depth: Depth;
  marks?: DrawnMarks;
}

/** Contains only lines between shown tables. Sizes are pixels, estimated from name lengths. */
export function graphOf(shown: readonly ListedCollection[], { fields, relations, depth, marks }: DrawnGraph): Graph {
  const names = new Set(shown.map(({ collection }) => collection));
  const inside = relations.filter(({ collection }) => names.has(collection));
  const foreign = new Set(inside.map(({ collection, field }) => `${collection} ${field}`));
  const byTable = new Map<string, ShownField[]>();
  for (const field of fields) {
    const fieldList = byTable.get(field.collection);
    if (fieldList === undefined) byTable.set(field.collection, [field]);
    else fieldList.push(field);
  }
  const keys = new Map<string, string>();
  const tables = shown.map((collection) => {
    const rows = (byTable.get(collection.collection) ?? []).flatMap((field) => rowOf(field, foreign, marks));
    const key = rows.find(({ isKey }) => isKey);
    if (key !== undefined) keys.set(collection.collection, key.field);
    return { ...tableOf(collection, rows, depth), mark: marks?.collections.get(collection.collection) };
  });
  const links = inside.flatMap((relation) =>
    linksOf(relation, { names, keys, mark: marks?.relations.get(fieldKey(relation)) }),
  );
  return { tables, links: [...links, ...junctionLinks(relations, { names, keys, marks })] };
}

/** Returns a line for each many-to-many relation whose junction is not shown. */
function junctionLinks(
  relations: readonly ShownRelation[],
  { names, keys, marks }: { names: ReadonlySet<string>; keys: ReadonlyMap<string, string>; marks: DrawnGraph['marks'] },
): Link[] {
  const byField = new Map(relations.map((relation) => [fieldKey(relation), relation]));
  return relations.flatMap((relation) => {
    const { collection, field, related_collection: from, meta } = relation;
    // Both relations of a junction refer to each other. The first by name draws the line.
    const other = names.has(collection) ? undefined : secondFieldOf(relation);
    const to = other && byField.get(fieldKey({ collection, field: other }))?.related_collection;
    if (from === null || to == null || ![from, to].every((end) => names.has(end))) return [];
    const ends = { from, fromField: meta.one_field ?? '', to, toField: keys.get(to) ?? '' };
    const mark = marks?.relations.get(fieldKey(relation));
    return [{ id: JSON.stringify([collection, field, to]), ...ends, kind: 'many', mark }];
  });
}

function secondFieldOf({ field, meta: { junction_field: other } }: ShownRelation): string | undefined {
  return typeof other === 'string' && field < other ? other : undefined;
}

/** Returns the row of a field. Aliases have no column. */
function rowOf(
  { collection, field, type, schema }: ShownField,
  foreign: ReadonlySet<string>,
  marks: DrawnGraph['marks'],
): TableRow[] {
  if (schema === null) return [];
  const isForeign = foreign.has(`${collection} ${field}`);
  const mark = marks?.fields.get(fieldKey({ collection, field }));
  return [{ field, type, isKey: schema.is_primary_key, isForeign, isRequired: !schema.is_nullable, mark }];
}

/** True for keys and for changed fields. */
const isTold = ({ isKey, isForeign, mark }: TableRow): boolean => isKey || isForeign || mark !== undefined;

function tableOf(collection: ListedCollection, all: TableRow[], depth: Depth): Table {
  const rows = depth === 'columns' ? all : depth === 'keys' ? all.filter(isTold) : [];
  const more = depth === 'names' ? 0 : all.length - rows.length;
  const longest = Math.max(
    collection.collection.length * 1.12 + 5,
    ...rows.map(({ field, type }) => field.length + Math.min(type.length, 14) + 6),
  );
  const width = Math.round(Math.min(320, Math.max(150, longest * LETTER + 24)));
  const lines = rows.length + (more > 0 ? 1 : 0);
  return {
    name: collection.collection,
    collection,
    rows,
    more,
    width,
    height: HEAD + (lines > 0 ? lines * ROW + PADDING : 0),
  };
}

/** Returns the targets of a relation. Empty for a many-to-any relation without allowed collections. */
export function targetsOf({ related_collection: one, meta }: ShownRelation): readonly string[] {
  return one === null ? (meta.one_allowed_collections ?? []) : [one];
}

function linksOf(
  relation: ShownRelation,
  { names, keys, mark }: { names: ReadonlySet<string>; keys: ReadonlyMap<string, string>; mark: Mark | undefined },
): Link[] {
  const { collection: from, field: fromField, related_collection: one, schema } = relation;
  const kind = one === null ? 'any' : schema === null ? 'unkept' : 'key';
  return targetsOf(relation)
    .filter((to) => names.has(to))
    .map((to) => ({
      id: JSON.stringify([from, fromField, to]),
      from,
      fromField,
      to,
      toField: keys.get(to) ?? '',
      kind,
      mark,
    }));
}

/** Returns the vertical centre of a field's row, relative to the table. If the row is hidden, that of the header. */
export function portAt(table: Table, field: string): number {
  const index = table.rows.findIndex((row) => row.field === field);
  return index < 0 ? HEAD / 2 : HEAD + index * ROW + ROW / 2;
}

export interface Point {
  x: number;
  y: number;
}

export interface PlacedGraph extends Graph {
  places: ReadonlyMap<string, Point>;
  /** The corners of each line by link id. */
  lines: ReadonlyMap<string, readonly Point[]>;
}

/** Returns an SVG path with rounded corners. */
export function pathOf(corners: readonly Point[]): string {
  const [first, ...rest] = corners;
  if (first === undefined) return '';
  const parts = rest.map((point, index) => {
    const before = corners[index];
    const after = rest[index + 1];
    if (before === undefined || after === undefined) return `L${point.x} ${point.y}`;
    const into = movePoint(point, before);
    const out = movePoint(point, after);
    return `L${into.x} ${into.y}Q${point.x} ${point.y} ${out.x} ${out.y}`;
  });
  return `M${first.x} ${first.y}${parts.join('')}`;
}

const RADIUS = 7;

function movePoint(from: Point, to: Point): Point {
  const distance = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(RADIUS, distance / 2) / distance;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

export const linkLabel = ({ from, fromField, to, kind, mark }: Link): string =>
  markedText(messages.diagram.links[kind](`${from}.${fromField}`, to), mark);

/** Returns the text with the meaning of the mark. */
export const markedText = (text: string, mark: Mark | undefined): string =>
  mark === undefined ? text : `${text}, ${messages.marks[mark]}`;

/* Writes the diagram as SVG and in the language of Mermaid. */

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
    ...links.map((link) => svgLine(link, placed)),
    ...tables.map((table) => svgTable(table, placed)),
    '</svg>\n',
  ].join('\n');
}

function svgLine(link: Link, { lines }: PlacedGraph): string {
  const colour = link.mark === undefined ? '' : ` style="stroke: ${COLOURS[link.mark]}"`;
  const path = pathOf(lines.get(link.id) ?? []);
  return `<path class="line ${link.kind}" d="${path}" marker-end="url(#end)"${colour}><title>${escaped(linkLabel(link))}</title></path>`;
}

function svgTable(table: Table, { places }: PlacedGraph): string {
  const { name, width, height, rows, more, mark } = table;
  const { x, y } = places.get(name) ?? { x: 0, y: 0 };
  const colour = mark === undefined ? '#d5dae1' : COLOURS[mark];
  const last = HEAD + rows.length * ROW + ROW / 2 + 4;
  return [
    `<g transform="translate(${x} ${y})">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff" stroke="${colour}" stroke-width="${mark === undefined ? 1 : 2}"/>`,
    `<text class="head" x="10" y="24">${escaped(truncateToWidth(name, width - (mark === undefined ? 20 : 36), 8))}</text>`,
    ...(mark === undefined
      ? []
      : [
          `<text class="head" x="${width - 10}" y="24" text-anchor="end" style="fill: ${colour}">${SIGNS[mark]}<title>${escaped(messages.marks[mark])}</title></text>`,
        ]),
    ...rows.map((row, index) => svgRow(row, { width, y: HEAD + index * ROW })),
    ...(more > 0 ? [`<text class="more" x="10" y="${last}">${escaped(messages.diagram.more(more))}</text>`] : []),
    '</g>',
  ].join('');
}

function svgRow(
  { field, type, isKey, isRequired, mark }: TableRow,
  { width, y }: { width: number; y: number },
): string {
  const text = `${type}${isRequired ? '' : '?'}`;
  const colour = mark === undefined ? '' : ` style="fill: ${COLOURS[mark]}"`;
  const name = mark === undefined ? field : `${SIGNS[mark]} ${field}`;
  return (
    `<path d="M0 ${y}H${width}" stroke="#e5e8ed"/>` +
    `<text${isKey ? ' class="key"' : ''} x="10" y="${y + 16}"${colour}>${escaped(truncateToWidth(name, width - 30 - text.length * 6, 7))}</text>` +
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

/** Returns an entity relationship diagram in the language of Mermaid, with the rows and marks that the diagram shows. */
export const mermaidOf = ({ tables, links }: Graph): string =>
  ['erDiagram', ...tables.map(entityOf), ...links.map(relationshipOf), ''].join('\n');

function entityOf({ name, rows, mark }: Table): string {
  const entity = mark === undefined ? quoted(name) : `${quoted(name)}[${quoted(markedText(name, mark))}]`;
  if (rows.length === 0) return `  ${entity}`;
  return [`  ${entity} {`, ...rows.map(attributeOf), '  }'].join('\n');
}

function attributeOf({ field, type, isKey, isForeign, mark }: TableRow): string {
  const keys = [isKey && 'PK', isForeign && 'FK'].filter((key) => key !== false).join(', ');
  const name = identifierOf(field);
  const comment = name === field && mark === undefined ? '' : ` ${quoted(markedText(field, mark))}`;
  return `    ${identifierOf(type)} ${name}${keys === '' ? '' : ` ${keys}`}${comment}`;
}

/** A dashed line stands for a relation without a foreign key. */
const relationshipOf = ({ from, fromField, to, kind, mark }: Link): string =>
  `  ${quoted(from)} }o${kind === 'key' || kind === 'many' ? '--' : '..'}${kind === 'many' ? 'o{' : '||'} ${quoted(to)} : ${quoted(markedText(fromField, mark))}`;

/** Mermaid has no escape for quotation marks. */
const quoted = (name: string): string => `"${name.replaceAll(/["\n\r\\%]/g, "'")}"`;

/** Types and attributes cannot be quoted. */
function identifierOf(name: string): string {
  const word = name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_');
  return /^\p{L}|^_/u.test(word) ? word : `_${word}`;
}
