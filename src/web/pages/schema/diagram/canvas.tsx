/** A drawing with pan and zoom. */
import {
  Background,
  BackgroundVariant,
  MiniMap,
  ReactFlow,
  useReactFlow,
  MarkerType,
  Position,
  BaseEdge,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeChange,
  type NodeProps,
  type ReactFlowState,
  useStore,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useState, memo } from 'react';
import { Glyph, MaterialIcon, inkOf } from '../../../shared/glyph.js';
import { FITTED, SaveMenu } from './controls.js';
import {
  type PlacedGraph,
  type Point,
  linkLabel,
  markedText,
  pathOf,
  type Link,
  type Table,
  portAt,
  type Mark,
  type TableRow,
} from '../graph/graph.js';
import classes from './diagram.module.css';
import { messages } from '../messages.js';
import { MarkSign } from '../tree.js';
import edgeClasses from './link-edge.module.css';
import keyIcon from 'icon:key';
import linkIcon from 'icon:link';
import tableIcon from 'icon:table';
import nodeClasses from './table-node.module.css';
import { Name } from '../../../shared/name.js';

/** Returns the drawing. The selected table and its neighbours are highlighted, if the table is shown. */
function drawingOf(placed: PlacedGraph, chosen: string | undefined): { nodes: TableNodeType[]; edges: LinkEdgeType[] } {
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

/** Creates a node with a fixed size and fixed handles, so that hidden tables can be skipped without measuring. */
function nodeOf(
  table: Table,
  { placed, chosen, isFaded }: { placed: PlacedGraph; chosen: string | undefined; isFaded: boolean },
): TableNodeType {
  const { width, height, name } = table;
  const handle = { width: 1, height: 1, y: portAt(table, '') };
  return {
    id: name,
    type: 'table',
    position: placed.places.get(name) ?? { x: 0, y: 0 },
    width,
    height,
    // Without it, the view is fitted only to the tables that were drawn before.
    measured: { width, height },
    handles: [
      { ...handle, type: 'target', position: Position.Left, x: 0 },
      { ...handle, type: 'source', position: Position.Right, x: width },
    ],
    // Arrow keys move the selected table.
    selected: name === chosen,
    data: { table, isChosen: name === chosen, isFaded },
    ariaLabel: markedText(messages.diagram.table(name), table.mark),
  };
}

function edgeOf(
  link: Link,
  { placed, chosen, hasChosen }: { placed: PlacedGraph; chosen: string | undefined; hasChosen: boolean },
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
    ariaLabel: linkLabel(link),
    zIndex: isLit || link.mark !== undefined ? 1 : 0,
  };
}

/** The zoom level from which columns are readable. */
const LEGIBLE = 0.75;

interface CanvasProps {
  placed: PlacedGraph;
  chosen: string | undefined;
  /** The title of the exported drawing. */
  title: string;
  onChoose: (collection: string) => void;
  /** Called while a table is moved, with `isFinal` at the end. Absent if tables cannot be moved. */
  onMove?: (table: string, place: Point, isFinal: boolean) => void;
}

/**
 * Shows the drawing, at first completely. A new `key` resets the view. The view moves once to a selected table, unless
 * that is already readable.
 */
export function Canvas({ placed, chosen, title, onChoose, onMove }: CanvasProps) {
  const { nodes, edges } = useMemo(() => drawingOf(placed, chosen), [placed, chosen]);
  const { setCenter, getZoom } = useReactFlow();
  const [isReady, setReady] = useState(false);

  // A selection moves the view once, and later steps of a replay do not.
  const centred = useRef<string>(undefined);
  useEffect(() => {
    if (chosen === undefined) centred.current = undefined;
    if (!isReady || centred.current === chosen) return;
    const place = chosen === undefined ? undefined : placed.places.get(chosen);
    const table = placed.tables.find(({ name }) => name === chosen);
    if (place === undefined || table === undefined) return;
    const isFitted = centred.current === undefined && getZoom() >= LEGIBLE;
    centred.current = chosen;
    // If the whole drawing is visible and readable, the view need not move.
    if (isFitted) return;
    void setCenter(place.x + table.width / 2, place.y + table.height / 2, {
      zoom: Math.max(getZoom(), LEGIBLE),
      duration: 300,
    });
  }, [chosen, placed, isReady, setCenter, getZoom]);

  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      fitView
      fitViewOptions={FITTED}
      onInit={() => setReady(true)}
      onNodeClick={(_event, { id }) => onChoose(id)}
      onSelectionChange={({ nodes: [selected] }) => selected && selected.id !== chosen && onChoose(selected.id)}
      nodesDraggable={onMove !== undefined}
      // A click with an unsteady hand selects the table and does not move it.
      nodeDragThreshold={4}
      onNodesChange={(changes) => onMove && reportMove(changes, onMove)}
      nodesConnectable={false}
      edgesFocusable={false}
      onlyRenderVisibleElements
      minZoom={0.02}
      maxZoom={2}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={22} size={1.2} color="var(--app-line)" />
      <SaveMenu placed={placed} title={title} />
      <Overview placed={placed} />
    </ReactFlow>
  );
}

