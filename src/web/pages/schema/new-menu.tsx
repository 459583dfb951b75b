/** Begins something new. */
import addIcon from 'icon:add';
import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Glyph } from '../../shared/glyph.js';

/** @param props.group the selected collection */
export function NewMenu({ group }: { group: string | undefined }) {
  return (
    <Menu position="bottom-end" width={240} shadow="md" withinPortal={false}>
      <Menu.Target>
        <ActionIcon size={36} variant="light" aria-label="New collection or folder">
          <Glyph path={addIcon} size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/new">
          New collection …
        </Menu.Item>
        <Menu.Item component={Link} to="/new" search={{ as: 'folder' } as never}>
          New folder …
        </Menu.Item>
        {group !== undefined && (
          <Menu.Item component={Link} to="/new" search={{ group } as never}>
            New collection in {group} …
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
