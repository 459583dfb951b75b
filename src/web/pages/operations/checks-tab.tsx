import { Stack, Badge, Code, Group, Text, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTitle } from '../../shared/page.js';
import {
  fetchExamination,
  acceptDrift,
  driftQuery,
  rebuild,
  fetchChainCheck,
  fetchComparison,
  useScheduledFaults,
  withoutDriftQuery,
} from '../../service/operations-queries.js';
import type { Examination, Drift, LogVerification, Verification } from '../../service/types.js';
import { counted, abbreviate, visibleSql } from '../../shared/text.js';
import { CopyButton, ConfirmButton, SteadyButton } from '../../shared/buttons.js';
import { Caution, ReasonInput, useLacksReason } from '../../shared/form.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Part, State } from './part.js';
import classes from './page.module.css';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import { Name } from '../../shared/name.js';
import { Time } from '../../shared/time.js';
import { valueText } from '../../shared/changes/sentences.js';
import { locale } from '../../shared/language.js';

/**
 * Runs the checks of the doctor when the user presses the button. Shows findings first, then all checks with their
 * results.
 */
export function DoctorPart() {
  const doctor = useMutation({ mutationFn: fetchExamination });
  return (
    <Part
      title="Doctor"
      about="Checks the server, settings, privileges, migrations, event log, notifications and projections, like “dps doctor”. It reads the whole event log."
      action={<CheckButton label="Run checks" isAsking={doctor.isPending} onAsk={() => doctor.mutate()} />}
    >
      {doctor.error !== null && <ProblemAlert error={doctor.error} />}
      {doctor.data && <CheckResult found={doctor.data} />}
    </Part>
  );
}

const LOOKS = {
  ok: { sign: '✓', color: 'teal' },
  warning: { sign: '!', color: 'orange' },
  error: { sign: '✗', color: 'red' },
  skipped: { sign: '–', color: 'gray' },
} as const;

type Check = Examination['checks'][number];

function CheckResult({ found: { ok, checks } }: { found: Examination }) {
  const findings = checks.flatMap((check) => check.findings);
  return (
    <div role="status">
      <State ok={ok}>
        {findings.length === 0 ? `${checks.length} checks, no findings` : counted(findings.length, 'finding')}
      </State>
      {findings.map(({ code, severity, message, fix }) => (
        <div key={`${code} ${message}`} className={classes.finding} data-severity={severity}>
          <Group gap="xs">
            <Badge size="sm" variant="light" color={LOOKS[severity].color} className={classes.severity}>
              {severity}
            </Badge>
            <Code>{code}</Code>
          </Group>
          <Text size="sm" mt={4} className={classes.message}>
            {message}
          </Text>
          <Group gap={4} wrap="nowrap" align="flex-start" mt={4}>
            <Text size="sm" c="dimmed" flex={1}>
              {fix}
            </Text>
            <CopyButton text={fix} label={`Copy the fix for ${code}`} />
          </Group>
        </div>
      ))}
      <ul className={classes.looked} aria-label="Checks">
        {checks.map((check) => (
          <CheckLine key={check.name} check={check} />
        ))}
      </ul>
    </div>
  );
}

function CheckLine({ check: { name, result } }: { check: Check }) {
  return (
    <li data-result={result}>
      <span aria-hidden="true">{LOOKS[result].sign}</span> {name}
      <VisuallyHidden component="span">: {result}</VisuallyHidden>
    </li>
  );
}

/* Drift with both ways to resolve it. */

type DriftTable = Drift['tables'][number];

/**
 * Reads drift when the user presses the button, and again after a repair or acceptance. Auditors see the drift. Only
 * admins may resolve it.
 */
export function DriftPart() {
  const drift = useQuery(driftQuery());
  const client = useQueryClient();
  const look = async () => {
    const { data } = await drift.refetch();
    if (data?.ok === true) client.setQueryData(withoutDriftQuery().queryKey, data.position);
  };
  return (
    <Part
      title="Drift"
      about="Changes that someone made in the database without the service. Repair the database, or accept the changes into the event log."
      action={<CheckButton label="Check for drift" isAsking={drift.isFetching} onAsk={() => void look()} />}
    >
      {drift.error !== null && <ProblemAlert error={drift.error} />}
      {drift.data && <DriftReport drift={drift.data} onChanged={() => void look()} />}
    </Part>
  );
}

