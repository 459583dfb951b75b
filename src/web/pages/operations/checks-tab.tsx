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
import { abbreviate, visibleSql } from '../../shared/text.js';
import { CopyButton, ConfirmButton, SteadyButton } from '../../shared/buttons.js';
import { Caution, ReasonInput, useLacksReason } from '../../shared/form.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { messages } from './messages.js';
import { Part, State } from './page.js';
import classes from './page.module.css';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import { Name } from '../../shared/name.js';
import { Time } from '../../shared/time.js';
import { objectTitle, valueText } from '../../shared/changes/sentences.js';

/**
 * Runs the checks of the doctor when the user presses the button. Shows findings first, then all checks with their
 * results.
 */
export function DoctorPart() {
  const doctor = useMutation({ mutationFn: fetchExamination });
  return (
    <Part
      title={messages.doctor.title}
      about={messages.doctor.about}
      action={<CheckButton label={messages.doctor.run} isAsking={doctor.isPending} onAsk={() => doctor.mutate()} />}
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
  const texts = messages.doctor;
  const findings = checks.flatMap((check) => check.findings);
  return (
    <div role="status">
      <State ok={ok}>{findings.length === 0 ? texts.noFindings(checks.length) : texts.findings(findings.length)}</State>
      {findings.map(({ code, severity, message, fix }) => (
        <div key={`${code} ${message}`} className={classes.finding} data-severity={severity}>
          <Group gap="xs">
            <Badge size="sm" variant="light" color={LOOKS[severity].color} className={classes.severity}>
              {texts.severities[severity]}
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
            <CopyButton text={fix} label={texts.copyFix(code)} />
          </Group>
        </div>
      ))}
      <ul className={classes.looked} aria-label={texts.checks}>
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
      <VisuallyHidden component="span">: {messages.doctor.severities[result]}</VisuallyHidden>
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
      title={messages.drift.title}
      about={messages.drift.about}
      action={<CheckButton label={messages.drift.check} isAsking={drift.isFetching} onAsk={() => void look()} />}
    >
      {drift.error !== null && <ProblemAlert error={drift.error} />}
      {drift.data && <DriftReport drift={drift.data} onChanged={() => void look()} />}
    </Part>
  );
}

function DriftReport({ drift, onChanged }: { drift: Drift; onChanged: () => void }) {
  const { ok, tables, unmanaged, objects = [], unmanaged_objects = [] } = drift;
  const names = [...unmanaged, ...unmanaged_objects.map(objectTitle)];
  const { unmanagedTables, unmanagedObjects } = messages.drift;
  const unmanagedText = unmanaged_objects.length > 0 ? unmanagedObjects : unmanagedTables;
  const isAdmin = useRole() === 'admin';
  return (
    <div role="status">
      <State ok={ok}>{ok ? messages.drift.none : messages.drift.differing(tables.length, objects.length)}</State>
      <ul className={classes.lines}>
        {tables.map((table) => (
          <TableDrift key={table.table} table={table} onChanged={onChanged} />
        ))}
        {objects.map((each) => (
          <ObjectDrift key={objectTitle(each.object)} found={each} onChanged={onChanged} />
        ))}
      </ul>
      {!ok && isAdmin && <RepairAllTables onChanged={onChanged} />}
      {names.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {unmanagedText(abbreviate(names.join(', '), 400))}
        </Text>
      )}
    </div>
  );
}

