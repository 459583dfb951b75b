/** Places the tables of the next state. Existing tables keep their positions, and new tables get free space. */
import { type Graph, type Link, type Table, portAt, type PlacedGraph, type Point } from '../graph/graph.js';

const GAP = 28;
const BESIDE = 70;

interface Box extends Point {
  width: number;
  height: number;
}

/**
 * @param points current and former places by name
 * @param before the previous drawing, whose lines stay if both ends do
 */
export function placeSteadily(graph: Graph, points: ReadonlyMap<string, Point>, before: PlacedGraph): PlacedGraph {
  const places = new Map<string, Point>();
  const boxes: Box[] = [];
  const put = (table: Table, place: Point): void => {
    places.set(table.name, place);
    boxes.push({ ...place, width: table.width, height: table.height });
  };
  const staying = graph.tables.filter(({ name }) => points.has(name));
  // Tables are placed from the top, so that a table that has grown moves those below it.
  const yOf = ({ name }: Table): number => points.get(name)?.y ?? 0;
  for (const table of staying.sort((a, b) => yOf(a) - yOf(b))) {
    put(table, findRoomBelow(boxes, table, points.get(table.name) ?? { x: 0, y: 0 }));
  }
  for (const table of graph.tables) {
    if (!places.has(table.name)) put(table, findRoomNear(boxes, table, anchorOf(table, graph, places)));
  }
  return { ...graph, places, lines: linesOf(graph, places, before) };
}

/** Moves one table, possibly onto another one, and draws its lines again. */
export function moveTable(placed: PlacedGraph, name: string, place: Point): PlacedGraph {
  const places = new Map(placed.places).set(name, place);
  return { ...placed, places, lines: linesOf(placed, places, placed) };
}

const overlaps = (a: Box, b: Box, gap: number): boolean =>
  a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap;

/** Returns the position if it is free, and otherwise the nearest free position below it. */
function findRoomBelow(boxes: readonly Box[], { width, height }: Table, { x, y }: Point): Point {
  const box = { x, y, width, height };
  for (let rounds = 0; rounds <= boxes.length; rounds++) {
    const inTheWay = boxes.find((each) => overlaps(each, box, 0));
    if (inTheWay === undefined) break;
    box.y = inTheWay.y + inTheWay.height + GAP;
  }
  return { x: box.x, y: box.y };
}

/** Returns a position next to a related table. If there is none, a position below everything. */
function anchorOf(table: Table, { links, tables }: Graph, places: ReadonlyMap<string, Point>): Point {
  const widths = new Map(tables.map(({ name, width }) => [name, width]));
  for (const { from, to } of links) {
    const [there, here] = [places.get(to), places.get(from)];
    // Lines go to the right.
    if (from === table.name && there !== undefined && to !== from)
      return { x: there.x - BESIDE - table.width, y: there.y };
    if (to === table.name && here !== undefined && to !== from) {
      return { x: here.x + (widths.get(from) ?? 0) + BESIDE, y: here.y };
    }
  }
  const all = [...places];
  const bottom = Math.max(
    0,
    ...all.map(([name, { y }]) => y + (tables.find((each) => each.name === name)?.height ?? 0)),
  );
  return { x: Math.min(0, ...all.map(([, { x }]) => x)), y: all.length === 0 ? 0 : bottom + GAP };
}

/** Maximum number of rings searched around a position. */
const RINGS = 60;

function findRoomNear(boxes: readonly Box[], table: Table, anchor: Point): Point {
  const { width, height } = table;
  const [across, down] = [width + GAP, Math.max(60, height / 2)];
  for (let ring = 0; ring < RINGS; ring++) {
    for (const { column, row } of cells(ring)) {
      const box = { x: anchor.x + column * across, y: anchor.y + row * down, width, height };
      if (!boxes.some((each) => overlaps(each, box, GAP))) return { x: box.x, y: box.y };
    }
  }
  return findRoomBelow(boxes, table, anchor);
}

/** Returns the cells of a ring around the centre. */
const cells = (ring: number): { column: number; row: number }[] =>
  range(-ring, ring).flatMap((row) =>
    (Math.abs(row) === ring ? range(-ring, ring) : [-ring, ring]).map((column) => ({ column, row })),
  );

/** Returns the numbers of a range, from its centre outwards. */
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).sort((a, b) => Math.abs(a) - Math.abs(b));

function linesOf(graph: Graph, places: ReadonlyMap<string, Point>, before: PlacedGraph): Map<string, readonly Point[]> {
  const tables = new Map(graph.tables.map((table) => [table.name, table]));
  const former = new Map(before.tables.map((table) => [table.name, table]));
  const isStill = (name: string, field: string): boolean => {
    const [now, was] = [places.get(name), before.places.get(name)];
    const [table, old] = [tables.get(name), former.get(name)];
    if (now === undefined || was === undefined || table === undefined || old === undefined) return false;
    return (
      now.x === was.x && now.y === was.y && table.width === old.width && portAt(table, field) === portAt(old, field)
    );
  };
  return new Map(
    graph.links.map((link) => {
      const kept = before.lines.get(link.id);
      const stays = kept !== undefined && isStill(link.from, link.fromField) && isStill(link.to, link.toField);
      return [link.id, stays ? kept : cornersOf(link, { tables, places })];
    }),
  );
}

interface DrawnTables {
  tables: ReadonlyMap<string, Table>;
  places: ReadonlyMap<string, Point>;
}

/** From the right of one table to the left of the other, in three segments, or five backwards. */
function cornersOf({ from, fromField, to, toField }: Link, { tables, places }: DrawnTables): Point[] {
  const [source, target] = [tables.get(from), tables.get(to)];
  const [a, b] = [places.get(from), places.get(to)];
  if (source === undefined || target === undefined || a === undefined || b === undefined) return [];
  const start = { x: a.x + source.width, y: a.y + portAt(source, fromField) };
  const end = { x: b.x, y: b.y + portAt(target, toField) };
  if (end.x - start.x >= GAP) {
    const middle = (start.x + end.x) / 2;
    return [start, { x: middle, y: start.y }, { x: middle, y: end.y }, end];
  }
  const [out, into] = [start.x + GAP / 2, end.x - GAP / 2];
  const between = a.y < b.y ? Math.max(a.y + source.height, start.y) + GAP / 2 : b.y + target.height + GAP / 2;
  return [start, { x: out, y: start.y }, { x: out, y: between }, { x: into, y: between }, { x: into, y: end.y }, end];
}
