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
import { type Invitation, acceptInvitation, readProviders, takeInvitation } from '../../service/account-queries.js';
import { ServiceError } from '../../service/send.js';
import { resume, signOut, signIn, signInOutcome, signInWithToken, useSession } from '../../service/session.js';
import type { SignInOutcome } from '../../service/types.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import classes from './page.module.css';
import { SteadyButton } from '../../shared/buttons.js';
import { Name } from '../../shared/name.js';
import { NewPasswordInput } from '../../shared/password.js';
import { messages } from './messages.js';

const PASSWORD = { value: 'password', label: messages.form.email };
const TOKEN = { value: 'token', label: messages.form.token };

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
      <LoadingIndicator label={messages.loading} />
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
          {oidc !== null && <Divider label={messages.or} />}
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
      <Text size="sm">{messages.link(email, label)}</Text>
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
      {messages.signInWith(label)}
    </Button>
  );
}

const OUTCOMES: Readonly<Partial<Record<SignInOutcome, string>>> = messages.outcomes;

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
            aria-label={messages.form.ways}
            data={[...ways]}
            value={way}
            onChange={choose}
          />
        )}
        {way === 'password' ? (
          <>
            <TextInput
              label={messages.form.email}
              type="email"
              autoComplete="username"
              required
              withAsterisk={false}
              autoFocus={knownEmail === undefined}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label={messages.form.password}
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
              label={messages.form.token}
              autoComplete="off"
              required
              withAsterisk={false}
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
            />
            <Text size="xs" c="dimmed" mt={6}>
              {messages.form.tokenHelp}
            </Text>
          </div>
        )}
        {entering.error && <ProblemAlert error={entering.error} />}
        <SteadyButton type="submit" fullWidth loading={entering.isPending}>
          {isLinking ? messages.form.linkAndSignIn : messages.form.signIn}
        </SteadyButton>
      </Stack>
    </form>
  );
}

/** Shown at every address, so that the user can continue there. */
function SignInPage() {
  return (
    <PageWithoutSession title={messages.title}>
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
    <PageWithoutSession title={messages.invitation.title}>
      <form onSubmit={submit} aria-label={messages.invitation.title}>
        <Stack>
          <Text size="sm">{messages.invitation.invited(<Name of={invitation.email} />)}</Text>
          {/* Password managers store the new password with the address. */}
          <input type="text" hidden readOnly autoComplete="username" value={invitation.email} />
          <NewPasswordInput
            label={messages.invitation.password}
            description={messages.invitation.passwordHelp}
            required
            value={password}
            error={refused}
            onChange={setPassword}
          />
          {isInvalid && (
            <Alert color="red" role="alert">
              {messages.invitation.invalid}
            </Alert>
          )}
          {error !== null && !isInvalid && refused === undefined && <ProblemAlert error={error} />}
          <SteadyButton type="submit" fullWidth disabled={password === ''} loading={accepting.isPending}>
            {messages.invitation.accept}
          </SteadyButton>
          <Button variant="subtle" onClick={onDone}>
            {messages.invitation.decline}
          </Button>
        </Stack>
      </form>
    </PageWithoutSession>
  );
}

function PageWithoutSession({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(messages.titleOf(title));
  return (
    <Box component="main" className={classes.page}>
      <div className={classes.inside}>
        <div className={classes.brand}>
          <span className={classes.mark}>
            <Glyph path={logo} size={26} />
          </span>
          <Title order={1} size="h3">
            {messages.product}
          </Title>
          <Text c="dimmed" size="sm">
            {messages.claim}
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
          <LoadingIndicator label={messages.starting} />
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
        title={messages.expired.title}
        closeOnClickOutside={false}
        closeOnEscape={false}
        // Above forms next to the page, which were rendered before.
        zIndex={1_000}
        closeButtonProps={{ 'aria-label': messages.expired.signOut }}
      >
        <Text size="sm" mb="md">
          {messages.expired.signInAgain(session.user.email)}
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
