import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { changeQuery } from '../../service/review-queries.js';
import { Answered } from '../../shared/answered.js';
import { Progress, Withdraw } from '../../shared/change-request/progress.js';

/** Refetched every second while it makes progress. Hides the withdraw button without permission. */
export function ChangeDetails({ id }: { id: string }) {
  return (
    <Answered query={useQuery(changeQuery(id))} label="Loading the change request">
      {(request) => (
        <>
          <Progress request={request} />
          <Group justify="flex-end" mt="md">
            <Withdraw request={request} />
          </Group>
        </>
      )}
    </Answered>
  );
}
