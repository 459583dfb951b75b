/** Shows an error in the service's words. */
import errorIcon from 'icon:error';
import { Alert, Button, Code, List, Text } from '@mantine/core';
import { RefusedError } from '../service/errors.js';
import { Glyph } from './glyph.js';

/**
 * Shows every problem; for internal errors also the request id.
 * @param props.retry undefined hides the retry button
 */
export function ProblemAlert({ error, retry }: { error: Error; retry?: () => void }) {
  const problems = error instanceof RefusedError ? error.problems : [];
  return (
    <Alert color="red" variant="light" icon={<Glyph path={errorIcon} />} role="alert" title={titleOf(error)}>
      {problems.length > 1 ? (
        <List size="sm">
          {problems.map(({ message, extensions }) => (
            <List.Item key={`${extensions.path ?? ''} ${message}`}>{message}</List.Item>
          ))}
        </List>
      ) : (
        <Text size="sm">{error.message}</Text>
      )}
      {error instanceof RefusedError && error.requestId !== null && error.status >= 500 && (
        <Text size="xs" mt="xs">
          For details, search the service log for request <Code>{error.requestId}</Code>.
        </Text>
      )}
      {retry && (
        <Button size="xs" variant="default" mt="sm" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

function titleOf(error: Error): string {
  if (!(error instanceof RefusedError)) return 'No response';
  if (error.status === 403) return 'Not allowed';
  return error.status >= 500 ? 'The service failed' : 'Rejected';
}
