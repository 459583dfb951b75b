import type { Point, Table } from './graph.js';

const GAP = 28;
/** The distance to the drawing of the linked tables. */
const ASIDE = 96;
/** Width divided by height of a drawing without linked tables. */
const ASPECT = 1.6;

/**
 * Places tables without relations in columns to the right of the other tables. Among the linked tables, they would make
 * the drawing several times as large.
 * @param drawn the size of the drawing of the linked tables; zero without such tables
 */
export function packAside(tables: readonly Table[], drawn: { right: number; height: number }): Map<string, Point> {
  const area = tables.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0);
  const columnHeight = Math.max(drawn.height, Math.sqrt(area / ASPECT));
  const places = new Map<string, Point>();
  let [x, y, widest] = [drawn.right === 0 ? 0 : drawn.right + ASIDE, 0, 0];
  for (const { name, width, height } of tables) {
    if (y > 0 && y + height > columnHeight) [x, y, widest] = [x + widest + GAP, 0, 0];
    places.set(name, { x, y });
    y += height + GAP;
    widest = Math.max(widest, width);
  }
  return places;
}
