/** Proposes the review instead of applying it: as a new change request, or as an update of the user's own one. */
import { NativeSelect, Popover, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { UnreachableError } from '../../../service/errors.js';
import { ownRequestsQuery, propose, proposeInstead } from '../../../service/proposal-queries.js';
import { CHANGE, SCHEMA } from '../../../service/queries.js';
import type { ChangeSummary } from '../../../service/types.js';
import { useMay, useSession } from '../../../service/use-session.js';
import { brief } from '../../../shared/brief.js';
import { newId } from '../../../shared/new-id.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { SteadyButton } from '../../../shared/steady-button.js';
import { useHere } from '../../../shared/use-still-here.js';
import type { Review } from '../use-review.js';

interface ProposeProps {
  review: Review;
  isHeld: boolean;
}

/**
 * The main button for users who may not apply. Opens the change request.
 * @param props.isHeld whether nothing can be sent now
 */
export function Propose({ review, isHeld }: ProposeProps) {
  const isAll = !useMay('carryOut');
  // Acknowledgements are needed here; approvals are what the request is for.
  const isAsked = review.stops.some(({ canBeKnown, isKnown }) => canBeKnown && !isKnown);
  // State is here instead of in the popover, so that closing it keeps the input.
  const [typed, setTyped] = useState<Typed>({ title: '', into: '' });
  const proposing = useProposing(review);
  return (
    <Popover position="top-end" shadow="md" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <SteadyButton variant={isAll ? 'filled' : 'default'} disabled={isHeld || review.isPlanning || isAsked}>
          Propose
        </SteadyButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Propose a change request">
        <Form typed={typed} onType={setTyped} proposing={proposing} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface Typed {
  title: string;
  /** The request to update; empty for a new one. */
  into: string;
}

interface FormProps {
  typed: Typed;
  onType: (typed: Typed) => void;
  proposing: ReturnType<typeof useProposing>;
}

function Form({ typed, onType, proposing }: FormProps) {
  const own = useOwnRequests();
  const { title } = typed;
  const into = own.some(({ id }) => id === typed.into) ? typed.into : '';
  const isNew = into === '';
  return (
    <Stack gap="md">
      {own.length > 0 && (
        <NativeSelect
          label="Propose as"
          data={[
            { value: '', label: 'New change request' },
            ...own.map(({ id, title: called }) => ({ value: id, label: `Replace: ${brief(called ?? id, 80)}` })),
          ]}
          value={into}
          onChange={(event) => onType({ ...typed, into: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Title"
        description={
          isNew
            ? 'Nothing changes until the request is approved and applied.'
            : 'Leave empty to keep the title. Approvals of a different plan no longer count.'
        }
        maxLength={200}
        value={title}
        onChange={(event) => onType({ ...typed, title: event.currentTarget.value })}
      />
      <SteadyButton
        loading={proposing.isPending}
        disabled={isNew && title.trim() === ''}
        onClick={() => proposing.mutate({ title: title.trim(), into })}
      >
        {isNew ? 'Open a change request' : 'Update the change request'}
      </SteadyButton>
      {proposing.error !== null && <ProblemAlert error={proposing.error} />}
    </Stack>
  );
}

function useOwnRequests(): readonly ChangeSummary[] {
  const session = useSession();
  const id = 'user' in session ? session.user.id : '';
  return useQuery({ ...ownRequestsQuery(id), enabled: id !== '' }).data ?? [];
}

function useProposing({ applying, about, why, isReasonTyped, onProposed }: Review) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const isHere = useHere();
  const attempt = useRef<{ key: string; about: object; of: string } | null>(null);
  return useMutation({
    mutationFn: async ({ title, into }: Typed) => {
      const of = JSON.stringify([applying.acknowledge, why, title, into]);
      // Without a response, a retry with the same key takes effect once.
      const isSame = attempt.current?.about === about && attempt.current.of === of;
      if (attempt.current === null || !isSame) attempt.current = { key: newId(), about, of };
      const { key } = attempt.current;
      const { id } = await (into === ''
        ? propose(applying, { title, reason: why, key })
        : proposeInstead(into, applying, { title, reason: isReasonTyped ? why : undefined, key }));
      // Uses the sent content, because the shown one may have changed.
      return { id, onSent: onProposed };
    },
    onSuccess: async ({ id, onSent }) => {
      attempt.current = null;
      if (isHere()) await navigate({ to: '/review', search: { change: id } });
      onSent();
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
    onError: (error) => {
      if (!(error instanceof UnreachableError)) attempt.current = null;
    },
  });
}
