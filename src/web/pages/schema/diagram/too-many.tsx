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
        <Text fw={600}>The diagram cannot show {tables.toLocaleString()} tables</Text>
        <Text size="sm" c="dimmed">
          {hasChosen
            ? `The diagram shows up to ${MOST_TABLES} tables. Show only the tables around the selected one.`
            : `The diagram shows up to ${MOST_TABLES} tables. Select a collection to see the tables around it.`}
        </Text>
        {hasChosen && <Button onClick={() => onChange({ near: 1 })}>Show adjacent tables</Button>}
      </Stack>
    </Center>
  );
}
