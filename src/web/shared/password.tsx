import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { setOwnPassword } from '../service/account-queries.js';
import { ServiceError } from '../service/send.js';
import type { User } from '../service/types.js';
import { SteadyButton } from './buttons.js';
import { messages } from './messages.js';
import { ProblemAlert } from './problem-alert.js';

/** Characters that are not confused with each other when a password is read aloud or copied by hand. */
const CHARACTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const GROUPS = 5;
const GROUP_LENGTH = 4;

/** A random password of about 99 bits, in groups: `k7wq-…`. */
export function generatePassword(): string {
  const limit = 256 - (256 % CHARACTERS.length);
  let characters = '';
  while (characters.length < GROUPS * GROUP_LENGTH) {
    const [byte = limit] = crypto.getRandomValues(new Uint8Array(1));
    // Larger bytes would make the first characters more likely.
    if (byte < limit) characters += CHARACTERS.charAt(byte % CHARACTERS.length);
  }
  return Array.from({ length: GROUPS }, (_, group) =>
    characters.slice(group * GROUP_LENGTH, (group + 1) * GROUP_LENGTH),
  ).join('-');
}

interface NewPasswordProps {
  label: string;
  description?: string;
  required?: boolean;
  value: string;
  error: string | undefined;
  onChange: (password: string) => void;
}

/** Generates a password on request, and shows it, so that it can be copied. */
export function NewPasswordInput({ error, onChange, ...input }: NewPasswordProps) {
  const [isVisible, setVisible] = useState(false);
  const generate = () => {
    onChange(generatePassword());
    setVisible(true);
  };
  return (
    <Stack gap="xs" align="flex-start">
      <PasswordInput
        {...input}
        w="100%"
        withAsterisk={false}
        autoComplete="new-password"
        visible={isVisible}
        onVisibilityChange={setVisible}
        error={error}
        aria-invalid={error !== undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Button variant="default" size="compact-sm" onClick={generate}>
        {messages.password.generate}
      </Button>
    </Stack>
  );
}

interface OwnPasswordProps {
  user: User;
  hint: string;
  /** Called when the user is signed in with the new password. */
  onChanged: () => void;
}

const SHOWN = ['password', 'current_password'];

export function OwnPasswordForm({ user, hint, onChanged }: OwnPasswordProps) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const setting = useMutation({
    mutationFn: () => setOwnPassword(user, { password, current_password: current }),
    onSuccess: onChanged,
  });
  const { error } = setting;
  const at = (path: string) => (error instanceof ServiceError ? error.at(path) : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setting.mutate();
  };
  return (
    <form onSubmit={submit} aria-label={messages.password.changeYours}>
      <Stack gap="sm" maw={420}>
        <Text size="sm">{hint}</Text>
        {/* Password managers store the new password with the address. */}
        <input type="text" hidden readOnly autoComplete="username" value={user.email} />
        <PasswordInput
          label={messages.password.current}
          autoComplete="current-password"
          data-autofocus
          required
          withAsterisk={false}
          value={current}
          error={at('current_password')}
          aria-invalid={at('current_password') !== undefined}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <NewPasswordInput
          label={messages.password.new}
          required
          value={password}
          error={at('password')}
          onChange={setPassword}
        />
        {error !== null && SHOWN.every((path) => at(path) === undefined) && <ProblemAlert error={error} />}
        <SteadyButton
          type="submit"
          w="fit-content"
          disabled={current === '' || password === ''}
          loading={setting.isPending}
        >
          {messages.password.change}
        </SteadyButton>
      </Stack>
    </form>
  );
}
