import { PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { setOwnPassword } from '../service/account-queries.js';
import { RefusedError } from '../service/errors.js';
import type { User } from '../service/types.js';
import { ProblemAlert } from './problem-alert.js';
import { SteadyButton } from './steady-button.js';

/** @param props.onChosen called when the user is signed in with the new password */
export function ChoosePassword({ user, onChosen }: { user: User; onChosen: () => void }) {
  const [password, setPassword] = useState('');
  const setting = useMutation({ mutationFn: () => setOwnPassword(user, password), onSuccess: onChosen });
  const problem = setting.error instanceof RefusedError ? setting.error.at('password') : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setting.mutate();
  };
  return (
    <form onSubmit={submit} aria-label="Choose your own password">
      <Stack gap="sm" maw={420}>
        <Text size="sm">
          A password that only you know confirms that the approval is yours. All your other sessions end.
        </Text>
        {/* Password managers store the new password with the address. */}
        <input type="text" hidden readOnly autoComplete="username" value={user.email} />
        <PasswordInput
          label="New password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          value={password}
          error={problem}
          aria-invalid={problem !== undefined}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {setting.error !== null && problem === undefined && <ProblemAlert error={setting.error} />}
        <SteadyButton type="submit" w="fit-content" disabled={password === ''} loading={setting.isPending}>
          Set password
        </SteadyButton>
      </Stack>
    </form>
  );
}
