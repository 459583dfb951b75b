import { Button, Text, ActionIcon, Badge, Group, Center, Stack, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ReactFlowProvider } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import closeIcon from 'icon:close';
import folderIcon from 'icon:folder';
import hubIcon from 'icon:hub';
import resetIcon from 'icon:restart_alt';
import tableIcon from 'icon:table';
import { useMemo, type ReactNode } from 'react';
import { openRequestsQuery } from '../../../service/change-queries.js';
import { SCHEMA, fieldsQuery, relationsQuery } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import type { ListedCollection, ChangeSummary, Drift } from '../../../service/types.js';
import { Glyph, MaterialIcon } from '../../../shared/glyph.js';
import { type IndexUnderWay, useIndexesUnderWay } from '../../../shared/indexes-under-way.js';
import { Name, named } from '../../../shared/name.js';
import { ProblemAlert, LoadingIndicator } from '../../../shared/problem-alert.js';
import { counted, abbreviate } from '../../../shared/text.js';
import { inkOf } from '../color.js';
import { type DrawnMarks, type Mark, type PlacedGraph, fieldKey, MOST_TABLES } from '../graph/graph.js';
import { layOut } from '../graph/layout.js';
import { type GraphState, useGraph, tablesFor } from '../graph/use-graph.js';
import { useReplayGraph, useSteadyLayout } from '../replay/use-replay-graph.js';
import type { Replay } from '../replay/use-replay.js';
import type { SchemaSearch } from '../search.js';
import { findNode, treeOf } from '../tree-model.js';
import { Canvas } from './canvas.js';
import { Controls } from './controls.js';
import classes from './diagram.module.css';
import { useAreDiagramsRead, useArrangement } from './use-arrangement.js';
import { locale } from '../../../shared/language.js';

interface ChosenCardProps {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  replay?: Replay | undefined;
}

/**
 * Shows the selected collection. Renders nothing without a selection, or if the collection does not exist at that point
 * in time.
 * @param props.onChange called with undefined to clear the selection
 */
function ChosenCard({ collections, search, onChange, replay }: ChosenCardProps) {
  const listed = collections.find(({ collection }) => collection === search.c);
  if (listed === undefined) return null;
  const { collection, meta, schema } = listed;
  return (
    <aside className={classes.card} aria-label={named`About ${collection}`}>
      <Group wrap="nowrap" gap="xs" align="center">
        <span style={{ color: inkOf(meta.color), display: 'grid' }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} />
        </span>
        <Text fw={600} truncate flex={1} component="h2" size="md">
          <Name of={collection} />
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Clear selection"
          onClick={() => onChange({ c: undefined, near: undefined })}
        >
          <Glyph path={closeIcon} size={18} />
        </ActionIcon>
      </Group>
      {meta.note !== null && (
        <Text size="sm" c="dimmed" mt={4} lineClamp={3}>
          {abbreviate(meta.note, 300)}
        </Text>
      )}
      <Group gap={6} mt="sm">
        {schema === null ? <Fact>folder</Fact> : replay === undefined && <Facts collection={collection} />}
        {replay && schema !== null && <PastFacts collection={collection} replay={replay} />}
        {meta.singleton && <Fact>singleton</Fact>}
        {meta.hidden && <Fact>hidden</Fact>}
      </Group>
      <FolderButton collections={collections} search={search} onChange={onChange} />
      <Button
        component={Link}
        to="/collections/$name"
        params={{ name: collection } as never}
        size="xs"
        fullWidth
        mt="sm"
      >
        Open
      </Button>
    </aside>
  );
}

/** Renders nothing unless the selected collection contains others. */
function FolderButton({ collections, search: { c, folder }, onChange }: ChosenCardProps) {
  if (!collections.some(({ meta }) => meta.group === c)) return null;
  return (
    <Button
      variant="default"
      size="xs"
      fullWidth
      mt="sm"
      onClick={() => onChange({ folder: folder === c ? undefined : c, near: undefined })}
    >
      {folder === c ? 'Show all folders' : 'Show only this folder'}
    </Button>
  );
}

