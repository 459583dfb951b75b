/* Shows an error in the service's words. */
import errorIcon from 'icon:error';
import { Alert, Button, Code, List, Text, Center, Loader } from '@mantine/core';
import type { UseQueryResult, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConnectionError, ServiceError } from '../service/send.js';
import type { Problem } from '../service/types.js';
import { Glyph } from './glyph.js';
import { SteadyButton } from './buttons.js';
import { messages } from './messages.js';
import { abbreviate } from './text.js';

/**
 * Shows every problem; for internal errors also the request id.
 * @param props.retry undefined hides the retry button
 */
export function ProblemAlert({ error, retry }: { error: Error; retry?: () => void }) {
  const problems = error instanceof ServiceError ? error.problems : [];
  return (
    <Alert color="red" variant="light" icon={<Glyph path={errorIcon} />} role="alert" title={titleOf(error)}>
      {problems.length > 1 ? (
        <List size="sm">
          {problems.map(({ message, extensions }) => (
            <List.Item key={`${extensions.path ?? ''} ${message}`}>{message}</List.Item>
          ))}
        </List>
      ) : (
        <Text size="sm">
          {error instanceof ConnectionError
            ? `${messages.problem.noConnection(error.message)} ${messages.problem.checkConnection}`
            : error.message}
        </Text>
      )}
      {error instanceof ServiceError && error.requestId !== null && error.status >= 500 && (
        <Text size="xs" mt="xs">
          {messages.problem.inLog(<Code>{error.requestId}</Code>)}
        </Text>
      )}
      {retry && (
        <Button size="xs" variant="default" mt="sm" onClick={retry}>
          {messages.problem.tryAgain}
        </Button>
      )}
    </Alert>
  );
}

function titleOf(error: Error): string {
  if (!(error instanceof ServiceError)) return messages.problem.noResponse;
  if (error.status === 403) return messages.problem.notAllowed;
  return error.status >= 500 ? messages.problem.serviceFailed : messages.problem.rejected;
}

/** Offers the option `purge` where the service requires it. */

interface PurgeOfferProps {
  problems: readonly Problem[];
  isBusy?: boolean;
  onAccept: () => void;
}

/** Shows what the option deletes permanently. Renders nothing if no problem requires the option. */
export function PurgeOffer({ problems, isBusy = false, onAccept }: PurgeOfferProps) {
  const asking = problems.filter(({ extensions }) => extensions['option'] === 'purge');
  if (asking.length === 0) return null;
  return (
    <SteadyButton color="red" variant="light" size="compact-sm" loading={isBusy} w="fit-content" onClick={onAccept}>
      {messages.problem.deletePermanently(
        abbreviate(asking.flatMap(({ extensions }) => listLost(extensions)).join(', '), LONGEST),
      )}
    </SteadyButton>
  );
}

const LONGEST = 200;

function listLost({ collection, field, inherited_by: descendants }: { readonly [member: string]: unknown }): string[] {
  const names = [collection, ...(Array.isArray(descendants) ? (descendants as unknown[]) : [])].filter(
    (name): name is string => typeof name === 'string',
  );
  return names.map((name) => (typeof field === 'string' ? `${name}.${field}` : name));
}

/**
 * @param props.label what is loading, for screen readers
 * @param props.height in CSS; that of its container by default
 */
export function LoadingIndicator({ label, height = '100%' }: { label: string; height?: string }) {
  return (
    <Center h={height} p="md">
      <Loader role="status" aria-label={label} />
    </Center>
  );
}

/* Shows a query result, a loading indicator, or the error. */

interface Props<T> {
  query: Pick<UseQueryResult<unknown>, 'error'> & { data: T | undefined; refetch: () => unknown };
  /** The loading content, for screen readers. */
  label: string;
  children: (data: T) => ReactNode;
}

/** Shows the data. It stays during a refetch, even if the refetch fails. */
export function QueryResult<T>({ query: { data, error, refetch }, label, children }: Props<T>) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  return <LoadingIndicator label={label} height="160px" />;
}

/* Loads further pages of a list, and shows the error of the last one. */

interface LoadMoreProps {
  of: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
  >;
  /** The label of the button. */
  children: ReactNode;
}

/** Loads the next page. Renders nothing after the last page. After an error, the user can retry. */
export function LoadMoreButton({ of, children }: LoadMoreProps) {
  const { hasNextPage, isFetchingNextPage: isLoading, isFetchNextPageError: isRefused, error, fetchNextPage } = of;
  if (!hasNextPage) return null;
  const load = () => void fetchNextPage();
  return (
    <>
      <SteadyButton variant="default" mt="md" fullWidth loading={isLoading} onClick={load}>
        {children}
      </SteadyButton>
      {isRefused && error !== null && <ProblemAlert error={error} retry={load} />}
    </>
  );
}
