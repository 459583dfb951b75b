/** What people have said of a change request, what it would do now, and what can be done about it. */
import { Badge, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Act } from '../../service/proposal-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useMay, useSession } from '../../service/use-session.js';
import { Caution } from '../caution.js';
import { ConfirmButton } from '../confirm-button.js';
import { ProblemAlert } from '../problem-alert.js';
import { Section } from '../section.js';
import { SteadyButton } from '../steady-button.js';
import { Time } from '../time.js';
import { Later } from './later.js';
import { useAct } from './use-act.js';
import { placeText } from '../../../schema/model/place.js';

type Proposed = NonNullable<ChangeRequest['proposal']>;
type Said = Proposed['comments'][number];

/**
 * Nothing where it was not proposed. Who may approve, apply, schedule and comment sees that, as far as its state
 * allows.
 */
export function Proposal({ request }: { request: ChangeRequest }) {
  const { proposal, planned = null } = request;
  if (proposal === null) return null;
  return (
    <Stack gap="md">
      {planned !== null && <Planned planned={planned} />}
      <Judging request={request} />
      <Later request={request} />
      <Section title="Approvals">
        <Text size="sm" c="dimmed">
          {proposal.approvals_counted} of {proposal.approvals_needed}, where the policy asks for approval.
        </Text>
        {proposal.approvals.map((each) => (
          <SaidLine
            key={each.position}
            said={each}
            note={each.why_not === null ? null : `does not count: ${each.why_not}`}
          />
        ))}
        {proposal.rejection !== null && <SaidLine said={proposal.rejection} note="rejected it" />}
      </Section>
      <Comments request={request} comments={proposal.comments} />
    </Stack>
  );
}

function Planned({ planned: { fresh, errors, loses } }: { planned: NonNullable<ChangeRequest['planned']> }) {
  return (
    <>
      {!fresh && (
        <Caution title="It is stale: what it removes or changes is not what it was">
          <Text size="sm">
            {errors?.[0]?.message ?? 'It can be brought up to the schema as it is now, or proposed again.'}
          </Text>
        </Caution>
      )}
      {loses.map(({ kept, ...lost }) => (
        <Text size="sm" key={placeText(lost)}>
          Loses {placeText(lost)}, {kept ? 'which the trash keeps for a while.' : 'for good.'}
        </Text>
      ))}
    </>
  );
}

/** For admins, as its state allows. */
function Judging({ request }: { request: ChangeRequest }) {
  const { id, plan, planned, allowed, collections } = request;
  const isAwaited = useAwaited(request);
  const mayCarryOut = useMay('carryOut');
  const doing = useAct(id);
  const may = (action: Act['action']): boolean => mayCarryOut && allowed.includes(action);
  const isFresh = planned?.fresh === true;
  const names = collections.join(', ');
  return (
    <>
      <Group gap="sm">
        {may('approve') && (
          <Approve plan={plan} isFresh={isFresh} doing={doing} variant={isAwaited ? 'filled' : 'default'} />
        )}
        {may('reject') && (
          <ConfirmButton
            label="Reject"
            sure="Yes, reject it"
            about={names}
            loading={doing.isPending}
            onConfirm={() => doing.mutate({ action: 'reject', json: {} })}
          />
        )}
        {may('apply') && (
          <ConfirmButton
            {...(!isAwaited && { variant: 'filled' })}
            label="Apply"
            sure={planned?.loses.length === 0 ? null : 'Yes, apply it'}
            about={names}
            disabled={!isFresh}
            loading={doing.isPending}
            onConfirm={() => doing.mutate({ action: 'apply' })}
          />
        )}
      </Group>
      {doing.error !== null && <ProblemAlert error={doing.error} />}
    </>
  );
}

interface ApproveProps {
  plan: ChangeRequest['plan'];
  isFresh: boolean;
  doing: ReturnType<typeof useAct>;
  variant: 'filled' | 'default';
}

function Approve({ plan, isFresh, doing, variant }: ApproveProps) {
  if (plan === null) return null;
  return (
    <SteadyButton
      variant={variant}
      disabled={!isFresh}
      loading={doing.isPending}
      onClick={() => doing.mutate({ action: 'approve', json: { plan } })}
    >
      Approve
    </SteadyButton>
  );
}

/** Whether the approval of the one who looks at it would count, and isn't given yet. */
function useAwaited({ plan, proposal, allowed }: ChangeRequest): boolean {
  const session = useSession();
  const mayCarryOut = useMay('carryOut');
  if (!mayCarryOut || !('user' in session) || proposal === null || !allowed.includes('approve')) return false;
  const { id } = session.user;
  const isGiven = proposal.approvals.some((each) => each.by.id === id && each.plan === plan);
  return !isGiven && (proposal.author_may_approve || !proposal.authors.some((author) => author.id === id));
}

function Comments({ request: { id, allowed }, comments }: { request: ChangeRequest; comments: readonly Said[] }) {
  const [text, setText] = useState('');
  const doing = useAct(id);
  const mayComment = useMay('propose') && allowed.includes('comment');
  // What is typed meanwhile is the next one.
  const said = () => setText((now) => (now === text ? '' : now));
  const say = () => doing.mutate({ action: 'comment', json: { comment: text } }, { onSuccess: said });
  return (
    <Section title="Comments">
      {comments.map((each) => (
        <SaidLine key={each.position} said={each} note={null} />
      ))}
      {comments.length === 0 && <Text size="sm">Nobody has said anything yet.</Text>}
      {mayComment && (
        <Group align="flex-end" gap="sm" mt="sm">
          <Textarea
            label="Comment"
            autosize
            minRows={1}
            maxLength={10_000}
            style={{ flexGrow: 1 }}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <SteadyButton variant="default" disabled={text.trim() === ''} loading={doing.isPending} onClick={say}>
            Say it
          </SteadyButton>
        </Group>
      )}
      {doing.error !== null && <ProblemAlert error={doing.error} />}
    </Section>
  );
}

function SaidLine({ said: { by, at, text }, note }: { said: Said; note: string | null }) {
  return (
    <div>
      <Group gap="xs" mt="xs">
        <Text size="sm" fw={550}>
          {by.name}
        </Text>
        <Text size="xs" c="dimmed">
          <Time at={at} />
        </Text>
        {note !== null && (
          <Badge variant="light" color="gray" tt="none">
            {note}
          </Badge>
        )}
      </Group>
      {text !== null && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
    </div>
  );
}
