/* The list of keyboard shortcuts. */
import { Kbd, Modal, Table } from '@mantine/core';
import { useEffect } from 'react';
import { isTyping } from '../pages/schema/replay/use-replay.js';

/** The keys of each shortcut. */
const SHORTCUTS: readonly { label: string; keys: readonly string[] }[] = [
  { label: 'Search, and run a command', keys: ['⌘K', 'Ctrl K'] },
  { label: 'Show this list', keys: ['?'] },
  { label: 'Move in the tree of collections', keys: ['↑', '↓', '←', '→'] },
  { label: 'Open a collection of the tree', keys: ['Enter'] },
  { label: 'Change the order of collections', keys: ['Alt ↑', 'Alt ↓'] },
  { label: 'Go to the previous or next change in the replay', keys: [',', '.'] },
  { label: 'Play or pause the replay', keys: ['k'] },
  { label: 'Go to the first or last change of a review', keys: ['Home', 'End'] },
];

/** Shows the shortcuts. It opens on `?`, unless an input or a dialog has the focus. */
export function Shortcuts({ isOpen, onChange }: { isOpen: boolean; onChange: (isOpen: boolean) => void }) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      onChange(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [onChange]);
  return (
    <Modal
      opened={isOpen}
      onClose={() => onChange(false)}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Table aria-label="Keyboard shortcuts">
        <Table.Tbody>
          {SHORTCUTS.map(({ label, keys }) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" fw={400}>
                {label}
              </Table.Th>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={6} style={{ whiteSpace: 'nowrap' }}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
