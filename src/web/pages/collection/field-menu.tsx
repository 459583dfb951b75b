import moreIcon from 'icon:more_vert';
import { ActionIcon, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Field } from '../../../schema/model/model.js';
import type { Drafted, Mark } from '../../draft/drafted.js';
import { discard } from '../../draft/edits.js';
import { memberKey } from '../../draft/model.js';
import { editDraft } from '../../draft/store.js';
import { editSchema } from '../../draft/use-drafted.js';
import { Glyph } from '../../shared/glyph.js';
import { move } from './field-order.js';
import type { EditName } from '../../editing/edit-names.js';

interface Props {
  /** All fields of the collection in order. */
  fields: readonly Drafted<Field>[];
  field: Field;
  how: Mark | undefined;
  onEdit: (edit: EditName, of: string) => void;
}

/**
 * Moves change the draft at once; other actions open a form through `onEdit`. A removed field can only be kept again.
 * @param props.how the draft's change; without one there is nothing to discard
 */
export function FieldMenu({ fields, field: { collection, field }, how, onEdit }: Props) {
  const client = useQueryClient();
  const from = fields.findIndex(({ document }) => document.field === field);
  const moveTo = (to: number) => void editSchema(client, [collection], (editor) => move(editor, fields, { from, to }));
  const isThere = how !== 'removed';
  return (
    <Menu position="bottom-end" width={200} shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${field}`}>
          <Glyph path={moreIcon} size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isThere && <Menu.Item onClick={() => onEdit('field', field)}>Edit …</Menu.Item>}
        {isThere && <Menu.Item onClick={() => onEdit('rename-field', field)}>Rename …</Menu.Item>}
        {isThere && from > 0 && <Menu.Item onClick={() => moveTo(from - 1)}>Move up</Menu.Item>}
        {isThere && from < fields.length - 1 && <Menu.Item onClick={() => moveTo(from + 1)}>Move down</Menu.Item>}
        {how !== undefined && (
          <Menu.Item onClick={() => editDraft((draft) => discard(draft, 'fields', memberKey(collection, field)))}>
            {how === 'removed' ? 'Undo deletion' : 'Discard changes'}
          </Menu.Item>
        )}
        {isThere && (
          <Menu.Item color="red" onClick={() => onEdit('delete-field', field)}>
            Delete …
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