function DriftReport({ drift, onChanged }: { drift: Drift; onChanged: () => void }) {
  const { ok, tables, unmanaged, objects = [], unmanaged_objects = [] } = drift;
  const names = [...unmanaged, ...unmanaged_objects.map(objectText)];
  const isAdmin = useRole() === 'admin';
  return (
    <div role="status">
      <State ok={ok}>
        {ok
          ? 'No drift: the database matches the event log'
          : [...countDiffering(tables.length, 'table'), ...countDiffering(objects.length, 'view')].join(', ')}
      </State>
      <ul className={classes.lines}>
        {tables.map((table) => (
          <TableDrift key={table.table} table={table} onChanged={onChanged} />
        ))}
        {objects.map((each) => (
          <ObjectDrift key={objectText(each.object)} found={each} onChanged={onChanged} />
        ))}
      </ul>
      {!ok && isAdmin && <RepairAllTables onChanged={onChanged} />}
      {names.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Unmanaged {unmanaged_objects.length > 0 ? 'tables and objects' : 'tables'} (not drift):{' '}
          {abbreviate(names.join(', '), 400)}
        </Text>
      )}
    </div>
  );
}

const countDiffering = (count: number, kind: 'table' | 'view'): string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? `${kind} differs` : `${kind}s differ`}`];

type DriftObject = NonNullable<Drift['objects']>[number];

const objectText = ({ kind, id }: { kind: string; id: string }): string => `${kind.replace('_', ' ')} ${id}`;

/** Repairs all tables at once. The user must run destructive statements individually. */
function RepairAllTables({ onChanged }: { onChanged: () => void }) {
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
          You can also repair the tables. The service runs the statements above in one transaction. It skips statements
          that drop an object.
        </Text>
        <ConfirmButton
          size="xs"
          label="Repair tables"
          sure="Yes, repair tables"
          loading={make.isPending}
          onConfirm={() => make.mutate()}
        />
      </Group>
      {make.error !== null && <ProblemAlert error={make.error} />}
      {make.data && (
        <Text size="sm" mt="xs">
          The service ran {counted(made.length, 'statement')}
          {left.length > 0 && ` and skipped ${left.length}. Run the skipped ones yourself`}.
        </Text>
      )}
      {left.map(({ statement, reason }) => (
        <Text size="sm" key={statement} mt={4}>
          <Code>{abbreviate(visibleSql(statement), 300)}</Code>: {reason}
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
            {member}: {abbreviate(valueText(expected), 120)} in the event log, {abbreviate(valueText(found), 120)} in
            the database
          </Text>
          <RepairStatements statements={repair.database} />
        </div>
      ))}
      {isAdmin && <Accept name={table.table} accepted={{ collections: [table.table] }} onChanged={onChanged} />}
    </li>
  );
}

function RepairStatements({ statements }: { statements: DriftObject['repair']['database'] }) {
  return statements.map(({ sql, summary, drops }) => (
    <div key={sql}>
      <Text size="xs" c="dimmed">
        To repair: {summary}
        {drops ? ' (drops an object or may lose values)' : ''}
      </Text>
      <Code block tabIndex={0} aria-label={summary}>
        {visibleSql(sql)}
      </Code>
    </div>
  ));
}

function ObjectDrift({ found, onChanged }: { found: DriftObject; onChanged: () => void }) {
  const { object, kind, differences, repair } = found;
  const isAdmin = useRole() === 'admin';
  return (
    <li className={classes.difference}>
      <Text fw={600}>
        {objectText(object)}{' '}
        <Badge variant="default" tt="none" fw={500} size="sm">
          {kind}
        </Badge>
      </Text>
      <div className={classes.detail}>
        {differences.map(({ member, expected, found: actual }) => (
          <Text size="sm" key={member}>
            {member}: {abbreviate(valueText(expected), 400)} in the event log, {abbreviate(valueText(actual), 400)} in
            the database
          </Text>
        ))}
        <RepairStatements statements={repair.database} />
      </div>
      {isAdmin && <Accept name={objectText(object)} accepted={{ objects: [object] }} onChanged={onChanged} />}
    </li>
  );
}

interface AcceptProps {
  name: string;
  accepted: Parameters<typeof acceptDrift>[0];
  onChanged: () => void;
}

function Accept({ name, accepted, onChanged }: AcceptProps) {
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => acceptDrift(accepted, reason),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      onChanged();
    },
  });
  return (
    <>
      <Group gap="sm" mt="sm" align="flex-end">
        <ReasonInput size="xs" flex={1} label={`Reason for accepting ${name}`} value={reason} onChange={setReason} />
        <ConfirmButton
          size="xs"
          label="Accept"
          sure="Yes, accept drift"
          about={name}
          disabled={lacksReason}
          loading={accept.isPending}
          onConfirm={() => accept.mutate()}
        />
      </Group>
      {accept.error !== null && <ProblemAlert error={accept.error} />}
    </>
  );
}

/** Shows the checks. Nothing is requested before the user presses a button. */
export function ChecksTab() {
  useTitle('Checks · Operations');
  return (
    <Stack gap="xl">
      <ScheduledFaults />
      <DoctorPart />
      <Checks />
      <DriftPart />
    </Stack>
  );
}

/** Shows what the scheduled comparisons of VERIFY_EVERY found. Renders nothing if they found no fault. */
function ScheduledFaults() {
  const { drift, verification } = useScheduledFaults(true);
  if (drift === null && verification === null) return null;
  return (
    <Caution title="Found by the scheduled comparison">
      {drift !== null && (
        <Text size="sm">
          The database differs from the event log, since <Time at={drift.occurred_at} />:{' '}
          <Name
            of={abbreviate([...drift.data.tables, ...(drift.data.objects ?? []).map(objectText)].join(', '), 400)}
          />
          . Check for drift below to see each difference.
        </Text>
      )}
      {verification !== null && (
        <Text size="sm">
          The verification fails, since <Time at={verification.occurred_at} />:{' '}
          {Object.entries(verification.data.faults)
            .map(([what, count]) => `${what.replaceAll('_', ' ')} ${count}`)
            .join(', ')}
          .
        </Text>
      )}
    </Caution>
  );
}

/* Two slow checks, run on request. */

/** Shows both checks. Each one may take longer the longer the log is. Its last result stays until it is run again. */
function Checks() {
  const chain = useMutation({ mutationFn: fetchChainCheck });
  const compared = useMutation({ mutationFn: fetchComparison });
  return (
    <>
      <Part
        title="Verification"
        about="The service recomputes the hash chain of the event log and reports the first position at which it is broken, and changes that the policy did not allow or that differ from the plan of their change request."
        action={<CheckButton label="Verify the event log" isAsking={chain.isPending} onAsk={() => chain.mutate()} />}
      >
        {chain.error !== null && <ProblemAlert error={chain.error} />}
        {chain.data && <Chain found={chain.data} />}
      </Part>
      <Part
        title="Compare projections"
        about="The service compares the state of the event log with the metadata rows and the PostgreSQL catalog."
        action={<CheckButton label="Compare" isAsking={compared.isPending} onAsk={() => compared.mutate()} />}
      >
        {compared.error !== null && <ProblemAlert error={compared.error} />}
        {compared.data && <Comparison found={compared.data} />}
      </Part>
    </>
  );
}

interface CheckButtonProps {
  label: string;
  isAsking: boolean;
  onAsk: () => void;
}

/**
 * The button of a check.
 * @param props.onAsk not called again while `isAsking` is true
 */
function CheckButton({ label, isAsking, onAsk }: CheckButtonProps) {
  return (
    <SteadyButton variant="default" size="xs" loading={isAsking} onClick={onAsk}>
      {label}
    </SteadyButton>
  );
}

function Chain({ found: { ok, checked, head, broken, disallowed, unprotected } }: { found: LogVerification }) {
  return (
    <div role="status">
      <State ok={ok}>{ok ? `${checked.toLocaleString(locale)} events verified` : 'Verification failed'}</State>
      {broken !== null && (
        <Text size="sm">
          Broken at event {broken.position}: {broken.reason}
        </Text>
      )}
      {disallowed.map(({ position, reason }) => (
        <Text size="sm" key={position}>
          Change at event {position} was not allowed: {reason}
        </Text>
      ))}
      {unprotected.map((each) => (
        <Text size="sm" key={each}>
          {each}
        </Text>
      ))}
      <Text size="sm" c="dimmed">
        Hash of the last event, {head.position}: <Code>{head.hash}</Code>
      </Text>
    </div>
  );
}

function Comparison({ found: { ok, position, differences } }: { found: Verification }) {
  return (
    <div role="status">
      <State ok={ok}>{ok ? `No differences at event ${position}` : counted(differences.length, 'difference')}</State>
      <ul className={classes.lines}>
        {differences.map(({ where, collection, field, member, expected, found }) => (
          <li key={JSON.stringify([where, collection, field, member])} className={classes.difference}>
            <Text size="sm" fw={550}>
              {[collection, field].filter((part) => part !== undefined).join('.')} in the {where}
            </Text>
            <Text size="sm">
              {member}: {abbreviate(valueText(expected), 120)} in the event log, {abbreviate(valueText(found), 120)}{' '}
              found
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
