import { Group, Stack, Text, Button, TextInput, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { type RequestAction, rename } from '../../service/change-queries.js';
import { CHANGE, SCHEMA } from '../../service/queries.js';
import { ServiceError } from '../../service/send.js';
import { useMay, useSession, useMayRevise } from '../../service/session.js';
import type { ChangeRequest } from '../../service/types.js';
import { ConfirmButton, SteadyButton } from '../buttons.js';
import { Caution, useLacksReason, SwappedForm } from '../form.js';
import { Section } from '../page.js';
import { OwnPasswordForm } from '../password.js';
import { ProblemAlert } from '../problem-alert.js';
import { abbreviate } from '../text.js';
import { Comments, RemarkLine } from './comments.js';
import { ActError, Later, useAct } from './later.js';
import { messages } from '../messages.js';
import classes from './progress.module.css';

const words = messages.changeRequest;

type ProposalDetails = NonNullable<ChangeRequest['proposal']>;
type Approval = ProposalDetails['approvals'][number];

/** Renders nothing for requests without a proposal. */
export function Proposal({ request }: { request: ChangeRequest }) {
  const { proposal, planned = null } = request;
  if (proposal === null) return null;
  return (
    <Stack gap="md">
      {planned?.fresh === false && <StaleNotice planned={planned} />}
      <Later request={request} />
      <Approvals proposal={proposal} planned={planned} />
      <Comments request={request} comments={proposal.comments} />
    </Stack>
  );
}

function StaleNotice({ planned: { errors } }: { planned: NonNullable<ChangeRequest['planned']> }) {
  return (
    <Caution title={words.stale}>
      <Text size="sm">{errors?.[0]?.message ?? words.rebaseOrRepeat}</Text>
    </Caution>
  );
}

/** Returns a text with the number of approvals, and with the requirement of the current policy if there is a plan. */
function approvalText({ proposal, planned = null }: Pick<ChangeRequest, 'proposal' | 'planned'>): string {
  const { approvals_counted: counted = 0, approvals_needed: needed = 0 } = proposal ?? {};
  if (planned === null) return words.approvalCount(counted, needed);
  const isRequired = planned.findings.some(({ action }) => action === 'approve');
  return isRequired ? words.approvalsRequired(counted, needed) : words.noApprovalRequired(counted);
}

interface ApprovalsProps {
  proposal: ProposalDetails;
  planned: ChangeRequest['planned'];
}

function Approvals({ proposal, planned }: ApprovalsProps) {
  const { authors, author_may_approve: mayApprove, approvals, rejection } = proposal;
  return (
    <Section title={words.approvals}>
      <Text size="sm" c="dimmed">
        {approvalText({ proposal, planned })}
      </Text>
      <Text size="sm" c="dimmed">
        {words.authors(authors.length, authors.map((author) => abbreviate(actorName(author), 60)).join(', '))}
        {!mayApprove && ` ${words.authorsDoNotCount}`}
      </Text>
      {approvals.map((each) => (
        <ApprovalLine key={each.position} approval={each} describedAt={proposal.described_at} />
      ))}
      {rejection !== null && <RemarkLine remark={rejection} note={words.rejected} />}
    </Section>
  );
}

function ApprovalLine({ approval, describedAt }: { approval: Approval; describedAt: string | null }) {
  const note = approval.counts ? words.counts : describeInvalidApproval(approval);
  const isDescribedSince = describedAt !== null && Date.parse(describedAt) > Date.parse(approval.at);
  return (
    <>
      <RemarkLine remark={approval} note={note} detail={words.credentials[approval.credential]} />
      {isDescribedSince && <Text size="sm">{words.describedSince}</Text>}
    </>
  );
}

const describeInvalidApproval = ({ why_not: why, online }: Approval): string =>
  words.doesNotCount[why === 'another way' && online ? 'online' : (why ?? 'unknown')];

/** The service rejects approvals by a password that another user set. A form follows to choose another one. */
function OwnPassword({ request, doing }: { request: ChangeRequest; doing: ReturnType<typeof useAct> }) {
  const session = useSession();
  const mayCount = useMayCount(request);
  const { error, variables } = doing;
  const isRejected =
    mayCount && error instanceof ServiceError && error.status === 403 && variables?.action === 'approve';
  const [isChosen, setChosen] = useState(false);
  if (isChosen && doing.isIdle) return <Text size="sm">{words.passwordChanged}</Text>;
  if (!isRejected || !('user' in session) || session.by !== 'cookie') return null;
  const onChosen = () => {
    setChosen(true);
    doing.reset();
  };
  return <OwnPasswordForm user={session.user} hint={words.ownPassword} onChanged={onChosen} />;
}

/**
 * Shown to admins at the bottom of the window, if the state of the request allows the actions. Place it at the end of
 * the page, where it stays in view while the user scrolls.
 */
export function ReviewActions({ request }: { request: ChangeRequest }) {
  const doing = useAct(request.id);
  const mayCarryOut = useMay('carryOut');
  const isOffered = mayCarryOut && DECISIONS.some((action) => request.allowed.includes(action));
  if (request.proposal === null) return null;
  return (
    <>
      <OwnPassword request={request} doing={doing} />
      {(isOffered || doing.error !== null) && (
        <section className={classes.decision} aria-label={words.decision}>
          <ActError request={request} doing={doing} />
          {isOffered && <DecisionButtons request={request} doing={doing} />}
        </section>
      )}
    </>
  );
}

const DECISIONS = ['approve', 'reject', 'apply'] as const;

function DecisionButtons({ request, doing }: { request: ChangeRequest; doing: ReturnType<typeof useAct> }) {
  const { plan, planned, allowed, collections } = request;
  const isAwaited = useAwaited(request);
  const may = (action: RequestAction['action']): boolean => allowed.includes(action);
  return (
    <>
      <Text size="sm" className={classes.approvals}>
        {approvalText(request)}
      </Text>
      <Group gap="sm">
        {may('approve') && (
          <Approve plan={plan} planned={planned} doing={doing} variant={isAwaited ? 'filled' : 'default'} />
        )}
        {may('reject') && (
          <ConfirmButton
            label={words.reject}
            sure={words.confirmReject}
            about={collections.join(', ')}
            loading={doing.isPending}
            onConfirm={() => doing.mutate({ action: 'reject', json: {} })}
          />
        )}
        {may('apply') && <Apply request={request} doing={doing} isMain={!isAwaited} />}
      </Group>
    </>
  );
}

interface ApproveProps {
  plan: ChangeRequest['plan'];
  planned: ChangeRequest['planned'];
  doing: ReturnType<typeof useAct>;
  variant: 'filled' | 'default';
}

function Approve({ plan, planned, doing, variant }: ApproveProps) {
  const view = planned?.fresh === true ? planned.view : null;
  if (plan === null) return null;
  return (
    <SteadyButton
      variant={variant}
      disabled={view === null}
      loading={doing.isPending}
      onClick={() => view !== null && doing.mutate({ action: 'approve', json: { plan, view } })}
    >
      {words.approve}
    </SteadyButton>
  );
}

interface ApplyProps {
  request: ChangeRequest;
  doing: ReturnType<typeof useAct>;
  isMain: boolean;
}

function Apply({ request: { planned, collections, reason }, doing, isMain }: ApplyProps) {
  const lacksReason = useLacksReason(reason);
  return (
    <>
      <ConfirmButton
        {...looksOf(planned, isMain)}
        sure={planned?.loses.length === 0 ? null : words.confirmApply}
        about={collections.join(', ')}
        disabled={planned?.fresh !== true || lacksReason}
        loading={doing.isPending}
        onConfirm={() => doing.mutate({ action: 'apply' })}
      />
      {lacksReason && <Text size="sm">{words.reasonRequired}</Text>}
    </>
  );
}

/** A button that deletes is red, and names the number of collections. */
function looksOf(planned: ApplyProps['request']['planned'], isMain: boolean) {
  const loses = planned?.loses ?? [];
  const deleted = loses.filter(({ field }) => field === null).length;
  return {
    label: deleted === 0 ? words.apply : words.applyDeleting(deleted),
    ...(isMain && { variant: 'filled' }),
    ...(isMain && loses.length > 0 && { color: 'red.8' }),
  };
}

/** True if an approval by the signed-in user would count. */
function useMayCount({ proposal }: ChangeRequest): boolean {
  const session = useSession();
  const mayCarryOut = useMay('carryOut');
  if (!mayCarryOut || !('user' in session) || proposal === null) return false;
  const { id } = session.user;
  return proposal.author_may_approve || !proposal.authors.some((author) => author.id === id);
}

/** True if an approval by the user would count and is still missing. */
function useAwaited(request: ChangeRequest): boolean {
  const session = useSession();
  const mayCount = useMayCount(request);
  const { plan, proposal, allowed } = request;
  if (!mayCount || !('user' in session) || !allowed.includes('approve')) return false;
  const { id } = session.user;
  return proposal?.approvals.some((each) => each.by.id === id && each.plan === plan) === false;
}

/** Renders nothing unless the user may change it and its state allows that. */
export function Naming({ request }: { request: ChangeRequest }) {
  const mayRevise = useMayRevise(request);
  if (!mayRevise || request.proposal === null || !request.allowed.includes('update')) return null;
  return (
    <SwappedForm
      button={(place, open) => (
        <Button ref={place} variant="default" size="xs" w="fit-content" onClick={open}>
          {words.editTitle}
        </Button>
      )}
      form={(close) => <Form request={request} onClose={close} />}
    />
  );
}

function Form({ request: { id, title, reason }, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState({ title: title ?? '', reason: reason ?? '' });
  const renaming = useMutation({
    mutationFn: () =>
      rename(id, { title: typed.title.trim(), reason: typed.reason.trim() === '' ? null : typed.reason }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
  });
  return (
    <Stack gap="sm">
      <TextInput
        label={words.title}
        maxLength={200}
        readOnly={renaming.isPending}
        value={typed.title}
        onChange={(event) => setTyped({ ...typed, title: event.currentTarget.value })}
      />
      <Textarea
        label={words.reason}
        autosize
        minRows={1}
        maxLength={1_000}
        readOnly={renaming.isPending}
        value={typed.reason}
        onChange={(event) => setTyped({ ...typed, reason: event.currentTarget.value })}
      />
      <Group gap="sm">
        <SteadyButton
          loading={renaming.isPending}
          disabled={typed.title.trim() === ''}
          // Closes only this form, and not one that was opened in the meantime.
          onClick={() => renaming.mutate(undefined, { onSuccess: onClose })}
        >
          {words.save}
        </SteadyButton>
        <Button variant="default" onClick={onClose}>
          {words.cancel}
        </Button>
      </Group>
      {renaming.error !== null && <ProblemAlert error={renaming.error} />}
    </Stack>
  );
}
