import { Checkbox, Text } from '@mantine/core';
import type { Drift } from '../../service/types.js';
import { counted } from '../../shared/text.js';
import { groupBy } from '../../shared/group-by.js';
import classes from './adopt.module.css';
import { Name, named } from '../../shared/name.js';

export type UnmanagedTable = Drift['unmanaged_tables'][number];

/** Maximum number of tables that are shown. The user finds others with the filter. */
const MAX_TABLES_SHOWN = 600;

interface TableChoiceProps {
  tables: readonly UnmanagedTable[];
  /** The tables that match the filter. */
  shown: readonly UnmanagedTable[];
  chosen: readonly string[];
  onChoose: (tables: readonly string[]) => void;
}

/**
 * Shows the tables with their partitions below them. Selecting a table also selects its partitions. Selecting a
 * partition also selects its table, without which the service rejects the partition.
 */
export function TableChoice({ tables, shown, chosen, onChoose }: TableChoiceProps) {
  const parents = new Map(tables.map(({ table, partition_of: parent }) => [table, parent]));
  const partitions = groupBy(tables, ({ partition_of: parent }) => parent);
  const among = new Set(chosen);

  const withPartitions = (table: string): string[] => [
    table,
    ...(partitions.get(table) ?? []).flatMap((each) => withPartitions(each.table)),
  ];
  const parentsOf = (table: string): string[] => {
    const parent = parents.get(table);
    return parent === undefined || !parents.has(parent) ? [] : [parent, ...parentsOf(parent)];
  };
  const toggle = (table: string) => {
    const family = withPartitions(table);
    if (!among.has(table)) return onChoose([...new Set([...chosen, ...parentsOf(table), ...family])]);
    return onChoose(chosen.filter((each) => !family.includes(each)));
  };

  const listed = shown.slice(0, MAX_TABLES_SHOWN);
  const listedNames = new Set(listed.map(({ table }) => table));
  const nested = groupBy(listed, ({ partition_of: parent }) =>
    parent !== undefined && listedNames.has(parent) ? parent : undefined,
  );
  const lines = (group: readonly UnmanagedTable[]) =>
    group.map(({ table, rows, partition_of: parent }) => {
      const below = nested.get(table) ?? [];
      return (
        <li key={table}>
          <Checkbox
            label={<Name of={table} />}
            description={descriptionOf({
              rows,
              partitions: below.length,
              parent: nested.has(parent) ? undefined : parent,
            })}
            checked={among.has(table)}
            onChange={() => toggle(table)}
          />
          {below.length > 0 && <ul aria-label={named`Partitions of ${table}`}>{lines(below)}</ul>}
        </li>
      );
    });
  return (
    <>
      <ul className={classes.tables} aria-label="Tables">
        {lines(nested.get(undefined) ?? [])}
      </ul>
      {shown.length > MAX_TABLES_SHOWN && (
        <Text size="sm" c="dimmed">
          and {(shown.length - MAX_TABLES_SHOWN).toLocaleString()} more. Use the filter to find them.
        </Text>
      )}
    </>
  );
}

interface TableDescription {
  rows: number | null;
  partitions: number;
  /** The partitioned table, unless the list shows it above. */
  parent: string | undefined;
}

const descriptionOf = ({ rows, partitions, parent }: TableDescription): string =>
  [
    rows === null ? 'rows not counted yet' : `about ${counted(rows, 'row')}`,
    partitions > 0 && counted(partitions, 'partition'),
    parent !== undefined && `partition of ${parent}`,
  ]
    .filter((part) => part !== false)
    .join(', ');
