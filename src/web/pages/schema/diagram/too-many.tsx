import hubIcon from 'icon:hub';
import { Button, Center, Stack, Text } from '@mantine/core';
import { Glyph } from '../../../shared/glyph.js';
import type { SchemaSearch } from '../search.js';
import { MOST_TABLES } from '../graph/graph.js';

interface Props {
  tables: number;
  hasChosen: boolean;
  onChange: (changed: Partial<SchemaSearch>) => void;
}

/**
 * @param props.tables how many there would be
 * @param props.hasChosen offers the neighbourhood of the selected table
 */
export function TooMany({ tables, hasChosen, onChange }: Props) {
  return (
    <Center h="100%" p="xl">
      <Stack align="center" gap="sm" maw={420} ta="center">
        <Text c="dimmed" component="span">
          <Glyph path={hubIcon} size={44} />
        </Text>
        <Text fw={600}>{tables.toLocaleString()} tables are too many for one drawing</Text>
        <Text size="sm" c="dimmed">
          {hasChosen
            ? `Up to ${MOST_TABLES} are drawn at once. Look at what is around the chosen one.`
            : `Up to ${MOST_TABLES} are drawn at once. Choose a collection, and see what is around it.`}
        </Text>
        {hasChosen && <Button onClick={() => onChange({ near: 1 })}>Show one step around it</Button>}
      </Stack>
    </Center>
  );
}
