import { Button, Text, ActionIcon, Center, Stack, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import hubIcon from 'icon:hub';
import resetIcon from 'icon:restart_alt';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Operations } from '../../../../client/api.js';
import { isEmpty } from '../../../draft/model.js';
import { useDraft } from '../../../draft/store.js';
import { openRequestsQuery } from '../../../service/change-queries.js';
import { SCHEMA } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import type { ListedCollection, ChangeSummary, Drift } from '../../../service/types.js';
import { Glyph } from '../../../shared/glyph.js';
import { type IndexUnderWay, useIndexesUnderWay } from '../../../service/change-queries.js';
import { Name } from '../../../shared/name.js';
import { ProblemAlert, LoadingIndicator } from '../../../shared/problem-alert.js';
import { type DrawnMarks, type Mark, type PlacedGraph, type Point, fieldKey, MOST_TABLES } from '../graph/graph.js';
import { layOut } from '../graph/layout.js';
import { type GraphState, useGraph, tablesFor } from '../graph/use-graph.js';
import { moveTable, placeSteadily } from '../replay/steady-layout.js';
import { useReplayGraph, useSteadyLayout } from '../replay/use-replay-graph.js';
import type { Replay } from '../replay/use-replay.js';
import type { Depth, SchemaSearch } from '../search.js';
import { findNode, treeOf } from '../tree-model.js';
import { Canvas } from './canvas.js';
import { ChosenCard, Controls } from './controls.js';
import classes from './diagram.module.css';
import { messages } from '../messages.js';

/* Current marks of tables and columns: drift and preparations. For admins and auditors. */

/** Milliseconds between two comparisons, each of which reads the whole catalog. */
const EVERY = 60_000;

/**
 * Returns the marks, refreshed every minute. Undefined if they were not requested. Marks that are unknown or cannot be
 * read are omitted.
 */
function useMarks(isAsked: boolean): DrawnMarks | undefined {
  const drift = useQuery({
    queryKey: [SCHEMA, 'standing'],
    queryFn: ({ signal }) => request('getDrift', { signal }),
    enabled: isAsked,
    refetchInterval: EVERY,
  });
  const changes = useQuery({ ...openRequestsQuery(), enabled: isAsked });
  const indexes = useIndexesUnderWay(isAsked);
  return useMemo(
    () => (isAsked ? marksOf(drift.data?.tables ?? [], changes.data ?? [], indexes) : undefined),
    [isAsked, drift.data, changes.data, indexes],
  );
}

type IndexedField = Pick<IndexUnderWay, 'collection' | 'field'>;

/** Returns the most important mark of each table. */
function marksOf(
  tables: Drift['tables'],
  inWork: readonly Pick<ChangeSummary, 'collections'>[],
  indexes: readonly IndexedField[] = [],
): DrawnMarks {
  const collections = new Map<string, Mark>();
  const fields = new Map<string, Mark>();
  for (const change of inWork) {
    for (const name of change.collections) collections.set(name, 'prepared');
  }
  for (const { collection, field } of indexes) {
    collections.set(collection, 'indexing');
    if (field !== null) fields.set(fieldKey({ collection, field }), 'indexing');
  }
  for (const { table, differences } of tables) {
    collections.set(table, 'drift');
    for (const { field } of differences) {
      if (field !== undefined) fields.set(fieldKey({ collection: table, field }), 'drift');
    }
  }
  return { collections, fields, relations: new Map() };
}

interface Props {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  /** Present while the past is shown. */
  replay?: Replay | undefined;
  /** True if the user may view the past. */
  mayGoBack: boolean;
}

/**
 * Shows the diagram. While it is loading, shows the progress. If it is not possible, shows an error or how to reduce
 * the diagram.
 */
export default function Diagram({ replay, ...props }: Props) {
  return (
    <ReactFlowProvider>
      <section className={classes.diagram} aria-label={messages.page.diagram}>
        {replay === undefined ? <Drawing {...props} /> : <ReplayDrawing {...props} replay={replay} />}
        <Controls {...props} isPast={replay !== undefined} />
        <ChosenCard {...props} replay={replay} />
      </section>
    </ReactFlowProvider>
  );
}

type DrawingProps = Pick<Props, 'collections' | 'search' | 'onChange' | 'mayGoBack'>;

