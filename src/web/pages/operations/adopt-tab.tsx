import { Alert, Button, Group, Stack, Text, TextInput, Checkbox } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { adopt, unmanagedQuery } from '../../service/operations-queries.js';
import { SCHEMA } from '../../service/queries.js';
import { ServiceError } from '../../service/send.js';
import { useRole } from '../../service/session.js';
import type { Adoption, Problem, Drift } from '../../service/types.js';
import { SteadyButton } from '../../shared/buttons.js';
import { ReasonInput, useLacksReason } from '../../shared/form.js';
import { groupBy } from '../../shared/items.js';
import { Name } from '../../shared/name.js';
import { useTitle } from '../../shared/page.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { abbreviate } from '../../shared/text.js';
import { messages } from './messages.js';
import adoptClasses from './adopt.module.css';
import classes from './page.module.css';

const { adopt: texts } = messages;

/**
 * Shows why tables could not be adopted. Other errors, and errors without a table, are shown as usual.
 * @param props.tables the tables of the request in order. Errors identify them by index
 */
function AdoptionRefusal({ error, tables }: { error: Error; tables: readonly string[] }) {
  const problems = error instanceof ServiceError ? error.problems : [];
  const at = problems.map((problem) => tableOf(problem, tables));
  if (at.every((table) => table === undefined)) return <ProblemAlert error={error} />;
  return (
    <Alert color="red" role="alert" title={texts.refused}>
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
  useTitle(messages.titleOf(messages.tabs.adopt));
  const unmanaged = useQuery(unmanagedQuery());
  const isAdmin = useRole() === 'admin';
  const [adopted, setAdopted] = useState<Adoption | null>(null);
  if (!isAdmin) return <Text c="dimmed">{texts.onlyAdmins}</Text>;
  return (
    <Stack>
      {adopted !== null && (
        <Alert color="teal" title={texts.adopted(adopted.adopted.length)}>
          <AdoptionReport adoption={adopted} />
        </Alert>
      )}
      <QueryResult query={unmanaged} label={texts.loading}>
        {(tables) => (tables.length === 0 ? <NoTables /> : <Choice tables={tables} onAdopted={setAdopted} />)}
      </QueryResult>
    </Stack>
  );
}

const NoTables = () => (
  <div className={classes.empty}>
    <Text fw={600}>{texts.none}</Text>
    <Text size="sm" mt={4}>
      {texts.aboutNone}
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
    <section className={classes.part} aria-label={texts.unmanaged}>
      <Text size="sm" c="dimmed" mb="md">
        {texts.about}
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          flex="1 1 200px"
          label={texts.filter}
          placeholder={texts.partOfName}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <Button variant="default" onClick={() => choose([...new Set([...chosen, ...shown])])}>
          {shown.length === tables.length ? texts.selectAll(shown.length) : texts.selectThese(shown.length)}
        </Button>
        <Button variant="subtle" disabled={chosen.length === 0} onClick={() => choose([])}>
          {texts.clearSelection}
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
          {texts.dryRun}
        </SteadyButton>
        <SteadyButton
          disabled={!trial.isSuccess || lacksReason}
          loading={take.isPending}
          onClick={() => take.mutate(chosen)}
        >
          {chosen.length > 0 ? texts.submitTables(chosen.length) : texts.submit}
        </SteadyButton>
      </Group>
      <div role="status" className={classes.detail}>
        {error !== null && <AdoptionRefusal error={error} tables={chosen} />}
        {trial.data && error === null && <AdoptionReport adoption={trial.data} isTrial />}
      </div>
    </section>
  );
}

type UnmanagedTable = Drift['unmanaged_tables'][number];

/** Maximum number of tables that are shown. The user finds others with the filter. */
const MAX_TABLES_SHOWN = 600;

interface TableChoiceProps {
  tables: readonly UnmanagedTable[];
  /** The tables that match the filter. */
  shown: readonly UnmanagedTable[];
  chosen: readonly string[];
  onChoose: (tables: readonly string[]) => void;
}

/**
 * Shows the tables with their partitions below them. Selecting a table also selects its partitions. Selecting a
 * partition also selects its table, without which the service rejects the partition.
 */
