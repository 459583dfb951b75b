import '@xyflow/react/dist/base.css';
import { useQuery } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import type { ListedCollection } from '../../../service/types.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { Waiting } from '../../../shared/waiting.js';
import type { Film } from '../film/use-film.js';
import { useFilmGraph } from '../film/use-film-graph.js';
import { useSteadyLayout } from '../film/use-steady-layout.js';
import type { SchemaSearch } from '../search.js';
import { Canvas } from './canvas.js';
import { ChosenCard } from './chosen-card.js';
import { Controls } from './controls.js';
import { layOut } from '../graph/layout.js';
import { useStanding } from './standing.js';
import { TooMany } from './too-many.js';
import { type GraphState, useGraph } from '../graph/use-graph.js';
import classes from './diagram.module.css';

interface Props {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  /** Set while the past is shown. */
  film?: Film | undefined;
  /** True if the user may view it. */
  mayGoBack: boolean;
}

/** Loaded on first use. Otherwise shows progress, an error, or how to reduce it. */
export default function Diagram({ film, ...props }: Props) {
  return (
    <ReactFlowProvider>
      <section className={classes.diagram} aria-label="Diagram">
        {film === undefined ? <Drawing {...props} /> : <FilmDrawing {...props} film={film} />}
        <Controls {...props} isPast={film !== undefined} />
        <ChosenCard {...props} film={film} />
      </section>
    </ReactFlowProvider>
  );
}

type DrawingProps = Pick<Props, 'collections' | 'search' | 'onChange' | 'mayGoBack'>;

function Drawing({ collections, search, onChange, mayGoBack }: DrawingProps) {
  const standing = useStanding(search.drift === true && mayGoBack);
  const state = useGraph(collections, search, standing);
  const graph = state.status === 'there' ? state.graph : null;
  const layout = useQuery({
    queryKey: ['layout', graph],
    queryFn: () => (graph === null ? null : layOut(graph)),
    enabled: graph !== null,
    staleTime: Infinity,
    gcTime: 60_000,
    // Comparing a large graph by its JSON would be slow.
    queryKeyHashFn: () => `layout ${identityOf(graph)}`,
  });
  if (state.status !== 'there') return <Otherwise state={state} onChange={onChange} />;
  if (!layout.data) return <Waiting label="Drawing the diagram" />;
  // A new layout resets the view.
  return (
    <Canvas
      key={identityOf(layout.data)}
      title="Schema"
      placed={layout.data}
      chosen={search.c}
      onChoose={(c) => onChange({ c })}
    />
  );
}

/** Tables keep their places between steps. */
function FilmDrawing({ film, search, onChange }: DrawingProps & { film: Film }) {
  const state = useFilmGraph(film, search);
  const graph = state.status === 'there' ? state.graph : null;
  const { depth = 'keys', hidden = false, near = 0, c } = search;
  const kind = `${depth} ${hidden} ${near} ${near === 0 ? '' : c}`;
  const { placed, drawing, error } = useSteadyLayout(graph, kind, film.marks.renamed);
  if (error !== null)
    return <Otherwise state={{ status: 'failed', error, retry: () => undefined }} onChange={onChange} />;
  if (state.status === 'failed' || state.status === 'too many') return <Otherwise state={state} onChange={onChange} />;
  if (placed === null) return <Waiting label="Drawing the diagram" />;
  return (
    <Canvas
      title={`Schema at event ${film.moment.position}`}
      key={`${kind} ${drawing}`}
      placed={placed}
      chosen={c}
      onChoose={(chosen) => onChange({ c: chosen })}
    />
  );
}

interface OtherwiseProps {
  state: Exclude<GraphState, { status: 'there' }>;
  onChange: Props['onChange'];
}

function Otherwise({ state, onChange }: OtherwiseProps) {
  if (state.status === 'waiting') return <Waiting label="Drawing the diagram" />;
  if (state.status === 'too many') return <TooMany {...state} onChange={onChange} />;
  return (
    <div className={classes.message}>
      <ProblemAlert error={state.error} retry={state.retry} />
    </div>
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
