import { Button, Group, Stack, TextInput, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { rename } from '../../service/change-queries.js';
import { CHANGE, SCHEMA } from '../../service/queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useMayRevise } from '../../service/session.js';
import { ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../buttons.js';
import { SwappedForm } from '../form.js';

/** Renders nothing unless the user may change it and its state allows that. */
export function Naming({ request }: { request: ChangeRequest }) {
  const mayRevise = useMayRevise(request);
  if (!mayRevise || request.proposal === null || !request.allowed.includes('update')) return null;
  return (
    <SwappedForm
      button={(place, open) => (
        <Button ref={place} variant="default" size="xs" w="fit-content" onClick={open}>
          Edit title and reason
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
        label="Title"
        maxLength={200}
        readOnly={renaming.isPending}
        value={typed.title}
        onChange={(event) => setTyped({ ...typed, title: event.currentTarget.value })}
      />
      <Textarea
        label="Reason"
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
          Save
        </SteadyButton>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </Group>
      {renaming.error !== null && <ProblemAlert error={renaming.error} />}
    </Stack>
  );
}
