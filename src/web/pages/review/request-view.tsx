/** The page of a change request. It shows the same parts as the review of a draft, and the actions of reviewers. */
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, type ReactNode, useState } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { infoQuery } from '../../service/queries.js';
import { changeQuery, rehearse } from '../../service/review-queries.js';
import { ServiceError } from '../../service/send.js';
import { useMay } from '../../service/session.js';
import type { ChangeRequest, Finding, Plan } from '../../service/types.js';
import { SteadyButton } from '../../shared/buttons.js';
import { ChangeComments } from '../../shared/change-request/comments.js';
import { Revert, PermitPurge } from '../../shared/change-request/later.js';
import { Naming, Proposal, ReviewActions } from '../../shared/change-request/proposal.js';
import { Progress, STATES, Withdraw } from '../../shared/change-request/progress.js';
import { Page, useTitle, Section } from '../../shared/page.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { abbreviate } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { placeOf } from './model/items.js';
import { otherFindings, requestedLosses } from './model/plan.js';
import { shownChangeOf, applyingOf, requestedPolicy, type ShownChange, stopsOf } from './model/requested-diff.js';
import { Counts, ChangeRows } from './parts/changes-pane.js';
import partClasses from './parts/parts.module.css';
import { FindingNote, ProposedPolicy, RiskSections, Statements } from './parts/risks.js';
import classes from './review.module.css';
import { messages } from './messages.js';

const { request: texts } = messages;

/**
 * Shows a change request, and refetches it while it is open. If the service does not respond, the last progress stays
 * with a message.
 */
export function RequestView({ id }: { id: string }) {
  useTitle(messages.titleOf(texts.title));
  const query = useQuery(changeQuery(id));
  return (
    <Page>
      <QueryResult query={query} label={texts.loading}>
        {(request) => <Request request={request} isLost={query.error !== null} />}
      </QueryResult>
    </Page>
  );
}

function Request({ request, isLost }: { request: ChangeRequest; isLost: boolean }) {
  const { state, title, author, reason, opened_at: at, collections, result } = request;
  const { color, label, words } = STATES[state];
  const mayReadHistory = useMay('readHistory');
  const { document, online } = request;
  const change = useMemo(() => shownChangeOf({ document, online, reason }), [document, online, reason]);
  return (
    <Stack gap="md">
      <div>
        <Group gap="sm">
          <Title order={1} size="h3">
            {title === null ? texts.titleOf(abbreviate(collections.join(', '), 120)) : abbreviate(title, 200)}
          </Title>
          <Badge color={color} variant="light" className={classes.state} role="status">
            {label}
          </Badge>
          {change !== null && <Counts items={change.items} />}
        </Group>
        <Text mt={4}>{texts.state(words)}</Text>
        <Text size="sm" c="dimmed">
          {actorName(author)}, <Time at={at} />
          {reason !== null && `: ${abbreviate(reason, 300)}`}
        </Text>
        {isLost && <Text size="sm">{texts.lost}</Text>}
      </div>
      <Naming request={request} />
      <Progress request={request} />
      <RequestedChange request={request} change={change} />
      <Proposal request={request} />
      <Group gap="sm">
        {result !== null && mayReadHistory && (
          <Button renderRoot={(props) => <Link {...props} to="/review" search={{ done: result.batch }} />}>
            {texts.showApplied}
          </Button>
        )}
        <Revert request={request} />
        <Withdraw request={request} />
      </Group>
      <ReviewActions request={request} />
    </Stack>
  );
}

/*
 * Shows a change request like a review: data loss, findings, locks, each change with its SQL, and the whole SQL. Admins
 * can start a dry run.
 */

type PlannedDetails = NonNullable<ChangeRequest['planned']>;

interface Props {
  request: ChangeRequest;
  /** Null if the request changes no schema, or if its document was erased. */
  change: ShownChange | null;
}

function RequestedChange({ request, change }: Props) {
  const { planned = null } = request;
  const changes = <RequestedParts request={request} change={change} />;
  if (planned === null) return changes;
  return (
    <>
      <RequestedRisks planned={planned} />
      {changes}
      {hasSchemaPlan(planned) && <PlannedSql request={request} planned={planned} />}
    </>
  );
}

function RequestedParts({ request, change }: Props) {
  const { planned } = request;
  const policy = requestedPolicy(request);
  if (policy !== null) return <ProposedPolicy from={planned?.policy?.from ?? null} to={policy} />;
  if (change === null) return null;
  return (
    <Section title={messages.changes}>
      <ChangeRows review={change} plan={planned ?? undefined}>
        {(item) => <ChangeComments request={request} place={placeOf(item)} />}
      </ChangeRows>
    </Section>
  );
}

/** True if the request still fits the schema and changes it. */
const hasSchemaPlan = ({ errors, policy }: PlannedDetails): boolean => errors === null && policy === null;

function RequestedRisks({ planned }: { planned: PlannedDetails }) {
  const { loses, returns, findings, tables } = planned;
  const losses = useMemo(() => requestedLosses(loses), [loses]);
  const sorted = useMemo(() => judgedFirst(findings), [findings]);
  return (
    <RiskSections
      isSafe={hasSchemaPlan(planned) && losses.length + sorted.length === 0}
      losses={losses}
      returns={returns}
      findings={sorted}
      tables={tables}
    >
      {(finding) => <JudgedFinding finding={finding} />}
    </RiskSections>
  );
}

/** Returns the findings for which the policy requires something, and then the others. */
function judgedFirst(findings: readonly Finding[]): Finding[] {
  const judged = stopsOf(findings, NOTHING).map(({ finding }) => finding);
  return [...judged, ...otherFindings(findings.filter(({ action }) => ACTIONS[action ?? ''] === undefined))];
}

const NOTHING: ReadonlySet<string> = new Set();

const ACTIONS: Readonly<Record<string, string>> = texts.actions;

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

function PlannedSql({ request, planned }: { request: ChangeRequest; planned: PlannedDetails }) {
  const mayCarryOut = useMay('carryOut');
  return (
    <Section title="SQL">
      {request.online && <Text size="sm">{texts.online}</Text>}
      <Sql statements={planned.statements} tables={planned.tables} />
      {mayCarryOut && request.allowed.includes('apply') && <DryRun request={request} />}
    </Section>
  );
}

/** Number of statements that are rendered at once. */
const SHOWN = 20;

function Sql({ statements, tables }: Pick<PlannedDetails, 'statements' | 'tables'>) {
  const [most, setMost] = useState(SHOWN);
  const byName = useMemo(() => new Map(tables.map((table) => [table.table, table])), [tables]);
  if (statements.length === 0) return <Text size="sm">{texts.noSql}</Text>;
  const rest = statements.length - most;
  return (
    <>
      <Statements statements={statements.slice(0, most)} tables={byName} />
      {rest > 0 && (
        <Button variant="default" size="xs" mt="sm" onClick={() => setMost(most + SHOWN * 5)}>
          {texts.moreStatements(Math.min(SHOWN * 5, rest), rest)}
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
        {messages.dryRun}
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
      {accepted === true && <Text size="sm">{messages.dryRunSucceeded}</Text>}
      {[...errors, ...lost].map(({ message }) => (
        <Bad key={message}>{message}</Bad>
      ))}
    </>
  );
}

const Bad = ({ children }: { children: ReactNode }) => (
  <Text size="sm" className={partClasses.badText}>
    {children}
  </Text>
);
