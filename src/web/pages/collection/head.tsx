import diagramIcon from 'icon:hub';
import editIcon from 'icon:edit';
import folderIcon from 'icon:folder';
import moreIcon from 'icon:more_vert';
import tableIcon from 'icon:table';
import { ActionIcon, Badge, Button, Group, Menu, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Collection } from '../../../schema/model/model.js';
import type { Mark } from '../../draft/drafted.js';
import { MarkBadge } from '../../draft/mark-badge.js';
import { useMay } from '../../service/use-session.js';
import { Glyph } from '../../shared/glyph.js';
import { MaterialIcon } from '../../shared/material-icon.js';
import { inkOf } from '../schema/color.js';
import type { EditName } from '../../editing/edit-names.js';
import { Size } from './size.js';
import classes from './page.module.css';

/** Null without permission. */
export type OnEdit = ((edit: EditName, of?: string) => void) | null;

interface HeadProps {
  document: Collection;
  how: Mark | undefined;
  isSystem: boolean;
  onEdit: OnEdit;
}

/**
 * An object that the draft creates or renames has no size and no place in the diagram yet.
 * @param props.isSystem one of the service's own tables
 */
export function Head({ document: { collection, meta, schema }, how, isSystem, onEdit }: HeadProps) {
  const isThere = how !== 'made' && how !== 'renamed';
  return (
    <>
      <Group gap="sm" wrap="nowrap" align="flex-start" className={classes.top ?? ''}>
        <span className={classes.icon} style={{ color: inkOf(meta.color) }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} size={26} />
        </span>
        <div className={classes.head}>
          <Group gap="xs">
            <Title order={1} size="h3">
              <bdi>{collection}</bdi>
            </Title>
            <MarkBadge how={how} />
          </Group>
          <Facts meta={meta} isFolder={schema === null} isSystem={isSystem} />
          {isThere && schema !== null && !isSystem && <KnownSize collection={collection} />}
        </div>
        {isThere && <InDiagram collection={collection} />}
        {onEdit !== null && <Actions isFolder={schema === null} collection={collection} onEdit={onEdit} />}
      </Group>
      {meta.note !== null && (
        <Text className={classes.note} role="note" tabIndex={0} aria-label="Note">
          {meta.note}
        </Text>
      )}
    </>
  );
}

/** For roles that may read database facts. */
function KnownSize({ collection }: { collection: string }) {
  return useMay('readOperations') ? <Size collection={collection} /> : null;
}

function InDiagram({ collection }: { collection: string }) {
  return (
    <Button
      component={Link}
      to="/"
      search={{ c: collection, near: 1 } as never}
      variant="default"
      size="xs"
      leftSection={<Glyph path={diagramIcon} size={18} />}
    >
      Show in diagram
    </Button>
  );
}

interface ActionsProps {
  isFolder: boolean;
  collection: string;
  onEdit: (edit: EditName) => void;
}

function Actions({ isFolder, collection, onEdit }: ActionsProps) {
  return (
    <>
      <Button size="xs" leftSection={<Glyph path={editIcon} size={18} />} onClick={() => onEdit('collection')}>
        Edit
      </Button>
      <Menu position="bottom-end" width={220} shadow="md" withinPortal={false}>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={`More actions for ${collection}`}>
            <Glyph path={moreIcon} size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!isFolder && <Menu.Item onClick={() => onEdit('new-field')}>New field …</Menu.Item>}
          {!isFolder && <Menu.Item onClick={() => onEdit('new-relation')}>New relation …</Menu.Item>}
          <Menu.Item component={Link} to="/new" search={{ group: collection } as never}>
            New nested collection …
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => onEdit('rename')}>Rename …</Menu.Item>
          <Menu.Item color="red" onClick={() => onEdit('delete')}>
            Delete …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function Facts({ meta, isFolder, isSystem }: { meta: Collection['meta']; isFolder: boolean; isSystem: boolean }) {
  const facts = [
    isFolder && 'folder',
    isSystem && 'internal',
    meta.singleton && 'singleton',
    meta.hidden && 'hidden',
    meta.versioning && 'versioning',
    meta.group !== null && `in ${meta.group}`,
  ].filter((fact) => typeof fact === 'string');
  return (
    <Group gap={6} mt={4}>
      {facts.map((fact) => (
        <Badge key={fact} variant="default" tt="none" fw={500} size="sm">
          {fact}
        </Badge>
      ))}
    </Group>
  );
}