type DriftObject = NonNullable<Drift['objects']>[number];

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
          {messages.drift.repairHint}
        </Text>
        <ConfirmButton
          size="xs"
          label={messages.drift.repair}
          sure={messages.drift.confirmRepair}
          loading={make.isPending}
          onConfirm={() => make.mutate()}
        />
      </Group>
      {make.error !== null && <ProblemAlert error={make.error} />}
      {make.data && (
        <Text size="sm" mt="xs">
          {messages.drift.repaired(made.length, left.length)}
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

type Difference = DriftObject['differences'][number];

const differenceText = ({ member, expected, found }: Difference, length: number): string =>
  messages.drift.difference(member, abbreviate(valueText(expected), length), abbreviate(valueText(found), length));

function TableDrift({ table, onChanged }: { table: DriftTable; onChanged: () => void }) {
  const isAdmin = useRole() === 'admin';
  return (
    <li className={classes.difference}>
      <Text fw={600}>
        {table.table}{' '}
        <Badge variant="default" tt="none" fw={500} size="sm">
          {messages.drift.kinds[table.kind]}
        </Badge>
      </Text>
      {table.differences.map(({ field, member, expected, found, repair }) => (
        <div key={JSON.stringify([field, member])} className={classes.detail}>
          <Text size="sm">
            {field === undefined ? '' : `${field}, `}
            {differenceText({ member, expected, found }, 120)}
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
        {drops ? messages.drift.toRepairAndLose(summary) : messages.drift.toRepair(summary)}
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
        {objectTitle(object)}{' '}
        <Badge variant="default" tt="none" fw={500} size="sm">
          {messages.drift.kinds[kind]}
        </Badge>
      </Text>
      <div className={classes.detail}>
        {differences.map(({ member, expected, found: actual }) => (
          <Text size="sm" key={member}>
            {differenceText({ member, expected, found: actual }, 400)}
          </Text>
        ))}
        <RepairStatements statements={repair.database} />
      </div>
      {isAdmin && <Accept name={objectTitle(object)} accepted={{ objects: [object] }} onChanged={onChanged} />}
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
        <ReasonInput size="xs" flex={1} label={messages.drift.reasonFor(name)} value={reason} onChange={setReason} />
        <ConfirmButton
          size="xs"
          label={messages.drift.accept}
          sure={messages.drift.confirmAccept}
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
  useTitle(messages.titleOf(messages.tabs.checks));
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
    <Caution title={messages.scheduled.title}>
      {drift !== null && (
        <Text size="sm">
          {messages.scheduled.drift(
            <Time at={drift.occurred_at} />,
            <Name
              of={abbreviate([...drift.data.tables, ...(drift.data.objects ?? []).map(objectTitle)].join(', '), 400)}
            />,
          )}
        </Text>
      )}
      {verification !== null && (
        <Text size="sm">
          {messages.scheduled.verification(
            <Time at={verification.occurred_at} />,
            Object.entries(verification.data.faults)
              .map(([what, count]) => `${what.replaceAll('_', ' ')} ${count}`)
              .join(', '),
          )}
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
        title={messages.verification.title}
        about={messages.verification.about}
        action={
          <CheckButton label={messages.verification.verify} isAsking={chain.isPending} onAsk={() => chain.mutate()} />
        }
      >
        {chain.error !== null && <ProblemAlert error={chain.error} />}
        {chain.data && <Chain found={chain.data} />}
      </Part>
      <Part
        title={messages.comparison.title}
        about={messages.comparison.about}
        action={
          <CheckButton
            label={messages.comparison.compare}
            isAsking={compared.isPending}
            onAsk={() => compared.mutate()}
          />
        }
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
  const texts = messages.verification;
  return (
    <div role="status">
      <State ok={ok}>{ok ? texts.verified(checked) : texts.failed}</State>
      {broken !== null && <Text size="sm">{texts.broken(broken.position, broken.reason)}</Text>}
      {disallowed.map(({ position, reason }) => (
        <Text size="sm" key={position}>
          {texts.disallowed(position, reason)}
        </Text>
      ))}
      {unprotected.map((each) => (
        <Text size="sm" key={each}>
          {each}
        </Text>
      ))}
      <Text size="sm" c="dimmed">
        {texts.head(head.position, <Code>{head.hash}</Code>)}
      </Text>
    </div>
  );
}

function Comparison({ found: { ok, position, differences } }: { found: Verification }) {
  const texts = messages.comparison;
  return (
    <div role="status">
      <State ok={ok}>{ok ? texts.none(position) : texts.differences(differences.length)}</State>
      <ul className={classes.lines}>
        {differences.map(({ where, collection, field, member, expected, found }) => (
          <li key={JSON.stringify([where, collection, field, member])} className={classes.difference}>
            <Text size="sm" fw={550}>
              {texts.location([collection, field].filter((part) => part !== undefined).join('.'), where)}
            </Text>
            <Text size="sm">
              {texts.difference(member, abbreviate(valueText(expected), 120), abbreviate(valueText(found), 120))}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
