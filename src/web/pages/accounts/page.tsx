import addIcon from 'icon:person_add';
import { Badge, Button, Group, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usersQuery } from '../../service/account-queries.js';
import { itemsIn } from '../../service/paged.js';
import type { User } from '../../service/types.js';
import { Answered } from '../../shared/answered.js';
import { Glyph } from '../../shared/glyph.js';
import { More } from '../../shared/more.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Time } from '../../shared/time.js';
import { Lately } from './recent-changes.js';
import { SessionsPart } from './sessions-part.js';
import { TokensDialog } from './tokens-dialog.js';
import { UserDialog } from './user-dialog.js';
import classes from './page.module.css';

type Open = { what: 'new' } | { what: 'user' | 'tokens'; user: User } | null;

/** Users by e-mail address in pages of a hundred, and active sessions below. For admins; others see the error. */
export function AccountsPage() {
  useTitle('Accounts');
  const users = useInfiniteQuery(usersQuery());
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <Page>
      <Group justify="space-between" mb="lg">
        <Title order={1} size="h3">
          Accounts
        </Title>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen({ what: 'new' })}>
          New user
        </Button>
      </Group>
      <Answered query={users} label="Loading the accounts">
        {(found) => (
          <>
            <ul className={classes.users} aria-label="Users">
              {itemsIn(found.pages).map((user) => (
                <UserLine key={user.id} user={user} onOpen={(what) => setOpen({ what, user })} />
              ))}
            </ul>
            <More of={users}>Show more of {(found.pages[0]?.meta.filter_count ?? 0).toLocaleString()} users</More>
            <SessionsPart />
          </>
        )}
      </Answered>
      {open?.what === 'new' && <UserDialog user={null} onClose={close} />}
      {open?.what === 'user' && <UserDialog user={open.user} onClose={close} />}
      {open?.what === 'tokens' && <TokensDialog user={open.user} onClose={close} />}
    </Page>
  );
}

function UserLine({ user, onOpen }: { user: User; onOpen: (what: 'user' | 'tokens') => void }) {
  const { name, email, role, status, created_at: since } = user;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={classes.user}>
      <div className={classes.who}>
        <Text fw={600}>{name}</Text>
        <Text size="sm" c="dimmed">
          {name === email ? '' : `${email}, `}created <Time at={since} />
        </Text>
      </div>
      <Group gap={6}>
        <Badge variant="default" tt="none" fw={550}>
          {role}
        </Badge>
        {status === 'suspended' && (
          <Badge variant="outline" color="red" tt="none" fw={550} className={classes.suspended}>
            suspended
          </Badge>
        )}
      </Group>
      <Group gap="xs">
        <Button
          variant="subtle"
          size="xs"
          aria-expanded={isOpen}
          aria-label={`Activity of ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          Activity
        </Button>
        <Button variant="default" size="xs" onClick={() => onOpen('tokens')} aria-label={`Tokens of ${name}`}>
          Tokens
        </Button>
        <Button variant="default" size="xs" onClick={() => onOpen('user')} aria-label={`Edit ${name}`}>
          Edit
        </Button>
      </Group>
      {isOpen && <Lately user={user} />}
    </li>
  );
}
