import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { adopt, unmanagedQuery } from '../../service/operations-queries.js';
import { SCHEMA } from '../../service/queries.js';
import type { Adoption, Problem } from '../../service/types.js';
import { useRole } from '../../service/session.js';
import { counted } from '../../shared/text.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import { ReasonInput, useLacksReason } from '../../shared/form.js';
import { SteadyButton } from '../../shared/buttons.js';
import { AdoptionReport } from './adopt-report.js';
import { type UnmanagedTable, TableChoice } from './adopt-tables.js';
import classes from './page.module.css';
import { ServiceError } from '../../service/send.js';
import { Name, named } from '../../shared/name.js';

/**
 * Shows why tables could not be adopted. Other errors, and errors without a table, are shown as usual.
 * @param props.tables the tables of the request in order. Errors identify them by index
 */
export function AdoptionRefusal({ error, tables }: { error: Error; tables: readonly string[] }) {
  const problems = error instanceof ServiceError ? error.problems : [];
  const at = problems.map((problem) => tableOf(problem, tables));
  if (at.every((table) => table === undefined)) return <ProblemAlert error={error} />;
  return (
    <Alert color="red" role="alert" title="No table was adopted">
      {problems.map(({ message }, index) => (
        <Text size="sm" key={message}>
          {at[index] !== undefined && (
            <>
              <b>
                <Name of={at[index]} />
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

/** Returns the table of a problem. `tables[3]` is the fourth selected table. */
function tableOf({ extensions: { path, collection } }: Problem, tables: readonly string[]): string | undefined {
  const [, index] = /^tables\[(\d+)\]/.exec(path ?? '') ?? [];
  return index === undefined ? collection : tables[Number(index)];
}

/**
 * Adopts tables. Only admins may use it. Other users see a message. A dry run of the same tables must precede an
 * adoption. Shows a message if no table is left.
 */
export function AdoptTab() {
  useTitle('Adopt · Operations');
  const unmanaged = useQuery(unmanagedQuery());
  const isAdmin = useRole() === 'admin';
  const [adopted, setAdopted] = useState<Adoption | null>(null);
  if (!isAdmin) return <Text c="dimmed">Only admins can adopt tables.</Text>;
  return (
    <Stack>
      {adopted !== null && (
        <Alert color="teal" title={named`${counted(adopted.adopted.length, 'table')} adopted`}>
          <AdoptionReport adoption={adopted} />
        </Alert>
      )}
      <QueryResult query={unmanaged} label="Loading unmanaged tables">
        {(tables) => (tables.length === 0 ? <NoTables /> : <Choice tables={tables} onAdopted={setAdopted} />)}
      </QueryResult>
    </Stack>
  );
}

const NoTables = () => (
  <div className={classes.empty}>
    <Text fw={600}>No unmanaged tables</Text>
    <Text size="sm" mt={4}>
      Tables that someone creates directly in the database appear here. You can adopt them as collections.
    </Text>
  </div>
);

interface ChoiceProps {
  tables: readonly UnmanagedTable[];
  onAdopted: (adoption: Adoption) => void;
}

function Choice({ tables, onAdopted }: ChoiceProps) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [filter, setFilter] = useState('');
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const client = useQueryClient();
  const trial = useMutation({ mutationFn: () => adopt(chosen, { isTrial: true, reason }) });
  const take = useMutation({
    mutationFn: (tables: readonly string[]) => adopt(tables, { isTrial: false, reason }),
    onSuccess: async (adoption, tables) => {
      onAdopted(adoption);
      trial.reset();
      // Tables that were selected in the meantime stay selected.
      setChosen((now) => now.filter((table) => !tables.includes(table)));
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
  });
  // A plan is valid only for the tables for which it was created.
  const choose = (next: readonly string[]) => {
    setChosen(next);
    trial.reset();
    take.reset();
  };
  const matching = tables.filter(({ table }) => table.toLowerCase().includes(filter.trim().toLowerCase()));
  const shown = matching.map(({ table }) => table);
  const error = take.error ?? trial.error;
  return (
    <section className={classes.part} aria-label="Unmanaged tables">
      <Text size="sm" c="dimmed" mb="md">
        Adopting does not change the table. Its columns become fields and its foreign keys become relations. The service
        records all later changes in the event log. The numbers of rows are estimates of PostgreSQL.
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          flex="1 1 200px"
          label="Filter"
          placeholder="Part of the name"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <Button variant="default" onClick={() => choose([...new Set([...chosen, ...shown])])}>
          Select {shown.length === tables.length ? 'all' : 'these'} {shown.length}
        </Button>
        <Button variant="subtle" disabled={chosen.length === 0} onClick={() => choose([])}>
          {' '}
          Clear selection{' '}
        </Button>
      </Group>
      <TableChoice tables={tables} shown={matching} chosen={chosen} onChoose={choose} />
      <Group gap="sm" align="flex-end" mt="md">
        <div className={classes.words}>
          <ReasonInput value={reason} onChange={setReason} />
        </div>
        <SteadyButton
          variant="default"
          disabled={chosen.length === 0}
          loading={trial.isPending}
          onClick={() => trial.mutate()}
        >
          Dry run
        </SteadyButton>
        <SteadyButton
          disabled={!trial.isSuccess || lacksReason}
          loading={take.isPending}
          onClick={() => take.mutate(chosen)}
        >
          Adopt {chosen.length > 0 && counted(chosen.length, 'table')}
        </SteadyButton>
      </Group>
      <div role="status" className={classes.detail}>
        {error !== null && <AdoptionRefusal error={error} tables={chosen} />}
        {trial.data && error === null && <AdoptionReport adoption={trial.data} isTrial />}
      </div>
    </section>
  );
}
