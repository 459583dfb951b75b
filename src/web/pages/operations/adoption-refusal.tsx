/** Why tables can't be adopted: each message at the table that it is about. */
import { Alert, Text } from '@mantine/core';
import { RefusedError } from '../../service/errors.js';
import type { Problem } from '../../service/types.js';
import { ProblemAlert } from '../../shared/problem-alert.js';

/**
 * What is about no table, and what isn't a refusal, is shown as any other problem.
 * @param props.tables those that were sent, in their order: refusals say which by its number
 */
export function AdoptionRefusal({ error, tables }: { error: Error; tables: readonly string[] }) {
  const problems = error instanceof RefusedError ? error.problems : [];
  const at = problems.map((problem) => tableOf(problem, tables));
  if (at.every((table) => table === undefined)) return <ProblemAlert error={error} />;
  return (
    <Alert color="red" role="alert" title="Nothing was adopted">
      {problems.map(({ message }, index) => (
        <Text size="sm" key={message}>
          {at[index] !== undefined && (
            <>
              <b>
                <bdi>{at[index]}</bdi>
              </b>
              :{' '}
            </>
          )}
          {message}
        </Text>
      ))}
    </Alert>
  );
}

/** `tables[3]` is the fourth of those that were chosen. */
function tableOf({ extensions: { path, collection } }: Problem, tables: readonly string[]): string | undefined {
  const [, index] = /^tables\[(\d+)\]/.exec(path ?? '') ?? [];
  return index === undefined ? collection : tables[Number(index)];
}
