import hubIcon from 'icon:hub';
import { Button, Center, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { ListedCollection } from '../../../service/types.js';
import { Glyph } from '../../../shared/glyph.js';
import { counted } from '../../../shared/text.js';
import { MOST_TABLES } from '../graph/graph.js';
import { tablesFor } from '../graph/use-graph.js';
import type { SchemaSearch } from '../search.js';
import { findNode, treeOf } from '../tree-model.js';
import classes from './diagram.module.css';
import { Name } from '../../../shared/name.js';

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
export function TooMany({ tables, hasChosen, collections, search, onChange }: TooManyProps) {
  const { folder, hidden = false } = search;
  const folders = useMemo(() => foldersIn(collections, { folder, hidden }), [collections, folder, hidden]);
  return (
    <Center mih="100%" p="xl">
      <Stack align="center" gap="sm" maw={420} ta="center">
        <Text c="dimmed" component="span">
          <Glyph path={hubIcon} size={44} />
        </Text>
        <Text fw={600}>The diagram cannot show {tables.toLocaleString()} tables</Text>
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
