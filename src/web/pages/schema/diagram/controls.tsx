import { ActionIcon, Badge, Button, Group, SegmentedControl, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useReactFlow } from '@xyflow/react';
import plusIcon from 'icon:add';
import closeIcon from 'icon:close';
import saveIcon from 'icon:download';
import fitIcon from 'icon:fit_screen';
import folderIcon from 'icon:folder';
import historyIcon from 'icon:history';
import minusIcon from 'icon:remove';
import tableIcon from 'icon:table';
import type { ReactNode } from 'react';
import { isEmpty } from '../../../draft/model.js';
import { useDraft, useDraftedFields, useDraftedRelations } from '../../../draft/store.js';
import { infoQuery } from '../../../service/queries.js';
import type { ListedCollection } from '../../../service/types.js';
import { Glyph, MaterialIcon, inkOf } from '../../../shared/glyph.js';
import { Name, visibleName } from '../../../shared/name.js';
import { saveBlob, saveText } from '../../../shared/save.js';
import { abbreviate } from '../../../shared/text.js';
import { type PlacedGraph, mermaidOf, svgOf } from '../graph/graph.js';
import { messages } from '../messages.js';
import type { Replay } from '../replay/use-replay.js';
import type { Depth, SchemaSearch } from '../search.js';
import { MarkSign } from '../tree.js';
import classes from './diagram.module.css';

interface Props {
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  isPast: boolean;
  mayGoBack: boolean;
}

/** The margins of the drawing, so that overlays do not cover it. */
export const FITTED = { padding: { top: '64px', bottom: '28px', left: '64px', right: '28px' }, maxZoom: 1.1 } as const;

const DEPTHS = [
  { value: 'names', label: messages.diagram.names },
  { value: 'keys', label: messages.diagram.keys },
  { value: 'columns', label: messages.diagram.columns },
];

const STEPS = [
  { value: '0', label: messages.diagram.all },
  { value: '1', label: messages.diagram.oneStep },
  { value: '2', label: messages.diagram.twoSteps },
];

/**
 * Must be inside a ReactFlowProvider.
 * @param props.mayGoBack true to offer the history and drift, if there is a log and the page shows the current schema
 */
export function Controls({ search, onChange, isPast, mayGoBack }: Props) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <>
      <div className={classes.depth}>
        <SegmentedControl
          size="xs"
          role="radiogroup"
          aria-label={messages.diagram.details}
          data={DEPTHS}
          value={search.depth ?? 'keys'}
          onChange={(depth) => onChange({ depth: depth as Depth })}
        />
        {search.c !== undefined && (
          <SegmentedControl
            size="xs"
            role="radiogroup"
            aria-label={messages.diagram.distance}
            data={STEPS}
            value={String(search.near ?? 0)}
            onChange={(near) => onChange({ near: near === '0' ? undefined : (Number(near) as 1 | 2) })}
          />
        )}
        {search.folder !== undefined && (
          <Button
            size="xs"
            variant="filled"
            leftSection={<Glyph path={folderIcon} size={16} />}
            rightSection={<Glyph path={closeIcon} size={16} />}
            aria-label={messages.diagram.leaveFolder(visibleName(search.folder))}
            onClick={() => onChange({ folder: undefined })}
          >
            {abbreviate(search.folder, 30)}
          </Button>
        )}
        {!isPast && <Legend />}
        {mayGoBack && !isPast && <Checks search={search} onChange={onChange} />}
      </div>
      <ActionIcon.Group orientation="vertical" className={classes.zoom}>
        <ActionIcon variant="default" size="lg" aria-label={messages.diagram.zoomIn} onClick={() => void zoomIn()}>
          <Glyph path={plusIcon} />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label={messages.diagram.zoomOut} onClick={() => void zoomOut()}>
          <Glyph path={minusIcon} />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label={messages.diagram.fit} onClick={() => void fitView(FITTED)}>
          <Glyph path={fitIcon} />
        </ActionIcon>
      </ActionIcon.Group>
    </>
  );
}

/** Compares the diagram with the database, or opens the replay. Renders nothing while the log is empty. */
function Checks({ search, onChange }: Pick<Props, 'search' | 'onChange'>) {
  const { data: info } = useQuery(infoQuery());
  if (info === undefined || info.position === 0) return null;
  return (
    <div className={classes.checks}>
      <Button
        size="xs"
        variant={search.drift === true ? 'filled' : 'default'}
        aria-pressed={search.drift === true}
        onClick={() => onChange({ drift: search.drift === true ? undefined : true })}
      >
        {messages.diagram.compare}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<Glyph path={historyIcon} size={16} />}
        onClick={() => onChange({ at: info.position })}
      >
        {messages.diagram.replay}
      </Button>
    </div>
  );
}

const PENDING = ['made', 'changed', 'removed'] as const;

