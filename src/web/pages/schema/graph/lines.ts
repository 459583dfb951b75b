import type { Graph, Link } from './graph.js';

export interface Point {
  x: number;
  y: number;
}

export interface Placed extends Graph {
  places: ReadonlyMap<string, Point>;
  /** The corners of each line by link id. */
  lines: ReadonlyMap<string, readonly Point[]>;
}

/** An SVG path with rounded corners. */
export function pathOf(corners: readonly Point[]): string {
  const [first, ...rest] = corners;
  if (first === undefined) return '';
  const parts = rest.map((point, index) => {
    const before = corners[index];
    const after = rest[index + 1];
    if (before === undefined || after === undefined) return `L${point.x} ${point.y}`;
    const into = towards(point, before);
    const out = towards(point, after);
    return `L${into.x} ${into.y}Q${point.x} ${point.y} ${out.x} ${out.y}`;
  });
  return `M${first.x} ${first.y}${parts.join('')}`;
}

const RADIUS = 7;

function towards(from: Point, to: Point): Point {
  const distance = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(RADIUS, distance / 2) / distance;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

export const linkLabel = ({ from, fromField, to, kind }: Link): string =>
  `${from}.${fromField} references ${to}${kind === 'unkept' ? ', without a foreign key' : kind === 'any' ? ', among others' : ''}`;