function Facts({ collection }: { collection: string }) {
  const fields = useQuery(fieldsQuery(collection));
  const relations = useQuery(relationsQuery());
  const out = relations.data?.filter((each) => each.collection === collection).length;
  const into = relations.data?.filter((each) => each.related_collection === collection).length;
  return (
    <>
      {fields.data && <Fact>{counted(fields.data.length, 'field')}</Fact>}
      {out !== undefined && out > 0 && <Fact>{counted(out, 'outgoing relation')}</Fact>}
      {into !== undefined && into > 0 && <Fact>{counted(into, 'incoming relation')}</Fact>}
    </>
  );
}

function PastFacts({ collection, replay: { moment } }: { collection: string; replay: Replay }) {
  const count = moment.fields?.get(collection)?.size;
  return count === undefined ? null : <Fact>{counted(count, 'field')} at that time</Fact>;
}

function Fact({ children }: { children: ReactNode }) {
  return (
    <Badge variant="default" tt="none" fw={500}>
      {children}
    </Badge>
  );
}

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
      <section className={classes.diagram} aria-label="Diagram">
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
    // The identity is compared, because comparing a large graph by its JSON would be slow.
    queryKeyHashFn: () => `layout ${identityOf(graph)}`,
  });
  const status = { collections, search, onChange };
  const areDiagramsRead = useAreDiagramsRead();
  if (state.status !== 'there') return <DiagramStatus state={state} {...status} />;
  if (!layout.data || !areDiagramsRead) return <LoadingIndicator label="Drawing the diagram" />;
  // A new layout resets the view.
  return <Arranged key={identityOf(layout.data)} layout={layout.data} search={search} onChange={onChange} />;
}

interface ArrangedProps {
  layout: PlacedGraph;
  search: SchemaSearch;
  onChange: Props['onChange'];
}

/** Draws the current schema as the user has arranged it. On a phone, a touch moves the view and no table. */
function Arranged({ layout, search: { c, depth = 'keys', folder, near }, onChange }: ArrangedProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const { placed, move, reset, error } = useArrangement(
    layout,
    near === undefined ? { depth, folder: folder ?? null } : null,
  );
  return (
    <>
      <Canvas
        title="Schema"
        placed={placed}
        chosen={c}
        onChoose={(chosen) => onChange({ c: chosen })}
        {...(move && !isNarrow && { onMove: move })}
      />
      {reset && (
        <Tooltip label="Arrange automatically">
          <ActionIcon
            variant="default"
            size="lg"
            className={classes.reset}
            aria-label="Arrange automatically"
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
  if (placed === null) return <LoadingIndicator label="Drawing the diagram" />;
  return (
    <Canvas
      title={named`Schema at event ${replay.moment.position}`}
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
  if (state.status === 'waiting') return <LoadingIndicator label="Drawing the diagram" />;
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
        <Text fw={600}>The diagram cannot show {tables.toLocaleString(locale)} tables</Text>
        <Text size="sm" c="dimmed">
          {hasChosen
            ? `The diagram shows up to ${MOST_TABLES} tables. Show only the tables around the selected one.`
            : `The diagram shows up to ${MOST_TABLES} tables. Select a collection to see the tables around it.`}
        </Text>
        {hasChosen && <Button onClick={() => onChange({ near: 1 })}>Show adjacent tables</Button>}
        {folders.length > 0 && (
          <>
            <Text size="sm" c="dimmed">
              Or start with a folder:
            </Text>
            <ul className={classes.folders} aria-label="Folders">
              {folders.map(({ name, count }) => (
                <li key={name}>
                  <Button variant="default" size="xs" onClick={() => onChange({ folder: name })}>
                    <span>
                      <Name of={name} />: {counted(count, 'table')}
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
