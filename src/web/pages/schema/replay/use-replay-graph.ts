/** The diagram of a state, with marks and the removed tables. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { pastFieldsQuery } from '../../../service/history-queries.js';
import type { FieldDocument, ListedCollection } from '../../../service/types.js';
import { type ShownRelation, graphOf, type Graph, type PlacedGraph, type Point } from '../graph/graph.js';
import { type GraphState, tablesFor } from '../graph/use-graph.js';
import type { SchemaSearch } from '../search.js';
import { findChangedNeighbours, sortFields } from './frame.js';
import type { Replay } from './use-replay.js';
import { layOut } from '../graph/layout.js';
import { placeSteadily } from './steady-layout.js';

/**
 * Maximum number of tables during a replay, in which each state is laid out while the next is loading. If there are
 * more, only changed tables are shown.
 */
const MOST_DRAWN = 150;

/**
 * Returns the graph. Above the limit, it contains only tables that the batch changes. `too many` is possible only for a
 * selected neighbourhood.
 */
export function useReplayGraph(replay: Replay, search: SchemaSearch): GraphState {
  const { c: chosen, near, folder, hidden = false, depth = 'keys' } = search;
  const { moment, marks, previous, next } = replay;
  const relations = useMemo(() => [...moment.relations.values(), ...marks.gone.relations], [moment, marks]);
  const collections = useMemo(() => withDeleted(replay), [replay]);
  const shown = useMemo(() => {
    const all = tablesFor(collections, { chosen, near, folder, hidden, relations });
    return all.length <= MOST_DRAWN || near !== undefined ? all : listTouched(collections, replay, relations);
  }, [collections, chosen, near, folder, hidden, relations, replay]);

  const names = useMemo(() => shown.map(({ collection }) => collection), [shown]);
  const isAsked = moment.fields === null && depth !== 'names' && names.length > 0;
  const read = useQuery({ ...pastFieldsQuery(moment.position, names), enabled: isAsked });
  useNeighbours({ isAsked, names, positions: [previous, next] });
  const fields = useMemo(() => fieldsFor(replay, names, read.data), [replay, names, read.data]);
  const isThere = !isAsked || read.data !== undefined;
  const graph = useMemo(
    () => (isThere && shown.length <= MOST_DRAWN ? graphOf(shown, { fields, relations, depth, marks }) : null),
    [isThere, shown, fields, relations, depth, marks],
  );
  if (graph !== null) return { status: 'there', graph };
  if (read.error !== null) return { status: 'failed', error: read.error, retry: () => void read.refetch() };
  if (isThere) return { status: 'too many', tables: shown.length, hasChosen: chosen !== undefined };
  return { status: 'waiting' };
}

/** Listed in name order, like lists. */
function withDeleted({ moment, marks }: Replay): ListedCollection[] {
  const all = [...moment.collections.values(), ...marks.gone.collections];
  return all.sort((a, b) => (a.collection < b.collection ? -1 : 1));
}

/** Returns only the tables of the batch if the schema exceeds the limit. */
function listTouched(
  collections: readonly ListedCollection[],
  { marks }: Replay,
  relations: readonly ShownRelation[],
): ListedCollection[] {
  const near = findChangedNeighbours(marks, relations);
  const tables = collections.filter(({ collection, schema }) => schema !== null && near.has(collection));
  if (tables.length <= MOST_DRAWN) return tables;
  return tables.filter(({ collection }) => marks.collections.has(collection)).slice(0, MOST_DRAWN);
}

function fieldsFor({ moment, marks }: Replay, names: readonly string[], read: FieldDocument[] | undefined) {
  const { gone } = marks;
  if (moment.fields === null) {
    const there = new Set(read?.map(({ collection }) => collection));
    return [...(read ?? []), ...gone.fields.filter(({ collection }) => there.has(collection) || isGone(collection))];
  }
  function isGone(name: string): boolean {
    return gone.collections.some(({ collection }) => collection === name);
  }
  const { fields } = moment;
  return names.flatMap((name) =>
    sortFields([...(fields.get(name)?.values() ?? []), ...gone.fields.filter(({ collection }) => collection === name)]),
  );
}

/** Prefetches the fields for the next step. */
function useNeighbours({
  isAsked,
  names,
  positions,
}: {
  isAsked: boolean;
  names: readonly string[];
  positions: readonly (number | null | undefined)[];
}) {
  const client = useQueryClient();
  const wanted = positions.filter((position) => typeof position === 'number').join();
  useEffect(() => {
    if (!isAsked || wanted === '') return;
    for (const position of wanted.split(',')) void client.prefetchQuery(pastFieldsQuery(Number(position), names));
  }, [client, isAsked, names, wanted]);
}

/** The layout of a replay: computed once, then adjusted step by step. */

interface Steady {
  placed: PlacedGraph | null;
  drawing: number;
  error: Error | null;
  /** Computes a new layout. */
  tidy: () => void;
}

/** The data that one drawing keeps from state to state. */
interface Memory {
  places: Map<string, Point>;
  last: PlacedGraph;
}

/** @param kind everything else that determines the drawing; another kind is another drawing */
export function useSteadyLayout(graph: Graph | null, kind: string, renamed: ReadonlyMap<string, string>): Steady {
  const [round, setRound] = useState(0);
  const drawing = `${kind} ${round}`;
  const memories = useRef(new Map<string, Memory>());
  const memory = memories.current.get(drawing);
  const isElsewhere = isNew(graph, memory);
  const begun = useQuery({
    queryKey: ['replay', 'layout', drawing, isElsewhere ? graph?.tables.map(({ name }) => name) : null],
    queryFn: () => layOut(graph as Graph),
    enabled: graph !== null && (memory === undefined || isElsewhere),
    staleTime: 0,
    gcTime: 0,
  });
  const placed = useMemo(() => {
    if (graph === null) return memory?.last ?? null;
    if (memory !== undefined && !isElsewhere) {
      for (const [from, to] of renamed) follow(memory.places, from, to);
      return continueLayout(memory, graph);
    }
    if (begun.data === undefined) return null;
    const first = rememberedFrom(begun.data, memory);
    memories.current = new Map([[drawing, first]]);
    return belongsTo(graph, begun.data) ? begun.data : continueLayout(first, graph);
  }, [graph, memory, isElsewhere, begun.data, drawing, renamed]);
  return { placed, drawing: round, error: begun.error, tidy: () => setRound(round + 1) };
}

/** True if no table was drawn before. */
function isNew(graph: Graph | null, memory: Memory | undefined): boolean {
  if (graph === null || memory === undefined || graph.tables.length === 0) return false;
  return !graph.tables.some(({ name }) => memory.places.has(name));
}

const rememberedFrom = (last: PlacedGraph, before: Memory | undefined): Memory => ({
  places: new Map([...(before?.places ?? []), ...last.places]),
  last,
});

const belongsTo = (graph: Graph, { tables }: PlacedGraph): boolean => graph.tables === tables;

function continueLayout(memory: Memory, graph: Graph): PlacedGraph {
  const placed = placeSteadily(graph, memory.places, memory.last);
  for (const [name, place] of placed.places) if (!memory.places.has(name)) memory.places.set(name, place);
  memory.last = placed;
  return placed;
}

/** Moves a place to another name. Both directions are handled, because a replay can step back. */
function follow(places: Map<string, Point>, from: string, to: string): void {
  const place = places.get(from) ?? places.get(to);
  if (place === undefined) return;
  if (!places.has(to)) places.set(to, place);
  if (!places.has(from)) places.set(from, place);
}
