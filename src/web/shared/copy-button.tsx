import copyIcon from 'icon:content_copy';
import doneIcon from 'icon:check';
import { ActionIcon, Tooltip } from '@mantine/core';
import { Glyph } from './glyph.js';
import { useCopy } from './use-copy.js';

/** Shows "Copied" for two seconds if the browser allowed it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { copy, copied } = useCopy();
  const says = copied ? 'Copied' : label;
  return (
    <Tooltip label={says}>
      <ActionIcon variant="subtle" color="gray" aria-label={says} onClick={() => copy(text)}>
        <Glyph path={copied ? doneIcon : copyIcon} size={18} />
      </ActionIcon>
    </Tooltip>
  );
}
