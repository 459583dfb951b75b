/** Shows the app to signed-in users, and the login to others. */
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
        // Above forms beside the page, which were rendered before.
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