function Drawing({ collections, search, onChange, mayGoBack }: DrawingProps) {
  const standing = useMarks(search.drift === true && mayGoBack);
  const state = useGraph(collections, search, standing);
  const graph = state.status === 'there' ? state.graph : null;
  const layout = useQuery({
    queryKey: ['layout', graph],
    queryFn: () => (graph === null ? null : layOut(graph)),
    enabled: graph !== null,
    staleTime: Infinity,
    gcTime: 60_000,
    // While an edit of the draft is laid out, the diagram before it stays.
    placeholderData: (before) => (graph === null ? undefined : before),
    // The identity is compared, because comparing a large graph by its JSON would be slow.
    queryKeyHashFn: () => `layout ${identityOf(graph)}`,
  });
  const status = { collections, search, onChange };
  const areDiagramsRead = useAreDiagramsRead();
  if (state.status !== 'there') return <DiagramStatus state={state} {...status} />;
  if (!layout.data || !areDiagramsRead) return <LoadingIndicator label={messages.diagram.drawing} />;
  // A layout of other tables or sizes resets the view. Other marks do not.
  const key = JSON.stringify([
    search.depth,
    layout.data.tables.map(({ name, width, height }) => [name, width, height]),
  ]);
  return <Arranged key={key} layout={layout.data} search={search} onChange={onChange} />;
}

interface ArrangedProps {
  layout: PlacedGraph;
  search: SchemaSearch;
  onChange: Props['onChange'];
}

/** Draws the current schema as the user has arranged it. On a phone, a touch moves the view and no table. */
function Arranged({ layout, search: { c, depth = 'keys', folder, near }, onChange }: ArrangedProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const { draft } = useDraft();
  const { placed, move, reset, error } = useArrangement(
    layout,
    near === undefined ? { depth, folder: folder ?? null } : null,
  );
  return (
    <>
      <Canvas
        title={isEmpty(draft) ? messages.page.title : messages.diagram.titlePending}
        placed={placed}
        chosen={c}
        onChoose={(chosen) => onChange({ c: chosen })}
        {...(move && !isNarrow && { onMove: move })}
      />
      {reset && (
        <Tooltip label={messages.diagram.arrange}>
          <ActionIcon
            variant="default"
            size="lg"
            className={classes.reset}
            aria-label={messages.diagram.arrange}
            onClick={reset}
          >
            <Glyph path={resetIcon} />
          </ActionIcon>
        </Tooltip>
      )}
      {error !== null && (
        <div className={classes.unsaved}>
          <ProblemAlert error={error} />
        </div>
      )}
    </>
  );
}

/** Draws a replay. Tables keep their positions between steps. */
function ReplayDrawing({ replay, collections, search, onChange }: DrawingProps & { replay: Replay }) {
  const state = useReplayGraph(replay, search);
  const graph = state.status === 'there' ? state.graph : null;
  const { depth = 'keys', hidden = false, near = 0, c } = search;
  const kind = `${depth} ${hidden} ${near} ${near === 0 ? '' : c}`;
  const { placed, drawing, error } = useSteadyLayout(graph, kind, replay.marks.renamed);
  const status = { collections, search, onChange };
  if (error !== null) return <DiagramStatus state={{ status: 'failed', error, retry: () => undefined }} {...status} />;
  if (state.status === 'failed' || state.status === 'too many') return <DiagramStatus state={state} {...status} />;
  if (placed === null) return <LoadingIndicator label={messages.diagram.drawing} />;
  return (
    <Canvas
      title={messages.diagram.titleAt(replay.moment.position)}
      key={`${kind} ${drawing}`}
      placed={placed}
      chosen={c}
      onChoose={(chosen) => onChange({ c: chosen })}
    />
  );
}

interface GraphFallbackProps {
  state: Exclude<GraphState, { status: 'there' }>;
  collections: Props['collections'];
  search: SchemaSearch;
  onChange: Props['onChange'];
}

function DiagramStatus({ state, ...props }: GraphFallbackProps) {
  if (state.status === 'waiting') return <LoadingIndicator label={messages.diagram.drawing} />;
  if (state.status === 'too many') return <TooMany {...state} {...props} />;
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
  const identity = identities.get(object) ?? ++last;
  identities.set(object, identity);
  return identity;
}

interface TooManyProps {
  /** The number of tables that the diagram would contain. */
  tables: number;
  /** True to offer the neighbourhood of the selected table. */
  hasChosen: boolean;
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
}

/** Offers smaller parts of a schema that is too large for the diagram. */
function TooMany({ tables, hasChosen, collections, search, onChange }: TooManyProps) {
  const { folder, hidden = false } = search;
  const folders = useMemo(() => foldersIn(collections, { folder, hidden }), [collections, folder, hidden]);
  return (
    <Center mih="100%" p="xl">
      <Stack align="center" gap="sm" maw={420} ta="center">
        <Text c="dimmed" component="span">
          <Glyph path={hubIcon} size={44} />
        </Text>
        <Text fw={600}>{messages.diagram.tooMany(tables)}</Text>
        <Text size="sm" c="dimmed">
          {hasChosen ? messages.diagram.nearChosen(MOST_TABLES) : messages.diagram.chooseOne(MOST_TABLES)}
        </Text>
        {hasChosen && <Button onClick={() => onChange({ near: 1 })}>{messages.diagram.showAdjacent}</Button>}
        {folders.length > 0 && (
          <>
            <Text size="sm" c="dimmed">
              {messages.diagram.startWithFolder}
            </Text>
            <ul className={classes.folders} aria-label={messages.diagram.folders}>
              {folders.map(({ name, count }) => (
                <li key={name}>
                  <Button variant="default" size="xs" onClick={() => onChange({ folder: name })}>
                    <span>
                      <Name of={name} />
                      {`: ${messages.tree.tables(count)}`}
                    </span>
                  </Button>
                </li>
              ))}
            </ul>
          </>
        )}
      </Stack>
    </Center>
  );
}

