/** The user's arrangement of one view of the diagram. The service stores it, so that it is the same in each browser. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Operations } from '../../../../client/api.js';
import { request } from '../../../service/request.js';
import type { PlacedGraph, Point } from '../graph/graph.js';
import { moveTable, placeSteadily } from '../replay/steady-layout.js';
import type { Depth } from '../search.js';

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
export const useAreDiagramsRead = (): boolean => !useQuery(diagramsQuery()).isPending;

/**
 * Returns the layout with the saved places. New tables get free space near related tables.
 * @param view null for a view that cannot be arranged
 */
export function useArrangement(layout: PlacedGraph, view: DiagramView | null): Arrangement {
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
      // A table that was dropped on another one must not hide it.
      const free = placeSteadily(moved, moved.places, moved);
      save({ ...view, places: [...free.places].map(([collection, { x, y }]) => ({ collection, x, y })) });
    },
    ...(places !== undefined && places.length > 0 && { reset: () => save({ ...view, places: [] }) }),
  };
}

/** Shows an arrangement at once, and sends the last one to the service. */
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
