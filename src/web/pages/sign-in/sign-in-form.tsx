import { PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { signIn, signInWithToken } from '../../service/session.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { SteadyButton } from '../../shared/steady-button.js';

const WAYS = [
  { value: 'password', label: 'E-mail' },
  { value: 'token', label: 'Token' },
];

/** @param props.email of the user who must sign in again */
export function SignInForm({ email: known }: { email?: string }) {
  const [way, setWay] = useState('password');
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [token, setToken] = useState('');
  const entering = useMutation({
    mutationFn: () => (way === 'password' ? signIn(email, password) : signInWithToken(token.trim())),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    entering.mutate();
  };
  const choose = (next: string) => {
    setWay(next);
    entering.reset();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <SegmentedControl
          fullWidth
          role="radiogroup"
          aria-label="Sign in with"
          data={WAYS}
          value={way}
          onChange={choose}
        />
        {way === 'password' ? (
          <>
            <TextInput
              label="E-mail"
              type="email"
              autoComplete="username"
              required
              withAsterisk={false}
              autoFocus={known === undefined}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              autoFocus={known !== undefined}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          </>
        ) : (
          <div>
            <PasswordInput
              label="Token"
              autoComplete="off"
              required
              withAsterisk={false}
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
            />
            <Text size="xs" c="dimmed" mt={6}>
              The token is not stored. You must enter it again after you reload the page.
            </Text>
          </div>
        )}
        {entering.error && <ProblemAlert error={entering.error} />}
        <SteadyButton type="submit" fullWidth loading={entering.isPending}>
          Sign in
        </SteadyButton>
      </Stack>
    </form>
  );
}
