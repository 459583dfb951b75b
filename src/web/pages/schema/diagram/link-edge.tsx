import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import type { Mark } from '../graph/graph.js';
import classes from './link-edge.module.css';

export type LinkEdgeType = Edge<
  { path: string; kind: string; isFaded: boolean; isLit: boolean; mark?: Mark | undefined },
  'link'
>;

/** Memoized during view moves, because there may be hundreds. */
export const LinkEdge = memo(function LinkEdge({ id, data, markerEnd, markerStart }: EdgeProps<LinkEdgeType>) {
  if (data === undefined) return null;
  const classNames = [
    classes.line,
    classes[data.kind],
    data.isFaded && classes.faded,
    data.isLit && classes.lit,
    data.mark && classes[data.mark],
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
