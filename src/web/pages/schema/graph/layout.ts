import type { ELK, ElkExtendedEdge, ElkNode } from 'elkjs';
import Elk from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import { type Graph, type Table, portAt, type PlacedGraph, type Point } from './graph.js';

let elk: ELK | undefined;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.spacing.nodeNodeBetweenLayers': '70',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.componentComponent': '48',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.separateConnectedComponents': 'true',
  'elk.aspectRatio': '1.6',
};

/**
 * Computes a layout. Rejects if the worker cannot be loaded.
 * @returns positions and corners in pixels. A relation without a route has no corners
 */
export async function layOut(graph: Graph): Promise<PlacedGraph> {
  elk ??= new Elk({ workerUrl });
  const ports = new Map<string, Set<string>>();
  const edges = graph.links.map((link): ElkExtendedEdge => {
    const source = portId(ports, { table: link.from, side: 'out', field: link.fromField });
    const target = portId(ports, { table: link.to, side: 'in', field: link.toField });
    return { id: link.id, sources: [source], targets: [target] };
  });
  const linked = graph.tables.filter(({ name }) => ports.has(name));
  const root: ElkNode = await elk.layout({
    id: 'root',
    layoutOptions: OPTIONS,
    children: linked.map((table) => nodeOf(table, ports.get(table.name) ?? new Set())),
    edges,
  });
  const isolated = graph.tables.filter(({ name }) => !ports.has(name));
  const drawn = linked.length === 0 ? { right: 0, height: 0 } : { right: root.width ?? 0, height: root.height ?? 0 };
  const places = new Map([
    ...(root.children ?? []).map(({ id, x = 0, y = 0 }): [string, Point] => [id, { x, y }]),
    ...packAside(isolated, drawn),
  ]);
  return { ...graph, places, lines: new Map((root.edges ?? []).map((edge) => [edge.id, cornersOf(edge)])) };
}

interface Port {
  table: string;
  side: 'in' | 'out';
  field: string;
}

/** A line starts at the right of its foreign key and ends at the left of the referenced key. */
function portId(ports: Map<string, Set<string>>, port: Port): string {
  const id = JSON.stringify([port.table, port.side, port.field]);
  const portNames = ports.get(port.table) ?? new Set();
  ports.set(port.table, portNames.add(id));
  return id;
}

function nodeOf(table: Table, ports: ReadonlySet<string>): ElkNode {
  return {
    id: table.name,
    width: table.width,
    height: table.height,
    layoutOptions: { 'elk.portConstraints': 'FIXED_POS' },
    ports: [...ports].map((id) => {
      const [, side, field] = JSON.parse(id) as [string, 'in' | 'out', string];
      const y = portAt(table, field);
      return {
        id,
        width: 1,
        height: 1,
        x: side === 'in' ? -1 : table.width,
        y,
        layoutOptions: { 'elk.port.side': side === 'in' ? 'WEST' : 'EAST' },
      };
    }),
  };
}

function cornersOf({ sections = [] }: ElkExtendedEdge): Point[] {
  return sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]);
}

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
function packAside(tables: readonly Table[], drawn: { right: number; height: number }): Map<string, Point> {
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
