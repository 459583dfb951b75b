/** Mermaid text → an SVG that is legible on light and dark pages and loads nothing from the network. */
import { renderMermaidSVG } from 'beautiful-mermaid';

/** Boxes fit text in the widest of these fonts. */
const FONTS = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

const LIGHT =
  '--bg:#ffffff;--_text:#1f2328;--_text-sec:#424a53;--_text-muted:#57606a;--_text-faint:#8c959f;--_line:#57606a;' +
  '--_arrow:#24292f;--_node-fill:#eef4ff;--_node-stroke:#6e93c8;--_group-fill:#f8f9fb;--_group-hdr:#e6e9ee;' +
  '--_inner-stroke:#d0d7de;--_key-badge:#e6e9ee';

const DARK =
  '--bg:#0d1117;--_text:#e6edf3;--_text-sec:#c2cbd4;--_text-muted:#9aa5b1;--_text-faint:#6e7681;--_line:#9aa5b1;' +
  '--_arrow:#e6edf3;--_node-fill:#16243a;--_node-stroke:#4f7cba;--_group-fill:#11161d;--_group-hdr:#1c232c;' +
  '--_inner-stroke:#30363d;--_key-badge:#1c232c';

const STYLE = `<style>
  svg { ${LIGHT} }
  @media (prefers-color-scheme: dark) { svg { ${DARK} } }
  text { font-family: ${FONTS}; }
  text[fill='var(--_text-muted)'] { paint-order: stroke; stroke: var(--bg); stroke-width: 4px; }
</style>`;

/** Renders a Mermaid diagram. The same text always gives the same bytes. */
export function renderDiagram(source: string): string {
  const drawn = renderMermaidSVG(source, { padding: 16, nodeSpacing: 28, layerSpacing: 48 });
  return (
    drawn
      // The renderer's own style loads a font and mixes colours. Ours does neither.
      .replace(/<style>.*?<\/style>/s, STYLE)
      .replace(/ style="--bg:[^"]*"/, ' style="background:var(--bg)"')
      .replace(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10))
      .trimEnd() + '\n'
  );
}
