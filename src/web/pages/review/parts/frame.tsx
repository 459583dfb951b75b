/** The frame of a loading or failed review, with its title. */
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
  /** A retry would return the same. */
  isFinal?: boolean;
  /** Actions below an error. */
  below?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Loaded content stays during a refetch, even if it fails. */
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
