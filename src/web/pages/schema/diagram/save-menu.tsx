/** Saves the diagram as a file. */
import saveIcon from 'icon:download';
import { ActionIcon, Menu } from '@mantine/core';
import { Glyph } from '../../../shared/glyph.js';
import { saveBlob, saveText } from '../../../shared/save.js';
import type { PlacedGraph } from '../graph/graph.js';
import classes from './diagram.module.css';
import { mermaidOf } from './mermaid-export.js';
import { svgOf } from './svg-export.js';

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
