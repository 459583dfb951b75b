/** Shows the app to signed-in users, and the login to others. */
import {
  Center,
  Modal,
  Text,
  Box,
  Paper,
  Title,
  PasswordInput,
  SegmentedControl,
  Stack,
  TextInput,
} from '@mantine/core';
import { useQuery, useMutation } from '@tanstack/react-query';
import { Fragment, type ReactNode, type FormEvent, useState } from 'react';
import logo from 'icon:account_tree';
import { useDocumentTitle } from '@mantine/hooks';
import { resume, signOut, signIn, signInWithToken, useSession } from '../../service/session.js';
import { ProblemAlert, Waiting } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import classes from './page.module.css';
import { SteadyButton } from '../../shared/buttons.js';

const WAYS = [
  { value: 'password', label: 'E-mail' },
  { value: 'token', label: 'Token' },
];

/** @param props.email of the user who must sign in again */
function SignInForm({ email: known }: { email?: string }) {
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

/** Shown at every address, so that the user continues there. */
function SignInPage() {
  useDocumentTitle('Sign in · Data Platform');
  return (
    <Box component="main" className={classes.page}>
      <div className={classes.inside}>
        <div className={classes.brand}>
          <span className={classes.mark}>
            <Glyph path={logo} size={26} />
          </span>
          <Title order={1} size="h3">
            Data Platform
          </Title>
          <Text c="dimmed" size="sm">
            Manage your PostgreSQL schema and its history
          </Text>
        </div>
        <Paper className={classes.card} radius="lg" p="xl">
          <SignInForm />
        </Paper>
      </div>
    </Box>
  );
}

/**
 * Resumes the cookie's session first, with a retry on connection errors. An expired session keeps the page under a
 * login dialog. Another user starts fresh.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const session = useSession();
  const start = useQuery({ queryKey: ['resume'], queryFn: resumeOnce, staleTime: Infinity, gcTime: Infinity });
  if (session.status === 'out') return <SignInPage />;
  if (session.status === 'starting') {
    return (
      <Center mih="100vh" p="md">
        {start.error ? (
          <ProblemAlert error={start.error} retry={() => void start.refetch()} />
        ) : (
          <Waiting label="Starting" />
        )}
      </Center>
    );
  }
  return (
    <>
      {/* Another user must not see the previous page. */}
      <Fragment key={session.user.id}>{children}</Fragment>
      <Modal
        opened={session.status === 'expired'}
        onClose={() => void signOut()}
        title="Your session has ended"
        closeOnClickOutside={false}
        closeOnEscape={false}
        // Above forms next to the page, which were rendered before.
        zIndex={1_000}
        closeButtonProps={{ 'aria-label': 'Sign out' }}
      >
        <Text size="sm" mb="md">
          Sign in again as {session.user.email}. Your work on this page is kept.
        </Text>
        <SignInForm email={session.user.email} />
      </Modal>
    </>
  );
}

async function resumeOnce(): Promise<null> {
  await resume();
  return null;
}
