import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { databaseTableQuery } from '../../service/queries.js';
import { bytesText, counted } from '../../shared/amounts.js';

/** Reserves its line while it is loading, so that the layout does not move. */
export function Size({ collection }: { collection: string }) {
  const { data } = useQuery(databaseTableQuery(collection));
  return (
    <Text size="sm" c="dimmed" mt={4} mih="1.55em">
      {data !== undefined && (
        <>
          {data.rows === null ? 'row count unknown' : `about ${counted(data.rows, 'row')}`}
          {data.bytes.total !== null && `, ${bytesText(data.bytes.total)}`}
        </>
      )}
    </Text>
  );
}
