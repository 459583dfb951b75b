/** The tables and their relations as a drawing that can be moved and enlarged. */
import '@xyflow/react/dist/base.css';
import { useQuery } from '@tanstack/react-query';
import { Background, BackgroundVariant, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { ListedCollection } from '../../../service/types.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { Waiting } from '../../../shared/waiting.js';
import type { SchemaSearch } from '../search.js';
import { ChosenCard } from './chosen-card.js';
import { Controls, FITTED } from './controls.js';
import { drawingOf } from './drawing.js';
import { layOut, type Placed } from './layout.js';
import { LinkEdge } from './link-edge.js';
import { TableNode } from './table-node.js';
import { TooMany } from './too-many.js';
import { useGraph } from './use-graph.js';
import classes from './diagram.module.css';

interface Props {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
}

const NODE_TYPES = { table: TableNode };
const EDGE_TYPES = { link: LinkEdge };

export default function Diagram(props: Props) {
  return (
    <ReactFlowProvider>
      <section className={classes.diagram} aria-label="Diagram">
        <Drawing {...props} />
        <Controls {...props} />
        <ChosenCard {...props} />
      </section>
    </ReactFlowProvider>
  );
}

function Drawing({ collections, search, onChange }: Props) {
  const state = useGraph(collections, search);
  const graph = state.status === 'there' ? state.graph : null;
  const layout = useQuery({
    queryKey: ['layout', graph],
    queryFn: () => (graph === null ? null : layOut(graph)),
    enabled: graph !== null,
    staleTime: Infinity,
    gcTime: 60_000,
    // A graph of a thousand fields would be compared by its JSON otherwise.
    queryKeyHashFn: () => `layout ${identityOf(graph)}`,
  });
  if (state.status === 'failed') {
    return (
      <div className={classes.message}>
        <ProblemAlert error={state.error} retry={state.retry} />
      </div>
    );
  }
  if (state.status === 'too many') return <TooMany {...state} onChange={onChange} />;
  if (!layout.data) return <Waiting label="Drawing the diagram" />;
  // Another layout is seen from its own beginning.
  return (
    <Canvas key={identityOf(layout.data)} placed={layout.data} chosen={search.c} onChoose={(c) => onChange({ c })} />
  );
}

const identities = new WeakMap<object, number>();
let last = 0;

function identityOf(object: object | null): number {
  if (object === null) return 0;
  const known = identities.get(object) ?? ++last;
  identities.set(object, known);
  return known;
}

interface CanvasProps {
  placed: Placed;
  chosen: string | undefined;
  onChoose: (collection: string) => void;
}

function Canvas({ placed, chosen, onChoose }: CanvasProps) {
  const { nodes, edges } = useMemo(() => drawingOf(placed, chosen), [placed, chosen]);
  const { setCenter, getZoom } = useReactFlow();
  const [isReady, setReady] = useState(false);

  useEffect(() => {
    const place = chosen === undefined ? undefined : placed.places.get(chosen);
    const table = placed.tables.find(({ name }) => name === chosen);
    if (!isReady || place === undefined || table === undefined) return;
    void setCenter(place.x + table.width / 2, place.y + table.height / 2, {
      zoom: Math.max(getZoom(), 0.75),
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
      minZoom={0.05}
      maxZoom={2}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={22} size={1.2} color="var(--app-line)" />
    </ReactFlow>
  );
}
