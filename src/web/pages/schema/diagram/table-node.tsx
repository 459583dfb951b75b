import keyIcon from 'icon:key';
import linkIcon from 'icon:link';
import tableIcon from 'icon:table';
import { Handle, type Node, type NodeProps, Position, type ReactFlowState, useStore } from '@xyflow/react';
import { memo } from 'react';
import { Glyph, MaterialIcon } from '../../../shared/glyph.js';
import { MarkSign } from '../graph/mark-sign.js';
import { inkOf } from '../color.js';
import type { Table, TableRow } from '../graph/graph.js';
import classes from './table-node.module.css';

export type TableNodeType = Node<{ table: Table; isChosen: boolean; isFaded: boolean }, 'table'>;

/** Below this zoom level text is unreadable, and hundreds of tables may be moved at once. */
const READABLE = 0.4;

const isSmall = ({ transform: [, , zoom] }: ReactFlowState): boolean => zoom < READABLE;

/** Omits rows while they are unreadable; its size stays. Memoized during view moves. */
export const TableNode = memo(function TableNode({ data: { table, isChosen, isFaded } }: NodeProps<TableNodeType>) {
  const { collection, rows, more, width, height, mark } = table;
  const isFar = useStore(isSmall);
  return (
    <div
      className={classes.table}
      data-chosen={isChosen || undefined}
      data-faded={isFaded || undefined}
      data-mark={mark}
      style={{ width, height }}
    >
      <Handle type="target" position={Position.Left} className={classes.handle ?? ''} isConnectable={false} />
      <Handle type="source" position={Position.Right} className={classes.handle ?? ''} isConnectable={false} />
      <div
        className={classes.head}
        style={{ borderTopColor: inkOf(collection.meta.color) ?? 'var(--mantine-color-iris-5)' }}
      >
        <MaterialIcon name={collection.meta.icon} otherwise={tableIcon} size={16} />
        <span className={classes.name}>{table.name}</span>
        {mark && <MarkSign mark={mark} />}
      </div>
      {!isFar && rows.map((row) => <Row key={row.field} row={row} />)}
      {!isFar && more > 0 && <div className={classes.more}>{more} more</div>}
    </div>
  );
});

function Row({ row: { field, type, isKey, isForeign, isRequired, mark } }: { row: TableRow }) {
  return (
    <div className={classes.row} data-key={isKey || undefined} data-mark={mark}>
      <span className={classes.mark}>
        {isKey ? <Glyph path={keyIcon} size={14} /> : isForeign ? <Glyph path={linkIcon} size={14} /> : null}
      </span>
      <span className={classes.name}>{field}</span>
      <span className={classes.type}>
        {type}
        {isRequired ? '' : '?'}
      </span>
      {mark && <MarkSign mark={mark} />}
    </div>
  );
}
