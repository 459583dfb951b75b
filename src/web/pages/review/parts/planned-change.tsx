/**
 * Shows the effect of a change request on the current schema: deletions, findings, locks and SQL. Admins can start a
 * dry run.
 */
import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { abbreviate } from '../../../shared/text.js';
import { locationText } from '../../../../schema/model/location.js';
import { infoQuery } from '../../../service/queries.js';
import { rehearse } from '../../../service/review-queries.js';
import type { ChangeRequest, Finding, Plan } from '../../../service/types.js';
import { ServiceError } from '../../../service/send.js';
import { useMay } from '../../../service/session.js';
import { PermitPurge } from '../../../shared/change-request/later.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { Section } from '../../../shared/page.js';
import { SteadyButton } from '../../../shared/buttons.js';
import { Time } from '../../../shared/time.js';
import { applyingOf } from '../model/requested-diff.js';
import { sortByLevel } from '../model/plan.js';
import { FindingNote, LockNote, PlaceName, RiskSection, Statements, findingGroup } from './risks.js';
import classes from './parts.module.css';

type PlannedDetails = NonNullable<ChangeRequest['planned']>;

interface Props {
  request: ChangeRequest;
  planned: PlannedDetails;
}

export function PlannedChange({ request, planned }: Props) {
  const { loses, returns, findings, tables, statements, errors, policy } = planned;
  const mayCarryOut = useMay('carryOut');
  const sorted = useMemo(() => sortByLevel(findings), [findings]);
  return (
    <>
      <RiskSection title="Data loss" tone="bad" of={loses}>
        {({ kept, why_not: why, ...place }) => (
          <>
            <PlaceName>{locationText(place)}</PlaceName>
            <br />
            {kept
              ? 'The trash keeps it for a limited time.'
              : `Permanent: the trash does not keep it${why === null ? '' : `, because ${abbreviate(why, 600)}`}.`}
          </>
        )}
      </RiskSection>
      <RiskSection title="Restored from the trash" of={returns}>
        {({ kept_until: until, collection, field }) => (
          <>
            <PlaceName>{locationText({ collection, field })}</PlaceName>
            <br />
            {until === null ? 'The trash no longer has it.' : <Until at={until} />}
          </>
        )}
      </RiskSection>
      <RiskSection title="Findings" tone="warn" of={sorted} alike={findingGroup}>
        {(finding) => <JudgedFinding finding={finding} />}
      </RiskSection>
      <RiskSection title="Locks" of={tables}>
        {(table) => <LockNote table={table} />}
      </RiskSection>
      {errors === null && policy === null && (
        <Section title="SQL">
          {request.online && (
            <Text size="sm">Online: the service prepares long operations first and keeps the tables available.</Text>
          )}
          <Sql statements={statements} tables={tables} />
          {mayCarryOut && request.allowed.includes('apply') && <DryRun request={request} />}
        </Section>
      )}
    </>
  );
}

const Until = ({ at }: { at: string }) => (
  <>
    With its data. The trash purges it <Time at={at} />.
  </>
);

const ACTIONS: Readonly<Record<string, string>> = {
  approve: 'The policy requires approval.',
  refuse: 'The policy rejects it.',
  acknowledge: 'The policy requires acknowledgement.',
};

function JudgedFinding({ finding }: { finding: Finding }) {
  const action = ACTIONS[finding.action ?? ''];
  return (
    <>
      <FindingNote finding={finding} />
      {action !== undefined && (
        <Text size="xs" fw={600} mt={4}>
          {action}
        </Text>
      )}
    </>
  );
}

/** Number of statements that are rendered at once. */
const SHOWN = 20;

function Sql({ statements, tables }: Pick<PlannedDetails, 'statements' | 'tables'>) {
  const [most, setMost] = useState(SHOWN);
  const byName = useMemo(() => new Map(tables.map((table) => [table.table, table])), [tables]);
  if (statements.length === 0) return <Text size="sm">It changes metadata only and runs no SQL.</Text>;
  const rest = statements.length - most;
  return (
    <>
      <Statements statements={statements.slice(0, most)} tables={byName} />
      {rest > 0 && (
        <Button variant="default" size="xs" mt="sm" onClick={() => setMost(most + SHOWN * 5)}>
          Show {Math.min(SHOWN * 5, rest)} of {rest.toLocaleString()} more statements
        </Button>
      )}
    </>
  );
}

/** Runs the change of the request against the current schema and rolls it back. */
function DryRun({ request }: { request: ChangeRequest }) {
  const client = useQueryClient();
  const rehearsal = useMutation({
    mutationFn: async () => {
      const { hash } = await client.fetchQuery({ ...infoQuery(), staleTime: 0 });
      const applying = applyingOf(request, hash);
      return applying === null ? null : rehearse(applying);
    },
  });
  if (applyingOf(request, '') === null) return null;
  const { data: plan, error, isPending, mutate, reset } = rehearsal;
  return (
    <div>
      <SteadyButton variant="default" size="xs" mt="sm" loading={isPending} onClick={() => mutate()}>
        Dry run
      </SteadyButton>
      <div role="status">{plan != null && <DryRunResult plan={plan} />}</div>
      {error !== null && <ProblemAlert error={error} />}
      {error instanceof ServiceError && <PermitPurge request={request} problems={error.problems} onPermitted={reset} />}
    </div>
  );
}

function DryRunResult({ plan: { accepted, errors = [], warnings } }: { plan: Plan }) {
  const lost = warnings.filter(({ code }) => code === 'DATA_NOT_KEPT');
  return (
    <>
      {accepted === true && <Text size="sm">The dry run succeeded. Nothing was changed.</Text>}
      {[...errors, ...lost].map(({ message }) => (
        <Bad key={message}>{message}</Bad>
      ))}
    </>
  );
}

const Bad = ({ children }: { children: ReactNode }) => (
  <Text size="sm" className={classes.badText}>
    {children}
  </Text>
);
