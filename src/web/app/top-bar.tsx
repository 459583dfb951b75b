import searchIcon from 'icon:search';
import { Badge, Group, Kbd, Text, Tooltip, UnstyledButton, Menu, useMantineColorScheme } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import darkIcon from 'icon:dark_mode';
import deviceIcon from 'icon:contrast';
import lightIcon from 'icon:light_mode';
import forgetIcon from 'icon:delete';
import outIcon from 'icon:logout';
import { usePageTitle } from '../shared/page.js';
import type { Info } from '../service/types.js';
import { Glyph } from '../shared/glyph.js';
import { Search, openSearch } from './search.js';
import classes from './top-bar.module.css';
import { forgetFiles } from '../pages/review/sources/upload.js';
import { currentUserId, signOut, useSession } from '../service/session.js';
import { forgetKept } from '../shared/browser-storage.js';

const SCHEMES = [
  { value: 'light', label: 'Light', icon: lightIcon },
  { value: 'dark', label: 'Dark', icon: darkIcon },
  { value: 'auto', label: 'System', icon: deviceIcon },
] as const;

/** Renders nothing without a user. The colour scheme is stored in the browser, not in the account. */
function UserMenu() {
  const session = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  if (!('user' in session)) return null;
  const { name, email, role } = session.user;
  return (
    <Menu position="bottom-end" width={240} shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton aria-label={`Account menu of ${name}`}>
          <span className={classes.user} data-letters={lettersOf(name)} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {name === email ? role : `${email} · ${role}`}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Glyph path={icon} size={18} />}
            rightSection={colorScheme === value ? '✓' : undefined}
            aria-current={colorScheme === value}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Glyph path={outIcon} size={18} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<Glyph path={forgetIcon} size={18} />} onClick={() => void signOutAndForget()}>
          Sign out and delete drafts
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Protects users of shared computers. If the browser cannot delete its data, the user must still be signed out. */
async function signOutAndForget(): Promise<void> {
  await Promise.allSettled([forgetFiles(), forgetKept(currentUserId())]);
  await signOut();
}

/** The initials of the first two words. */
function lettersOf(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => Array.from(word)[0]?.toUpperCase() ?? '')
    .join('');
}

/**
 * Also sets the title of the tab.
 * @param props.info undefined until the service responds; no head is shown then
 * @param props.isLost the service does not respond, which replaces the head
 */
export function TopBar({ info, isLost }: { info: Info | undefined; isLost: boolean }) {
  const title = usePageTitle();
  useDocumentTitle(title === '' ? 'Data Platform' : `${title} · Data Platform`);
  return (
    <section className={classes.bar} aria-label="Search and account">
      <UnstyledButton className={classes.search} onClick={openSearch} aria-keyshortcuts="Meta+K Control+K">
        <Glyph path={searchIcon} size={18} />
        <Text component="span" size="sm" className={classes.hint}>
          Search collections, fields …
        </Text>
        <Kbd size="xs" className={classes.hint} aria-hidden="true">
          {IS_MAC ? '⌘' : 'Ctrl'} K
        </Kbd>
      </UnstyledButton>
      <Group gap="sm" wrap="nowrap">
        <div role="status">{isLost ? <Lost /> : info && <Head info={info} />}</div>
        <UserMenu />
      </Group>
      <Search />
    </section>
  );
}

const IS_MAC = navigator.userAgent.includes('Mac');

function Head({ info }: { info: Info }) {
  return (
    <Tooltip label={`Release ${info.release}, PostgreSQL ${info.database_version}`} withArrow>
      <Badge variant="default" tt="none" fw={500} leftSection={<span className={classes.live} />}>
        event {info.position.toLocaleString()}
      </Badge>
    </Tooltip>
  );
}

function Lost() {
  return (
    <Badge color="red" variant="filled" tt="none" fw={500}>
      offline
    </Badge>
  );
}
