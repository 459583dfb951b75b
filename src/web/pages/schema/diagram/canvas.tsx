/** A drawing with pan and zoom. */
import saveIcon from 'icon:download';
import { ActionIcon } from '@mantine/core';
import { Background, BackgroundVariant, ReactFlow, useReactFlow, MarkerType, Position } from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Glyph } from '../../../shared/glyph.js';
import { saveText } from '../../../shared/save.js';
import { FITTED } from './controls.js';
import { type Placed, linkLabel, pathOf, type Link, type Table, portAt } from '../graph/graph.js';
import { LinkEdge, type LinkEdgeType } from './link-edge.js';
import { svgOf } from './svg-export.js';
import { TableNode, type TableNodeType } from './table-node.js';
import classes from './diagram.module.css';
import { MARK_WORDS } from '../graph/mark-sign.js';

/** Highlights the selected table and its neighbours, if it is shown. */
function drawingOf(placed: Placed, chosen: string | undefined): { nodes: TableNodeType[]; edges: LinkEdgeType[] } {
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

const NODE_TYPES = { table: TableNode };
const EDGE_TYPES = { link: LinkEdge };

/** From this zoom level on, columns are readable. */
const LEGIBLE = 0.75;

interface CanvasProps {
  placed: Placed;
  chosen: string | undefined;
  /** The title of the exported drawing. */
  title: string;
  onChoose: (collection: string) => void;
}

/**
 * Starts with everything in view; a new `key` resets that. Moves once to a selected table, unless it is readable
 * already.
 */
export function Canvas({ placed, chosen, title, onChoose }: CanvasProps) {
  const { nodes, edges } = useMemo(() => drawingOf(placed, chosen), [placed, chosen]);
  const { setCenter, getZoom } = useReactFlow();
  const [isReady, setReady] = useState(false);

  // Selections move the view once; later steps of a replay do not.
  const centred = useRef<string>(undefined);
  useEffect(() => {
    if (chosen === undefined) centred.current = undefined;
    if (!isReady || centred.current === chosen) return;
    const place = chosen === undefined ? undefined : placed.places.get(chosen);
    const table = placed.tables.find(({ name }) => name === chosen);
    if (place === undefined || table === undefined) return;
    const isFitted = centred.current === undefined && getZoom() >= LEGIBLE;
    centred.current = chosen;
    // A complete, readable drawing needs no move.
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
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      onlyRenderVisibleElements
      minZoom={0.02}
      maxZoom={2}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={22} size={1.2} color="var(--app-line)" />
      <ActionIcon
        variant="default"
        size="lg"
        className={classes.save}
        aria-label="Save as SVG"
        title="Save as SVG"
        onClick={() => saveText('schema.svg', 'image/svg+xml', svgOf(placed, title))}
      >
        <Glyph path={saveIcon} />
      </ActionIcon>
    </ReactFlow>
  );
}
