/** A purge is permanent, so the user must type the name. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { SCHEMA } from '../../service/queries.js';
import { purge } from '../../service/trash-queries.js';
import type { TrashEntry } from '../../service/types.js';
import { counted } from '../../shared/amounts.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { ReasonInput } from '../../shared/reason-input.js';
import { nameOf } from './trash-name.js';
import { SteadyButton } from '../../shared/steady-button.js';

/** Closes when it is done; shows errors. */
export function PurgeDialog({ entry, onClose }: { entry: TrashEntry; onClose: () => void }) {
  const name = nameOf(entry);
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const done = useMutation({
    mutationFn: () => purge(entry.position, reason),
    onSuccess: () => client.invalidateQueries({ queryKey: [SCHEMA] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Only if the dialog is still open.
    done.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={`Purge ${name}`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            {entry.rows === null ? 'Its rows' : counted(entry.rows, 'row')} will be permanently deleted. Only a backup
            can restore the data. The event log records who purged it and when.
          </Text>
          <TextInput
            label={
              <>
                Type <bdi>{name}</bdi> to confirm
              </>
            }
            autoComplete="off"
            data-autofocus
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <ReasonInput value={reason} onChange={setReason} />
          {done.error !== null && <ProblemAlert error={done.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {' '}
              Cancel{' '}
            </Button>
            <SteadyButton type="submit" color="red.8" disabled={typed !== name} loading={done.isPending}>
              Delete permanently
            </SteadyButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
