/** The layout of a replay: computed once, then adjusted step by step. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { Graph, Placed, Point } from '../graph/graph.js';
import { layOut } from '../graph/layout.js';
import { placeSteadily } from './steady-layout.js';

interface Steady {
  placed: Placed | null;
  drawing: number;
  error: Error | null;
  /** Computes a new layout. */
  tidy: () => void;
}

/** The memory of one drawing across states. */
interface Memory {
  places: Map<string, Point>;
  last: Placed;
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
      return continued(memory, graph);
    }
    if (begun.data === undefined) return null;
    const first = rememberedFrom(begun.data, memory);
    memories.current = new Map([[drawing, first]]);
    return fitsTo(graph, begun.data) ? begun.data : continued(first, graph);
  }, [graph, memory, isElsewhere, begun.data, drawing, renamed]);
  return { placed, drawing: round, error: begun.error, tidy: () => setRound(round + 1) };
}

/** Checks whether no table was drawn before. */
function isNew(graph: Graph | null, memory: Memory | undefined): boolean {
  if (graph === null || memory === undefined || graph.tables.length === 0) return false;
  return !graph.tables.some(({ name }) => memory.places.has(name));
}

const rememberedFrom = (last: Placed, before: Memory | undefined): Memory => ({
  places: new Map([...(before?.places ?? []), ...last.places]),
  last,
});

const fitsTo = (graph: Graph, { tables }: Placed): boolean => graph.tables === tables;

function continued(memory: Memory, graph: Graph): Placed {
  const placed = placeSteadily(graph, memory.places, memory.last);
  for (const [name, place] of placed.places) if (!memory.places.has(name)) memory.places.set(name, place);
  memory.last = placed;
  return placed;
}

/** In either direction, because a replay can step back. */
function follow(places: Map<string, Point>, from: string, to: string): void {
  const place = places.get(from) ?? places.get(to);
  if (place === undefined) return;
  if (!places.has(to)) places.set(to, place);
  if (!places.has(from)) places.set(from, place);
}