/** A small map of the diagram. While all tables are in view, it would only hide some of them. */
function Overview({ placed }: Pick<CanvasProps, 'placed'>) {
  const { left, top, right, bottom } = useMemo(() => edgesOf(placed), [placed]);
  const isWhole = useStore(
    ({ transform: [x, y, zoom], width, height }) =>
      left * zoom + x >= 0 && top * zoom + y >= 0 && right * zoom + x <= width && bottom * zoom + y <= height,
  );
  if (isWhole) return null;
  return (
    <MiniMap
      className={classes.minimap ?? ''}
      position="top-right"
      ariaLabel={messages.diagram.overview}
      pannable
      zoomable
      nodeColor="var(--mantine-color-iris-4)"
      nodeBorderRadius={8}
      bgColor="var(--app-surface)"
      maskColor="light-dark(rgb(15 20 40 / 12%), rgb(0 0 0 / 45%))"
      maskStrokeColor="var(--mantine-color-iris-6)"
      maskStrokeWidth={2}
    />
  );
}

function edgesOf({ tables, places }: PlacedGraph): Record<'left' | 'top' | 'right' | 'bottom', number> {
  const edges = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { name, width, height } of tables) {
    const { x, y } = places.get(name) ?? { x: 0, y: 0 };
    edges.left = Math.min(edges.left, x);
    edges.top = Math.min(edges.top, y);
    edges.right = Math.max(edges.right, x + width);
    edges.bottom = Math.max(edges.bottom, y + height);
  }
  return edges;
}

/** Only one table moves at a time, because only one is selected. */
function reportMove(changes: readonly NodeChange<TableNodeType>[], onMove: NonNullable<CanvasProps['onMove']>): void {
  for (const change of changes) {
    if (change.type !== 'position' || change.position === undefined) continue;
    const { x, y } = change.position;
    onMove(change.id, { x: Math.round(x), y: Math.round(y) }, change.dragging !== true);
  }
}

type LinkEdgeType = Edge<
  { path: string; kind: string; isFaded: boolean; isLit: boolean; mark?: Mark | undefined },
  'link'
>;

/** Memoized during view moves, because there may be hundreds. */
const LinkEdge = memo(function LinkEdge({ id, data, markerEnd, markerStart }: EdgeProps<LinkEdgeType>) {
  if (data === undefined) return null;
  const classNames = [
    edgeClasses.line,
    edgeClasses[data.kind],
    data.isFaded && edgeClasses.faded,
    data.isLit && edgeClasses.lit,
    data.mark && edgeClasses[data.mark],
  ];
  const marks = { ...(markerStart && { markerStart }), ...(markerEnd && { markerEnd }) };
  return (
    <BaseEdge
      id={id}
      path={data.path}
      className={classNames.filter(Boolean).join(' ')}
      interactionWidth={0}
      {...marks}
    />
  );
});

type TableNodeType = Node<{ table: Table; isChosen: boolean; isFaded: boolean }, 'table'>;

/** The zoom level below which text is unreadable. Hundreds of tables may then be moved at once. */
const READABLE = 0.4;

const isSmall = ({ transform: [, , zoom] }: ReactFlowState): boolean => zoom < READABLE;

/** Draws a table. Unreadable rows are omitted, and the size stays the same. Memoized during moves of the view. */
const TableNode = memo(function TableNode({ data: { table, isChosen, isFaded } }: NodeProps<TableNodeType>) {
  const { collection, rows, more, width, height, mark } = table;
  const isFar = useStore(isSmall);
  return (
    <div
      className={nodeClasses.table}
      data-chosen={isChosen || undefined}
      data-faded={isFaded || undefined}
      data-mark={mark}
      style={{ width, height }}
    >
      <Handle type="target" position={Position.Left} className={nodeClasses.handle ?? ''} isConnectable={false} />
      <Handle type="source" position={Position.Right} className={nodeClasses.handle ?? ''} isConnectable={false} />
      <div
        className={nodeClasses.head}
        style={{ borderTopColor: inkOf(collection.meta.color) ?? 'var(--mantine-color-iris-5)' }}
      >
        <MaterialIcon name={collection.meta.icon} otherwise={tableIcon} size={16} />
        <Name of={table.name} className={nodeClasses.name} />
        {mark && <MarkSign mark={mark} />}
      </div>
      {!isFar && rows.map((row) => <Row key={row.field} row={row} />)}
      {!isFar && more > 0 && <div className={nodeClasses.more}>{messages.diagram.more(more)}</div>}
    </div>
  );
});

function Row({ row: { field, type, isKey, isForeign, isRequired, mark } }: { row: TableRow }) {
  return (
    <div className={nodeClasses.row} data-key={isKey || undefined} data-mark={mark}>
      <span className={nodeClasses.mark}>
        {isKey ? <Glyph path={keyIcon} size={14} /> : isForeign ? <Glyph path={linkIcon} size={14} /> : null}
      </span>
      <Name of={field} className={nodeClasses.name} />
      <span className={nodeClasses.type}>
        {type}
        {isRequired ? '' : '?'}
      </span>
      {mark && <MarkSign mark={mark} />}
    </div>
  );
}

const NODE_TYPES = { table: TableNode };
const EDGE_TYPES = { link: LinkEdge };
