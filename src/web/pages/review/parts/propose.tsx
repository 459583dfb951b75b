/** Proposing what is reviewed, in place of applying it. */
import { Popover, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { propose } from '../../../service/proposal-queries.js';
import { SCHEMA } from '../../../service/queries.js';
import { newId } from '../sources/files.js';
import { ProblemAlert } from '../../../shared/problem-alert.js';
import { SteadyButton } from '../../../shared/steady-button.js';
import { useHere } from '../../../shared/use-here.js';
import type { Review } from '../use-review.js';

export function Propose({ review: { applying, why }, isHeld }: { review: Review; isHeld: boolean }) {
  const [title, setTitle] = useState('');
  const navigate = useNavigate();
  const client = useQueryClient();
  const isHere = useHere();
  const proposing = useMutation({
    mutationFn: () => propose(applying, { title, reason: why, key: newId() }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      if (isHere()) await navigate({ to: '/review', search: { change: id } });
    },
  });
  return (
    <Popover position="top-end" shadow="md" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <SteadyButton variant="default" disabled={isHeld}>
          Propose
        </SteadyButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Propose it">
        <Stack gap="md">
          <TextInput
            label="What it is called"
            description="Nothing is changed: people look at it, approve it and apply it."
            maxLength={200}
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <SteadyButton loading={proposing.isPending} disabled={title.trim() === ''} onClick={() => proposing.mutate()}>
            Open a change request
          </SteadyButton>
          {proposing.error !== null && <ProblemAlert error={proposing.error} />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