/** Returns the folders with tables below `folder`, or at the top, with the number of tables that the diagram would show. */
function foldersIn(
  collections: readonly ListedCollection[],
  { folder, hidden }: { folder: string | undefined; hidden: boolean },
): { name: string; count: number }[] {
  const roots = treeOf(collections);
  const nodes = folder === undefined ? roots : (findNode(roots, folder)?.children ?? roots);
  return nodes
    .filter(({ children }) => children.length > 0)
    .map(({ collection: { collection: name } }) => {
      const selection = { chosen: undefined, near: undefined, folder: name, hidden, relations: [] };
      return { name, count: tablesFor(collections, selection).length };
    })
    .filter(({ count }) => count > 0);
}

/* The user's arrangement of one view of the diagram. The service stores it, so that it is the same in each browser. */

type SavedDiagram = Operations['saveDiagram']['answer']['body']['data'];

const diagramsQuery = () =>
  queryOptions({
    queryKey: ['diagrams'],
    queryFn: async ({ signal }) => (await request('listDiagrams', { signal })).data,
  });

interface DiagramView {
  depth: Depth;
  folder: string | null;
}

interface Arrangement {
  placed: PlacedGraph;
  /** Absent while the user cannot arrange the diagram. `isFinal` is false while the table is dragged. */
  move?: (table: string, place: Point, isFinal: boolean) => void;
  /** Absent if the view is arranged automatically. */
  reset?: () => void;
  /** Why the last arrangement was not saved. */
  error: Error | null;
}

/** Milliseconds after the last move at which the arrangement is saved, because a held key moves a table often. */
const SAVED_AFTER = 600;

/** True once the saved arrangements are known, or cannot be read. */
const useAreDiagramsRead = (): boolean => !useQuery(diagramsQuery()).isPending;

/**
 * Returns the layout with the saved places. New tables get free space near related tables.
 * @param view null for a view that cannot be arranged
 */
function useArrangement(layout: PlacedGraph, view: DiagramView | null): Arrangement {
  const saved = useQuery(diagramsQuery());
  const [dragged, setDragged] = useState<{ table: string; place: Point } | null>(null);
  const { save, error } = useSaving();
  const isSame = (each: SavedDiagram) => each.depth === view?.depth && each.folder === view.folder;
  const places = saved.data?.find(isSame)?.places;
  const settled = useMemo(() => {
    const points = new Map(places?.map(({ collection, x, y }) => [collection, { x, y }]));
    return points.size === 0 ? layout : placeSteadily(layout, points, layout);
  }, [layout, places]);
  const placed = useMemo(
    () => (dragged === null ? settled : moveTable(settled, dragged.table, dragged.place)),
    [settled, dragged],
  );
  if (view === null || saved.data === undefined) return { placed, error };
  return {
    placed,
    error,
    move(table, place, isFinal) {
      setDragged(isFinal ? null : { table, place });
      if (!isFinal) return;
      const moved = moveTable(settled, table, place);
      // A table that the user drops on another table must not hide it.
      const free = placeSteadily(moved, moved.places, moved);
      save({ ...view, places: [...free.places].map(([collection, { x, y }]) => ({ collection, x, y })) });
    },
    ...(places !== undefined && places.length > 0 && { reset: () => save({ ...view, places: [] }) }),
  };
}

/** Shows an arrangement immediately, and sends only the newest arrangement to the service. */
function useSaving() {
  const client = useQueryClient();
  const { mutate, error } = useMutation({
    mutationFn: (body: SavedDiagram) => request('saveDiagram', { body }),
    // One after the other, so that the last one stays.
    scope: { id: 'diagram' },
  });
  const unsaved = useRef<{ body: SavedDiagram; timer: ReturnType<typeof setTimeout> }>(undefined);
  useEffect(
    () => () => {
      if (unsaved.current === undefined) return;
      clearTimeout(unsaved.current.timer);
      mutate(unsaved.current.body);
    },
    [mutate],
  );
  const save = (body: SavedDiagram): void => {
    client.setQueryData(diagramsQuery().queryKey, (all = []) => [
      ...all.filter(({ depth, folder }) => depth !== body.depth || folder !== body.folder),
      body,
    ]);
    clearTimeout(unsaved.current?.timer);
    const timer = setTimeout(() => {
      unsaved.current = undefined;
      mutate(body);
    }, SAVED_AFTER);
    unsaved.current = { body, timer };
  };
  return { save, error };
}