function TableChoice({ tables, shown, chosen, onChoose }: TableChoiceProps) {
  const parents = new Map(tables.map(({ table, partition_of: parent }) => [table, parent]));
  const partitions = groupBy(tables, ({ partition_of: parent }) => parent);
  const among = new Set(chosen);

  const withPartitions = (table: string): string[] => [
    table,
    ...(partitions.get(table) ?? []).flatMap((each) => withPartitions(each.table)),
  ];
  const parentsOf = (table: string): string[] => {
    const parent = parents.get(table);
    return parent === undefined || !parents.has(parent) ? [] : [parent, ...parentsOf(parent)];
  };
  const toggle = (table: string) => {
    const family = withPartitions(table);
    if (!among.has(table)) return onChoose([...new Set([...chosen, ...parentsOf(table), ...family])]);
    return onChoose(chosen.filter((each) => !family.includes(each)));
  };

  const listed = shown.slice(0, MAX_TABLES_SHOWN);
  const listedNames = new Set(listed.map(({ table }) => table));
  const nested = groupBy(listed, ({ partition_of: parent }) =>
    parent !== undefined && listedNames.has(parent) ? parent : undefined,
  );
  const lines = (group: readonly UnmanagedTable[]) =>
    group.map(({ table, rows, partition_of: parent }) => {
      const below = nested.get(table) ?? [];
      return (
        <li key={table}>
          <Checkbox
            label={<Name of={table} />}
            description={texts.rows({
              rows,
              partitions: below.length,
              parent: nested.has(parent) ? undefined : parent,
            })}
            checked={among.has(table)}
            onChange={() => toggle(table)}
          />
          {below.length > 0 && <ul aria-label={texts.partitionsOf(table)}>{lines(below)}</ul>}
        </li>
      );
    });
  return (
    <>
      <ul className={adoptClasses.tables} aria-label={texts.tables}>
        {lines(nested.get(undefined) ?? [])}
      </ul>
      {shown.length > MAX_TABLES_SHOWN && (
        <Text size="sm" c="dimmed">
          {texts.more(shown.length - MAX_TABLES_SHOWN)}
        </Text>
      )}
    </>
  );
}

type Note = Adoption['not_represented'][number];

/** @param props.isTrial true for a dry run, which appends no events */
function AdoptionReport({ adoption, isTrial = false }: { adoption: Adoption; isTrial?: boolean }) {
  const { adopted, relations, refused, not_represented: notes, events } = adoption;
  const byTable = groupBy(notes, ({ table }) => table);
  const report = texts.report({
    tables: adopted.length,
    relations,
    events: events?.length,
    names: abbreviate(adopted.join(', '), 300),
  });
  return (
    <>
      <Text size="sm" fw={isTrial ? 600 : 400}>
        {isTrial ? texts.trialReport(report) : report}
      </Text>
      {refused.map(({ table, message }) => (
        <Text size="sm" key={table} mt={4}>
          <b>{table}</b>: {message}
        </Text>
      ))}
      {notes.length > 0 && (
        <>
          <Text size="sm" mt="sm" fw={550}>
            {texts.unsupported(notes.length, countsByKind(notes))}
          </Text>
          <ul className={adoptClasses.groups} aria-label={texts.unsupportedObjects}>
            {[...byTable].map(([table, group]) => (
              <li key={table}>
                <TableNotes table={table} notes={group} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Returns the number of objects of each kind: `2 views, 1 trigger`. */
function countsByKind(notes: readonly Note[]): string {
  const kinds = [...groupBy(notes, ({ kind }) => kind)];
  return kinds.map(([kind, group]) => texts.kindCount(group.length, kind)).join(', ');
}

function TableNotes({ table, notes }: { table: string | null; notes: readonly Note[] }) {
  return (
    <details>
      <summary>
        <b>{table === null ? texts.noTable : <Name of={table} />}</b>: {countsByKind(notes)}
      </summary>
      {[...groupBy(notes, ({ kind }) => kind)].map(([kind, group]) => (
        <div key={kind} className={adoptClasses.kind}>
          <Text size="sm" fw={550}>
            {texts.kindCount(group.length, kind)}
          </Text>
          <ul>
            {group.map(({ name, message }) => (
              <li key={`${name} ${message}`}>{message}</li>
            ))}
          </ul>
        </div>
      ))}
    </details>
  );
}