/** Explains the marks of the draft. Renders nothing without a draft. */
function Legend() {
  const { draft } = useDraft();
  if (isEmpty(draft)) return null;
  return (
    <div className={classes.legend}>
      <span id="pending">{messages.diagram.pending}</span>
      <ul aria-labelledby="pending">
        {PENDING.map((mark) => (
          <li key={mark}>
            <MarkSign mark={mark} />
            <span aria-hidden="true">{messages.marks[mark]}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/* Saves the diagram as a file. */

/** Pixels per unit of the drawing, for screens with a high resolution. */
const SCALE = 2;
/** Maximum width and height in pixels. Browsers return an empty image above their own limit. */
const MAX_PIXELS = 8_192;

/** Draws an SVG document. */
async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { width, height } = image;
    const scale = Math.min(SCALE, MAX_PIXELS / Math.max(width, height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob === null ? reject(new Error(messages.diagram.cannotDraw)) : resolve(blob))),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param props.title the title of the drawing */
export function SaveMenu({ placed, title }: { placed: PlacedGraph; title: string }) {
  return (
    <Menu position="top-start" shadow="md" width={200} withinPortal={false}>
      <Menu.Target>
        <ActionIcon
          variant="default"
          size="lg"
          className={classes.save}
          aria-label={messages.diagram.save}
          title={messages.diagram.save}
        >
          <Glyph path={saveIcon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => saveText('schema.svg', 'image/svg+xml', svgOf(placed, title))}>{'SVG'}</Menu.Item>
        <Menu.Item onClick={() => void pngOf(svgOf(placed, title)).then((png) => saveBlob('schema.png', png))}>
          {'PNG'}
        </Menu.Item>
        <Menu.Item onClick={() => saveText('schema.mmd', 'text/plain', mermaidOf(placed))}>{'Mermaid'}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/* The selected collection. */

interface ChosenCardProps {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  replay?: Replay | undefined;
}

/**
 * Shows the selected collection. Renders nothing without a selection, or if the collection does not exist at that point
 * in time.
 * @param props.onChange called with undefined to clear the selection
 */
export function ChosenCard({ collections, search, onChange, replay }: ChosenCardProps) {
  const listed = collections.find(({ collection }) => collection === search.c);
  if (listed === undefined) return null;
  const { collection, meta, schema } = listed;
  return (
    <aside className={classes.card} aria-label={messages.card.about(visibleName(collection))}>
      <Group wrap="nowrap" gap="xs" align="center">
        <span style={{ color: inkOf(meta.color), display: 'grid' }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} />
        </span>
        <Text fw={600} truncate flex={1} component="h2" size="md">
          <Name of={collection} />
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={messages.card.clear}
          onClick={() => onChange({ c: undefined, near: undefined })}
        >
          <Glyph path={closeIcon} size={18} />
        </ActionIcon>
      </Group>
      {meta.note !== null && (
        <Text size="sm" c="dimmed" mt={4} lineClamp={3}>
          {abbreviate(meta.note, 300)}
        </Text>
      )}
      <Group gap={6} mt="sm">
        {schema === null ? (
          <Fact>{messages.card.folder}</Fact>
        ) : (
          replay === undefined && <Facts collection={collection} />
        )}
        {replay && schema !== null && <PastFacts collection={collection} replay={replay} />}
        {meta.singleton && <Fact>{messages.tree.singleton}</Fact>}
        {meta.hidden && <Fact>{messages.tree.hidden}</Fact>}
      </Group>
      <FolderButton collections={collections} search={search} onChange={onChange} />
      <Button
        component={Link}
        to="/collections/$name"
        params={{ name: collection } as never}
        size="xs"
        fullWidth
        mt="sm"
      >
        {messages.card.open}
      </Button>
    </aside>
  );
}

/** Renders nothing unless the selected collection contains others. */
function FolderButton({ collections, search: { c, folder }, onChange }: ChosenCardProps) {
  if (!collections.some(({ meta }) => meta.group === c)) return null;
  return (
    <Button
      variant="default"
      size="xs"
      fullWidth
      mt="sm"
      onClick={() => onChange({ folder: folder === c ? undefined : c, near: undefined })}
    >
      {folder === c ? messages.card.allFolders : messages.card.onlyFolder}
    </Button>
  );
}

function Facts({ collection }: { collection: string }) {
  const fields = useDraftedFields(collection).data?.filter(({ mark }) => mark !== 'removed');
  const relations = useDraftedRelations().data?.filter(({ mark }) => mark !== 'removed');
  const out = relations?.filter(({ document }) => document.many_collection === collection).length;
  const into = relations?.filter(({ document }) => document.one_collection === collection).length;
  return (
    <>
      {fields && <Fact>{messages.card.fields(fields.length)}</Fact>}
      {out !== undefined && out > 0 && <Fact>{messages.card.outgoing(out)}</Fact>}
      {into !== undefined && into > 0 && <Fact>{messages.card.incoming(into)}</Fact>}
    </>
  );
}

function PastFacts({ collection, replay: { moment } }: { collection: string; replay: Replay }) {
  const count = moment.fields?.get(collection)?.size;
  return count === undefined ? null : <Fact>{messages.card.fieldsThen(count)}</Fact>;
}

function Fact({ children }: { children: ReactNode }) {
  return (
    <Badge variant="default" tt="none" fw={500}>
      {children}
    </Badge>
  );
}
