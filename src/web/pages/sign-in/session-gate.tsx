/** Shows the app to signed-in users, and the login to others. */
import {
  Alert,
  Button,
  Center,
  Divider,
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
import { type Invitation, acceptInvitation, readProviders, takeInvitation } from '../../service/invitation.js';
import { ServiceError } from '../../service/send.js';
import { resume, signOut, signIn, signInOutcome, signInWithToken, useSession } from '../../service/session.js';
import type { SignInOutcome } from '../../service/types.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import classes from './page.module.css';
import { SteadyButton } from '../../shared/buttons.js';
import { Name } from '../../shared/name.js';
import { NewPasswordInput } from '../../shared/password.js';

const PASSWORD = { value: 'password', label: 'E-mail' };
const TOKEN = { value: 'token', label: 'Token' };

/**
 * Shows the login after reading how users can sign in. @param props.email the address of the user who must sign in
 * again
 */
function SignIn({ email }: { email?: string }) {
  const providers = useQuery({ queryKey: ['providers'], queryFn: readProviders });
  if (providers.data === undefined) {
    return providers.error ? (
      <ProblemAlert error={providers.error} retry={() => void providers.refetch()} />
    ) : (
      <LoadingIndicator label="Loading" />
    );
  }
  const { oidc } = providers.data;
  return (
    <Stack>
      <OutcomeAlert />
      {oidc?.linking != null ? (
        <LinkForm label={oidc.label} email={oidc.linking} />
      ) : (
        <>
          {oidc !== null && <ProviderButton label={oidc.label} isInDialog={email !== undefined} />}
          {oidc !== null && <Divider label="or" />}
          <SignInForm email={email} ways={providers.data.password ? [PASSWORD, TOKEN] : [TOKEN]} />
        </>
      )}
    </Stack>
  );
}

/** Links the identity of this browser to the account with its e-mail address. */
function LinkForm({ label, email }: { label: string; email: string }) {
  return (
    <>
      <Text size="sm">
        An account with the e-mail address {email} already exists. Enter its password once to link it to {label}.
      </Text>
      <SignInForm email={email} ways={[PASSWORD]} isLinking />
    </>
  );
}

/**
 * Signs in with the provider and returns to this page. If the page has unsaved work, the provider opens in another tab.
 */
function ProviderButton({ label, isInDialog }: { label: string; isInDialog: boolean }) {
  const to = isInDialog ? '/app' : location.pathname + location.search;
  return (
    <Button
      component="a"
      fullWidth
      variant="default"
      href={`/auth/oidc/login?to=${encodeURIComponent(to)}`}
      {...(isInDialog && { target: '_blank', rel: 'noopener' })}
    >
      Sign in with {label}
    </Button>
  );
}

const OUTCOMES: Readonly<Partial<Record<SignInOutcome, string>>> = {
  failed: 'The sign-in failed. Try again. The service log contains the reason.',
  unavailable: 'The provider does not respond. Try again later.',
  denied: 'You cancelled the sign-in.',
  'no-access': 'Your account at the provider has no role in this service. Ask an admin for access.',
  suspended: 'Your account is suspended. Ask an admin to activate it.',
  'no-email': 'The provider did not send a verified e-mail address.',
  'last-admin': 'The provider no longer makes you an admin, but you are the last active admin here.',
};

/** Says why a sign-in with the provider did not succeed. */
function OutcomeAlert() {
  const outcome = signInOutcome();
  const message = outcome === null ? undefined : OUTCOMES[outcome];
  return message === undefined ? null : (
    <Alert color="red" role="alert">
      {message}
    </Alert>
  );
}

interface SignInFormProps {
  email: string | undefined;
  ways: readonly (typeof PASSWORD)[];
  /** Links the identity of this browser to the account. */
  isLinking?: boolean;
}

function SignInForm({ email: knownEmail, ways, isLinking = false }: SignInFormProps) {
  const [way, setWay] = useState(ways[0]?.value ?? '');
  const [email, setEmail] = useState(knownEmail ?? '');
  const [password, setPassword] = useState('');
  const [token, setToken] = useState('');
  const entering = useMutation({
    mutationFn: () =>
      way === 'password'
        ? signIn(email, password, isLinking ? 'linkIdentity' : 'login')
        : signInWithToken(token.trim()),
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
        {ways.length > 1 && (
          <SegmentedControl
            fullWidth
            role="radiogroup"
            aria-label="Sign in with"
            data={[...ways]}
            value={way}
            onChange={choose}
          />
        )}
        {way === 'password' ? (
          <>
            <TextInput
              label="E-mail"
              type="email"
              autoComplete="username"
              required
              withAsterisk={false}
              autoFocus={knownEmail === undefined}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              autoFocus={knownEmail !== undefined}
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
          {isLinking ? 'Link and sign in' : 'Sign in'}
        </SteadyButton>
      </Stack>
    </form>
  );
}

/** Shown at every address, so that the user can continue there. */
function SignInPage() {
  return (
    <PageWithoutSession title="Sign in">
      <SignIn />
    </PageWithoutSession>
  );
}

interface InvitationProps {
  invitation: Invitation;
  /** Called when the user is signed in, or does not want to accept. */
  onDone: () => void;
}

/** The invited user chooses a password. Another user who is signed in is signed out by that. */
function InvitationPage({ invitation, onDone }: InvitationProps) {
  const [password, setPassword] = useState('');
  const accepting = useMutation({ mutationFn: () => acceptInvitation(invitation, password), onSuccess: onDone });
  const { error } = accepting;
  const refused = error instanceof ServiceError ? error.at('password') : undefined;
  const isInvalid = error instanceof ServiceError && error.status === 401;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accepting.mutate();
  };
  return (
    <PageWithoutSession title="Invitation">
      <form onSubmit={submit} aria-label="Invitation">
        <Stack>
          <Text size="sm">
            You are invited as <Name of={invitation.email} />. Choose a password to sign in.
          </Text>
          {/* Password managers store the new password with the address. */}
          <input type="text" hidden readOnly autoComplete="username" value={invitation.email} />
          <NewPasswordInput
            label="New password"
            description="At least 12 characters."
            required
            value={password}
            error={refused}
            onChange={setPassword}
          />
          {isInvalid && (
            <Alert color="red" role="alert">
              This invitation is no longer valid. Sign in with your password, or ask an admin for a new link.
            </Alert>
          )}
          {error !== null && !isInvalid && refused === undefined && <ProblemAlert error={error} />}
          <SteadyButton type="submit" fullWidth disabled={password === ''} loading={accepting.isPending}>
            Choose password and sign in
          </SteadyButton>
          <Button variant="subtle" onClick={onDone}>
            Sign in without the invitation
          </Button>
        </Stack>
      </form>
    </PageWithoutSession>
  );
}

function PageWithoutSession({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(`${title} · Data Platform`);
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
          {children}
        </Paper>
      </div>
    </Box>
  );
}

/**
 * First accepts an invitation, or resumes the session of the cookie, with a retry after connection errors. If a session expires, its page stays
 * below a login dialog. Another user begins without that page.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const session = useSession();
  const [invitation, setInvitation] = useState(takeInvitation);
  const start = useQuery({
    queryKey: ['resume'],
    queryFn: resumeOnce,
    enabled: invitation === null,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  if (invitation !== null) return <InvitationPage invitation={invitation} onDone={() => setInvitation(null)} />;
  if (session.status === 'out') return <SignInPage />;
  if (session.status === 'starting') {
    return (
      <Center mih="100vh" p="md">
        {start.error ? (
          <ProblemAlert error={start.error} retry={() => void start.refetch()} />
        ) : (
          <LoadingIndicator label="Starting" />
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
        <SignIn email={session.user.email} />
      </Modal>
    </>
  );
}

async function resumeOnce(): Promise<null> {
  await resume();
  return null;
}
