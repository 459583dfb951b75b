import { MarkerType, Position } from '@xyflow/react';
import { MARK_WORDS } from '../graph/mark-sign.js';
import { type Link, type Table, portAt } from '../graph/graph.js';
import { type Placed, linkLabel, pathOf } from '../graph/lines.js';
import type { LinkEdgeType } from './link-edge.js';
import type { TableNodeType } from './table-node.js';

/** Highlights the selected table and its neighbours, if it is shown. */
export function drawingOf(
  placed: Placed,
  chosen: string | undefined,
): { nodes: TableNodeType[]; edges: LinkEdgeType[] } {
  const lit = new Set(
    placed.links.filter(({ from, to }) => from === chosen || to === chosen).flatMap(({ from, to }) => [from, to]),
  );
  const hasChosen = chosen !== undefined && placed.places.has(chosen);
  const nodes = placed.tables.map((table) =>
    nodeOf(table, { placed, chosen, isFaded: hasChosen && table.name !== chosen && !lit.has(table.name) }),
  );
  const edges = placed.links.map((link) => edgeOf(link, { placed, chosen, hasChosen }));
  return { nodes, edges };
}

/** Size and handles are set, so that hidden tables can be skipped without measuring. */
function nodeOf(
  table: Table,
  { placed, chosen, isFaded }: { placed: Placed; chosen: string | undefined; isFaded: boolean },
): TableNodeType {
  const { width, height, name } = table;
  const handle = { width: 1, height: 1, y: portAt(table, '') };
  return {
    id: name,
    type: 'table',
    position: placed.places.get(name) ?? { x: 0, y: 0 },
    width,
    height,
    handles: [
      { ...handle, type: 'target', position: Position.Left, x: 0 },
      { ...handle, type: 'source', position: Position.Right, x: width },
    ],
    data: { table, isChosen: name === chosen, isFaded },
    ariaLabel: `Table ${name}${table.mark === undefined ? '' : `, ${MARK_WORDS[table.mark]}`}`,
  };
}

function edgeOf(
  link: Link,
  { placed, chosen, hasChosen }: { placed: Placed; chosen: string | undefined; hasChosen: boolean },
): LinkEdgeType {
  const isLit = link.from === chosen || link.to === chosen;
  return {
    id: link.id,
    type: 'link',
    source: link.from,
    target: link.to,
    focusable: false,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: isLit ? '#6f70ec' : '#8d95a3' },
    data: {
      path: pathOf(placed.lines.get(link.id) ?? []),
      kind: link.kind,
      isLit,
      isFaded: hasChosen && !isLit,
      mark: link.mark,
    },
    ariaLabel: link.mark === undefined ? linkLabel(link) : `${linkLabel(link)}, ${MARK_WORDS[link.mark]}`,
    zIndex: isLit || link.mark !== undefined ? 1 : 0,
  };
}
