/** A drawing with pan and zoom. */
import saveIcon from 'icon:download';
import { ActionIcon } from '@mantine/core';
import { Background, BackgroundVariant, ReactFlow, useReactFlow } from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Glyph } from '../../../shared/glyph.js';
import { saveText } from '../../../shared/save.js';
import { FITTED } from './controls.js';
import { drawingOf } from './drawing.js';
import type { Placed } from '../graph/lines.js';
import { LinkEdge } from './link-edge.js';
import { svgOf } from './svg-export.js';
import { TableNode } from './table-node.js';
import classes from './diagram.module.css';

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
