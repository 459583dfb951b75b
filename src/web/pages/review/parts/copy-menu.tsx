/** Exports one change: as a command, a diff, or YAML. */
import copyIcon from 'icon:content_copy';
import { ActionIcon, Menu } from '@mantine/core';
import { addressOf } from '../../../service/review-queries.js';
import { Glyph } from '../../../shared/glyph.js';
import { useCopy } from '../../../shared/use-copy.js';
import { curlFor } from '../model/commands.js';
import { type Item, chosenOf } from '../model/items.js';
import { reasonFor } from '../model/reason.js';
import { nameOf } from '../model/sentences.js';
import type { Review } from '../use-review.js';

/** Contains only this change to the reviewed schema, and no token. */
export function CopyMenu({ item, review }: { item: Item; review: Review }) {
  const { copy, copied } = useCopy();
  const { items, applying, original } = review;
  const others = () => new Set(items.filter(({ key }) => key !== item.key).map(({ key }) => key));
  const own = () => chosenOf(original, items, others()).diff;
  const body = () => ({ hash: applying.hash, diff: own() });
  const asCurl = () =>
    curlFor({
      origin: location.origin,
      path: addressOf(applying),
      body: JSON.stringify(body()),
      reason: reasonFor([item]),
    });
  const asYaml = async () => copy((await import('../../../service/yaml.js')).yamlText(own()));
  return (
    <Menu position="bottom-end" shadow="md" withinPortal={false}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={copied ? 'Copied' : `Copy ${nameOf(item)} as …`}
        >
          <Glyph path={copyIcon} size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy(asCurl())}>Copy as curl</Menu.Item>
        <Menu.Item onClick={() => copy(JSON.stringify(body(), null, 2))}>Copy as a diff</Menu.Item>
        <Menu.Item onClick={() => void asYaml()}>Copy as YAML</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
