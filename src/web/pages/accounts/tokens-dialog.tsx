import { Code, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ACCOUNTS, createToken, removeToken, tokensQuery } from '../../service/account-queries.js';
import type { Token, User } from '../../service/types.js';
import { Answered } from '../../shared/answered.js';
import { ConfirmButton } from '../../shared/confirm-button.js';
import { CopyButton } from '../../shared/copy-button.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { SteadyButton } from '../../shared/steady-button.js';
import classes from './page.module.css';

const DAY = 24 * 60 * 60 * 1000;

const LASTS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
];

/** Lists names and expiry of tokens, never their values. Only its button and Escape close it. */
export function TokensDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const tokens = useQuery(tokensQuery(user.id));
  return (
    // Clicking outside would hide the token, which is shown only once.
    <Modal
      opened
      closeOnClickOutside={false}
      onClose={onClose}
      title={`Tokens of ${user.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Answered query={tokens} label="Loading the tokens">
          {(found) =>
            found.length === 0 ? <None /> : found.map((each) => <TokenLine key={each.id} user={user} token={each} />)
          }
        </Answered>
        <NewToken user={user} />
      </Stack>
    </Modal>
  );
}

const None = () => (
  <Text size="sm" c="dimmed">
    No tokens. A token lets a program sign in as this user.
  </Text>
);

function TokenLine({ user, token: { id, name, created_at: since, expires_at: until } }: { user: User; token: Token }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => removeToken(user.id, id),
    onSuccess: () => client.invalidateQueries({ queryKey: [ACCOUNTS] }),
  });
  return (
    <div className={classes.token}>
      <div>
        <Text size="sm" fw={550}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          created <Time at={since} />
          {until !== null && (
            <>
              , expires <Time at={until} />
            </>
          )}
        </Text>
        {revoke.error !== null && <ProblemAlert error={revoke.error} />}
      </div>
      <ConfirmButton
        size="xs"
        label="Revoke"
        sure="Yes, revoke"
        about={name}
        loading={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </div>
  );
}

function NewToken({ user }: { user: User }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: (given: string) =>
      createToken(user.id, {
        name: given,
        expires_at: days === '' ? null : new Date(Date.now() + Number(days) * DAY).toISOString(),
      }),
    onSuccess: (_, given) => {
      // Input typed meanwhile belongs to the next token.
      setName((now) => (now === given ? '' : now));
      return client.invalidateQueries({ queryKey: [ACCOUNTS] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate(name);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label="Name of a new token"
          required
          withAsterisk={false}
          flex={1}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Expires"
          data={LASTS}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
      </Group>
      <SteadyButton type="submit" mt="sm" fullWidth loading={make.isPending}>
        Create token
      </SteadyButton>
      {make.error !== null && <ProblemAlert error={make.error} />}
      {make.data && (
        <div role="status">
          <Text size="sm" mt="md" mb={6}>
            Copy the token now. It is shown only once.
          </Text>
          <div className={classes.secret}>
            <Code bg="transparent">{make.data.token}</Code>
            <CopyButton text={make.data.token} label="Copy the token" />
          </div>
        </div>
      )}
    </form>
  );
}
