/** Lists deleted objects that can be restored with their rows. */
import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { trashQuery } from '../../service/trash-queries.js';
import type { TrashEntry } from '../../service/types.js';
import { useRole } from '../../service/use-session.js';
import { bytesText, counted } from '../../shared/amounts.js';
import { Answered } from '../../shared/answered.js';
import { useTitle } from '../../shared/page-title.js';
import { Time } from '../../shared/time.js';
import { nameOf } from './trash-name.js';
import { PurgeDialog } from './purge-dialog.js';
import { RestoreDialog } from './restore-dialog.js';
import classes from './page.module.css';

type Open = { what: 'restore' | 'purge'; entry: TrashEntry } | null;

export function TrashTab() {
  useTitle('Trash · Operations');
  const trash = useQuery(trashQuery());
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Answered query={trash} label="Loading the trash">
        {({ data: found, meta }) =>
          found.length === 0 ? (
            <Empty />
          ) : (
            <>
              <ul className={classes.cards} aria-label="Trash">
                {found.map((entry) => (
                  <Entry key={entry.position} entry={entry} onOpen={(what) => setOpen({ what, entry })} />
                ))}
              </ul>
              {meta.total_count > found.length && (
                <Text size="sm" c="dimmed">
                  Showing the newest {found.length} of {meta.total_count.toLocaleString()}. Run <code>dps trash</code>{' '}
                  to list all.
                </Text>
              )}
            </>
          )
        }
      </Answered>
      {open?.what === 'restore' && <RestoreDialog entry={open.entry} onClose={close} />}
      {open?.what === 'purge' && <PurgeDialog entry={open.entry} onClose={close} />}
    </>
  );
}

function Empty() {
  return (
    <div className={classes.empty}>
      <Text fw={600}>The trash is empty</Text>
      <Text size="sm" mt={4}>
        Deleted collections and fields are kept here with their rows. You can restore them for the time that
        KEEP_DELETED sets.
      </Text>
    </div>
  );
}

function Entry({ entry, onOpen }: { entry: TrashEntry; onOpen: (what: 'restore' | 'purge') => void }) {
  const { kind, rows, bytes, deleted_at: since, kept_until: until, deleted_by: who, batch } = entry;
  const name = nameOf(entry);
  const size = [rows !== null && counted(rows, 'row'), bytes !== null && bytesText(bytes)].filter(Boolean);
  const isAdmin = useRole() === 'admin';
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Group gap="xs">
            <Text fw={600}>
              <bdi>{name}</bdi>
            </Text>
            <Badge variant="default" tt="none" fw={500} size="sm">
              {kind}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {size.length > 0 && `${size.join(', ')}; `}deleted by {who?.name ?? 'the service'}{' '}
            <Link to="/timeline" search={{ batch }}>
              <Time at={since} />
            </Link>
            , restorable until <Time at={until} as="day" /> (<Time at={until} />)
          </Text>
        </div>
        {isAdmin && (
          <Group gap="xs">
            <Button size="xs" onClick={() => onOpen('restore')} aria-label={`Restore ${name}`}>
              Restore
            </Button>
            <Button size="xs" variant="default" onClick={() => onOpen('purge')} aria-label={`Purge ${name}`}>
              Purge
            </Button>
          </Group>
        )}
      </div>
    </li>
  );
}
