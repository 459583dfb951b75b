/** A review that is on its way, or isn't possible, with what it is called. */
import { Box, Stack, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTitle } from '../../../shared/page-title.js';
import { Page } from '../../../shared/page.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { Waiting } from '../../../shared/waiting.js';

interface Props<T> {
  title: string;
  query: UseQueryResult<T>;
  label: string;
  /** The same would be answered again. */
  isFinal?: boolean;
  /** What can be done where it isn't possible. */
  below?: ReactNode;
  children: (data: T) => ReactNode;
}

/** What was read stays while it is read again, even where that fails. */
export function Frame<T>({ title, query, label, isFinal = false, below, children }: Props<T>) {
  const { data, error, refetch, isFetching } = query;
  useTitle(`${title} · Review`);
  if (data !== undefined) return children(data);
  return (
    <Page>
      <Title order={1} size="h3" mb="lg">
        {title}
      </Title>
      {error === null || isFetching ? (
        <Waiting label={label} height="240px" />
      ) : (
        <Stack gap="md">
          <ProblemAlert error={error} {...(!isFinal && { retry: () => void refetch() })} />
          <Box>{below}</Box>
        </Stack>
      )}
    </Page>
  );
}
