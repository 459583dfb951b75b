import { Alert, Text } from '@mantine/core';
import { RefusedError } from '../../service/errors.js';
import type { Problem } from '../../service/types.js';
import { ProblemAlert } from '../../shared/problem-alert.js';

/**
 * Errors without a table, and other errors, are shown as usual.
 * @param props.tables the sent tables in order, which errors identify by index
 */
export function AdoptionRefusal({ error, tables }: { error: Error; tables: readonly string[] }) {
  const problems = error instanceof RefusedError ? error.problems : [];
  const at = problems.map((problem) => tableOf(problem, tables));
  if (at.every((table) => table === undefined)) return <ProblemAlert error={error} />;
  return (
    <Alert color="red" role="alert" title="No table was adopted">
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

/** `tables[3]` is the fourth selected table. */
function tableOf({ extensions: { path, collection } }: Problem, tables: readonly string[]): string | undefined {
  const [, index] = /^tables\[(\d+)\]/.exec(path ?? '') ?? [];
  return index === undefined ? collection : tables[Number(index)];
}
