import darkIcon from 'icon:dark_mode';
import deviceIcon from 'icon:contrast';
import lightIcon from 'icon:light_mode';
import forgetIcon from 'icon:delete';
import outIcon from 'icon:logout';
import { Menu, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { forgetFiles } from '../pages/review/sources/files.js';
import { currentUserId, signOut } from '../service/session.js';
import { useSession } from '../service/use-session.js';
import { forgetKept } from '../shared/browser-storage.js';
import { Glyph } from '../shared/glyph.js';
import classes from './top-bar.module.css';

const SCHEMES = [
  { value: 'light', label: 'Light', icon: lightIcon },
  { value: 'dark', label: 'Dark', icon: darkIcon },
  { value: 'auto', label: 'System', icon: deviceIcon },
] as const;

/** Renders nothing without a user. The colour scheme is stored in the browser, not in the account. */
export function UserMenu() {
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

/** For shared computers. If the browser cannot delete its data, the user must still be signed out. */
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
