import { ActionIcon, Button, SegmentedControl, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useReactFlow } from '@xyflow/react';
import plusIcon from 'icon:add';
import closeIcon from 'icon:close';
import saveIcon from 'icon:download';
import fitIcon from 'icon:fit_screen';
import folderIcon from 'icon:folder';
import historyIcon from 'icon:history';
import minusIcon from 'icon:remove';
import { infoQuery } from '../../../service/queries.js';
import { Glyph } from '../../../shared/glyph.js';
import { named } from '../../../shared/name.js';
import { saveBlob, saveText } from '../../../shared/save.js';
import { abbreviate } from '../../../shared/text.js';
import type { PlacedGraph } from '../graph/graph.js';
import type { Depth, SchemaSearch } from '../search.js';
import classes from './diagram.module.css';
import { mermaidOf, svgOf } from './exports.js';

interface Props {
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  isPast: boolean;
  mayGoBack: boolean;
}

/** The margins of the drawing, so that overlays do not cover it. */
export const FITTED = { padding: { top: '64px', bottom: '28px', left: '64px', right: '28px' }, maxZoom: 1.1 } as const;

const DEPTHS = [
  { value: 'names', label: 'Names' },
  { value: 'keys', label: 'Keys' },
  { value: 'columns', label: 'All columns' },
];

const STEPS = [
  { value: '0', label: 'All' },
  { value: '1', label: '1 step' },
  { value: '2', label: '2 steps' },
];

/**
 * Must be inside a ReactFlowProvider.
 * @param props.mayGoBack true to offer the history and drift, if there is a log and the page shows the current schema
 */
export function Controls({ search, onChange, isPast, mayGoBack }: Props) {
  const { data: info } = useQuery(infoQuery());

  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <>
      <div className={classes.depth}>
        <SegmentedControl
          size="xs"
          role="radiogroup"
          aria-label="Table details"
          data={DEPTHS}
          value={search.depth ?? 'keys'}
          onChange={(depth) => onChange({ depth: depth as Depth })}
        />
        {search.c !== undefined && (
          <SegmentedControl
            size="xs"
            role="radiogroup"
            aria-label="Distance from the selected table"
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
            aria-label={named`Folder ${search.folder}: show all folders`}
            onClick={() => onChange({ folder: undefined })}
          >
            {abbreviate(search.folder, 30)}
          </Button>
        )}
        {mayGoBack && !isPast && info !== undefined && info.position > 0 && (
          <div className={classes.checks}>
            <Button
              size="xs"
              variant={search.drift === true ? 'filled' : 'default'}
              aria-pressed={search.drift === true}
              onClick={() => onChange({ drift: search.drift === true ? undefined : true })}
            >
              Compare with the database
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<Glyph path={historyIcon} size={16} />}
              onClick={() => onChange({ at: info.position })}
            >
              Replay history
            </Button>
          </div>
        )}
      </div>
      <ActionIcon.Group orientation="vertical" className={classes.zoom}>
        <ActionIcon variant="default" size="lg" aria-label="Zoom in" onClick={() => void zoomIn()}>
          <Glyph path={plusIcon} />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label="Zoom out" onClick={() => void zoomOut()}>
          <Glyph path={minusIcon} />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label="Fit to view" onClick={() => void fitView(FITTED)}>
          <Glyph path={fitIcon} />
        </ActionIcon>
      </ActionIcon.Group>
    </>
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
      canvas.toBlob((blob) =>
        blob === null ? reject(new Error('The browser cannot draw the diagram.')) : resolve(blob),
      ),
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
          aria-label="Save the diagram"
          title="Save the diagram"
        >
          <Glyph path={saveIcon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => saveText('schema.svg', 'image/svg+xml', svgOf(placed, title))}>SVG</Menu.Item>
        <Menu.Item onClick={() => void pngOf(svgOf(placed, title)).then((png) => saveBlob('schema.png', png))}>
          PNG
        </Menu.Item>
        <Menu.Item onClick={() => saveText('schema.mmd', 'text/plain', mermaidOf(placed))}>Mermaid</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
