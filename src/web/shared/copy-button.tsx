/** Puts a text on the clipboard, and says so. */
import copyIcon from 'icon:content_copy';
import doneIcon from 'icon:check';
import { ActionIcon, Tooltip } from '@mantine/core';
import { Glyph } from './glyph.js';
import { useCopy } from './use-copy.js';

/** Says "Copied" for two seconds, only where the browser did it. */
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
