/** Drift with both ways to resolve it. */
import { Badge, Code, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { acceptDrift, driftQuery, rebuild } from '../../service/operations-queries.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/use-session.js';
import type { Drift } from '../../service/types.js';
import { counted } from '../../shared/amounts.js';
import { brief } from '../../shared/brief.js';
import { valueText } from '../../shared/changes/sentences.js';
import { ConfirmButton } from '../../shared/confirm-button.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Ask } from './checks.js';
import { Part, State } from './part.js';
import classes from './page.module.css';

type DriftTable = Drift['tables'][number];

/** Run by its button, and again after a repair or acceptance. Auditors see the drift; only admins may resolve it. */
export function DriftPart() {
  const drift = useQuery(driftQuery());
  const look = () => void drift.refetch();
  return (
    <Part
      title="Drift"
      about="What somebody changed in the database by hand. Make it as the log says, or take it into the log as it is."
      action={<Ask label="Look for drift" isAsking={drift.isFetching} onAsk={look} />}
    >
      {drift.error !== null && <ProblemAlert error={drift.error} />}
      {drift.data && <Found drift={drift.data} onChanged={look} />}
    </Part>
  );
}

function Found({ drift: { ok, tables, unmanaged }, onChanged }: { drift: Drift; onChanged: () => void }) {
  const isAdmin = useRole() === 'admin';
  return (
    <div role="status">
      <State ok={ok}>
        {ok
          ? 'The database is as the log says'
          : `${tables.length} ${tables.length === 1 ? 'table differs' : 'tables differ'}`}
      </State>
      <ul className={classes.lines}>
        {tables.map((table) => (
          <TableDrift key={table.table} table={table} onChanged={onChanged} />
        ))}
      </ul>
      {!ok && isAdmin && <MakeAsLogged onChanged={onChanged} />}
      {unmanaged.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Unmanaged tables, which are no drift: {brief(unmanaged.join(', '), 400)}
        </Text>
      )}
    </div>
  );
}

/** Repairs all tables at once. Destructive statements are left to people. */
function MakeAsLogged({ onChanged }: { onChanged: () => void }) {
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: () => rebuild('tables'),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      onChanged();
    },
  });
  const { made = [], left = [] } = make.data ?? {};
  return (
    <div className={classes.step}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" flex="1 1 260px">
          Or make the tables as the log says: the statements above are run in one transaction, but for those that drop
          something.
        </Text>
        <ConfirmButton
          size="xs"
          label="Make them as the log says"
          sure="Yes, change the tables"
          loading={make.isPending}
          onConfirm={() => make.mutate()}
        />
      </Group>
      {make.error !== null && <ProblemAlert error={make.error} />}
      {make.data && (
        <Text size="sm" mt="xs">
          {counted(made.length, 'statement was', 'statements were')} run
          {left.length > 0 && `; ${counted(left.length, 'is', 'are')} left to do by hand`}.
        </Text>
      )}
      {left.map(({ statement, reason }) => (
        <Text size="sm" key={statement} mt={4}>
          <Code>{brief(statement, 300)}</Code>: {reason}
        </Text>
      ))}
    </div>
  );
}

function TableDrift({ table, onChanged }: { table: DriftTable; onChanged: () => void }) {
  const isAdmin = useRole() === 'admin';
  return (
    <li className={classes.difference}>
      <Text fw={600}>
        {table.table}{' '}
        <Badge variant="default" tt="none" fw={500} size="sm">
          {table.kind}
        </Badge>
      </Text>
      {table.differences.map(({ field, member, expected, found, repair }) => (
        <div key={JSON.stringify([field, member])} className={classes.detail}>
          <Text size="sm">
            {field === undefined ? '' : `${field}, `}
            {member}: {brief(valueText(expected), 120)} in the log, {brief(valueText(found), 120)} in the database
          </Text>
          {repair.database.map(({ sql, summary, drops }) => (
            <div key={sql}>
              <Text size="xs" c="dimmed">
                To make it as the log says: {summary}
                {drops ? ' (drops an object or may lose values)' : ''}
              </Text>
              <Code block tabIndex={0} aria-label={summary}>
                {sql}
              </Code>
            </div>
          ))}
        </div>
      ))}
      {isAdmin && <Accept table={table.table} onChanged={onChanged} />}
    </li>
  );
}

function Accept({ table, onChanged }: { table: string; onChanged: () => void }) {
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => acceptDrift(table, reason),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      onChanged();
    },
  });
  return (
    <>
      <Group gap="sm" mt="sm" align="flex-end">
        <TextInput
          size="xs"
          label={`Why ${table} is as it is`}
          placeholder="kept with the events"
          flex={1}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ConfirmButton
          size="xs"
          label="Take it into the log"
          sure="Yes, take it as it is"
          about={table}
          loading={accept.isPending}
          onConfirm={() => accept.mutate()}
        />
      </Group>
      {accept.error !== null && <ProblemAlert error={accept.error} />}
    </>
  );
}
