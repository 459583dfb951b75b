import downloadIcon from 'icon:download';
import { ActionIcon, Menu, Tooltip } from '@mantine/core';
import { addressOf } from '../../../service/review-queries.js';
import { saveText } from '../../../shared/save.js';
import { Glyph } from '../../../shared/glyph.js';
import { useCopy } from '../../../shared/use-copy.js';
import { curlFor } from '../model/commands.js';
import { scriptOf } from '../model/plan.js';
import type { Review } from '../use-review.js';

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** Without unselected items. SQL is available with a plan. */
export function ExportMenu({ review }: { review: Review }) {
  const { copy, copied } = useCopy();
  const { applying, plan, why } = review;
  const sent = () => ({ hash: applying.hash, diff: applying.diff() });
  const curl = () =>
    curlFor({ origin: location.origin, path: addressOf(applying), body: JSON.stringify(sent()), reason: why });
  const asYaml = async () => (await import('../../../service/yaml.js')).yamlText(sent());
  const label = copied ? 'Copied' : 'Download or copy';
  return (
    <Menu position="top-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <Tooltip label={label}>
          <ActionIcon variant="default" size={36} aria-label={label}>
            <Glyph path={downloadIcon} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Download</Menu.Label>
        <Menu.Item onClick={() => saveText('diff.json', JSON_TYPE, JSON.stringify(sent(), null, 2))}>
          Diff (JSON)
        </Menu.Item>
        <Menu.Item onClick={() => void asYaml().then((text) => saveText('diff.yaml', YAML_TYPE, text))}>
          Diff (YAML)
        </Menu.Item>
        {plan !== undefined && (
          <Menu.Item onClick={() => saveText('change.sql', 'application/sql', scriptOf(plan))}>SQL</Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>Copy</Menu.Label>
        <Menu.Item onClick={() => copy(curl())}>As curl</Menu.Item>
        <Menu.Item onClick={() => copy(JSON.stringify(sent(), null, 2))}>As a diff</Menu.Item>
        <Menu.Item onClick={() => void asYaml().then(copy)}>As YAML</Menu.Item>
        {plan !== undefined && <Menu.Item onClick={() => copy(scriptOf(plan))}>As SQL</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
