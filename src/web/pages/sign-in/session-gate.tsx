/** Shows the app to who is signed in, and asks everybody else who they are. */
import { Center, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { resume, signOut } from '../../service/session.js';
import { useSession } from '../../service/use-session.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import { SignInForm } from './sign-in-form.js';
import { SignInPage } from './page.js';

/**
 * First resumes the session of the cookie; where no answer comes, that can be tried again. A session that ends leaves
 * what is open, under a dialog to sign in again. Another user begins with nothing of it.
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
      {/* Whoever comes instead finds nothing of what was open. */}
      <Fragment key={session.user.id}>{children}</Fragment>
      <Modal
        opened={session.status === 'expired'}
        onClose={() => void signOut()}
        title="Your session has ended"
        closeOnClickOutside={false}
        closeOnEscape={false}
        // Above a form beside the page, which was there before.
        zIndex={1_000}
        closeButtonProps={{ 'aria-label': 'Sign out' }}
      >
        <Text size="sm" mb="md">
          Sign in again as {session.user.email}: everything on this page stays as it is.
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
