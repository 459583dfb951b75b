import searchIcon from 'icon:search';
import { Badge, Group, Kbd, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { usePageTitle } from '../shared/page-title.js';
import type { Info } from '../service/types.js';
import { Glyph } from '../shared/glyph.js';
import { Search, openSearch } from './search.js';
import { UserMenu } from './user-menu.js';
import classes from './top-bar.module.css';

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
