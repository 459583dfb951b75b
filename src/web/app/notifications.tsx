/** A menu in the top bar with the actions of others on the user's change requests. */
import notificationsIcon from 'icon:notifications';
import { ActionIcon, Indicator, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { actorName } from '../../schema/model/events.js';
import { notificationsQuery, type ChangeNotification } from '../service/change-queries.js';
import { currentUserId, useMay } from '../service/session.js';
import { Glyph } from '../shared/glyph.js';
import { visibleName } from '../shared/name.js';
import { abbreviate } from '../shared/text.js';
import { Time } from '../shared/time.js';
import { storeValue, useStored } from '../shared/use-stored.js';

/** The name under which the browser stores the time of the newest notification that the user has seen. */
const SEEN = 'seen';

/** Renders nothing for users who cannot open change requests. */
export function Notifications() {
  const mayPropose = useMay('propose');
  const mayApply = useMay('carryOut');
  const { data: notifications = [] } = useQuery({
    ...notificationsQuery(currentUserId(), mayApply),
    enabled: mayPropose,
  });
  const seen = useStored(SEEN) ?? '';
  if (!mayPropose) return null;
  const unread = notifications.filter(({ at }) => at > seen).length;
  const [newest] = notifications;
  return (
    <Indicator label={unread} size={16} offset={4} disabled={unread === 0}>
      <Menu
        position="bottom-end"
        width={320}
        shadow="md"
        withinPortal={false}
        withInitialFocusPlaceholder={false}
        onClose={() => newest !== undefined && storeValue(SEEN, newest.at)}
      >
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`}
          >
            <Glyph path={notificationsIcon} size={22} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="70vh" style={{ overflowY: 'auto' }}>
          <Menu.Label>{notifications.length === 0 ? EMPTY : 'Your change requests'}</Menu.Label>
          {notifications.map((each) => (
            <Entry key={`${each.id} ${each.at} ${each.what}`} notification={each} isUnread={each.at > seen} />
          ))}
        </Menu.Dropdown>
      </Menu>
    </Indicator>
  );
}

const EMPTY = 'No activity on your change requests in the last 7 days.';

const WORDS = {
  approved: 'approved',
  rejected: 'rejected',
  commented: 'commented on',
  applied: 'was applied',
  failed: 'failed',
} as const satisfies Record<ChangeNotification['what'], string>;

function Entry({ notification, isUnread }: { notification: ChangeNotification; isUnread: boolean }) {
  const { id, title, what, by, at } = notification;
  const request = `“${visibleName(abbreviate(title, 80))}”`;
  const who = by === null ? null : visibleName(abbreviate(actorName(by), 40));
  return (
    <Menu.Item renderRoot={(props) => <Link {...props} to="/review" search={{ change: id }} />}>
      <Text size="sm" fw={isUnread ? 600 : 400}>
        {who === null ? `${request} ${WORDS[what]}` : `${who} ${WORDS[what]} ${request}`}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={at} />
      </Text>
    </Menu.Item>
  );
}
