/** Exports of the whole schema, now or in the past, and the import. */
import snapshotIcon from 'icon:download';
import { Menu, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { request, requestAnswer } from '../../service/request.js';
import { useMay } from '../../service/session.js';
import { Glyph } from '../glyph.js';
import { saveAnswer, saveText } from '../save.js';
import type { OwnSnapshot } from './directus-form.js';
import { SteadyButton } from '../buttons.js';
import { messages } from '../messages.js';

const words = messages.snapshot;

const EXPORTS = [
  { name: 'json', label: 'JSON', ending: 'json' },
  { name: 'yaml', label: 'YAML', ending: 'yaml' },
  { name: 'sql', label: words.sqlScript, ending: 'sql' },
  { name: 'csv', label: 'CSV', ending: 'csv' },
  { name: 'csv_utf8', label: words.csvForSpreadsheets, ending: 'csv' },
  { name: 'xml', label: 'XML', ending: 'xml' },
] as const;

interface Props {
  /** A position or a time. The current schema by default. */
  at?: string;
  size?: 'xs' | 'sm' | 'compact-sm';
}

/** Renders nothing for readers. For the current schema, users who may propose can also import. */
export function SnapshotMenu({ at, size = 'xs' }: Props) {
  const mayRead = useMay('readRequests');
  const mayBring = useMay('propose');
  const navigate = useNavigate();
  const save = useMutation({ mutationFn: (work: () => Promise<void>) => work() });
  if (!mayRead) return null;
  const download = async ({ name, ending }: (typeof EXPORTS)[number]) =>
    saveAnswer(await requestAnswer('getPastSnapshot', { query: { at, export: name } }), `snapshot.${ending}`);
  return (
    <Menu shadow="md" width={280} position={at === undefined ? 'top-start' : 'bottom-start'} withinPortal={false}>
      <Menu.Target>
        <SteadyButton
          variant="default"
          size={size}
          loading={save.isPending}
          leftSection={<Glyph path={snapshotIcon} size={16} />}
        >
          {words.snapshot}
        </SteadyButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{at === undefined ? words.download : words.downloadAt}</Menu.Label>
        {EXPORTS.map((format) => (
          <Menu.Item key={format.name} onClick={() => save.mutate(() => download(format))}>
            {format.label}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => save.mutate(() => saveDirectusForm(at))}>{words.directus}</Menu.Item>
        {mayBring && at === undefined && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => void navigate({ to: '/review', search: { bring: true } })}>
              {words.import}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
      {save.error !== null && (
        <Text size="xs" role="alert" c="var(--mantine-color-error)">
          {save.error.message}
        </Text>
      )}
    </Menu>
  );
}

async function saveDirectusForm(at: string | undefined): Promise<void> {
  const [{ toDirectusForm }, { yamlText }, snapshot] = await Promise.all([
    import('./directus-form.js'),
    import('../../service/yaml.js'),
    request('getPastSnapshot', { query: { at } }),
  ]);
  saveText('snapshot-directus.yaml', 'application/yaml', yamlText(toDirectusForm(snapshot as OwnSnapshot)));
}
