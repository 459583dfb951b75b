/** Colours of collections, as their metadata names them. */
const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

/** What isn't plainly a colour is none; undefined lets the surroundings decide. */
const colorOf = (color: string | null): string | undefined => (color !== null && COLOR.test(color) ? color : undefined);

/** The same for what is drawn in it: dark enough on a light page, light enough on a dark one. White would be nothing. */
export function inkOf(color: string | null): string | undefined {
  const plain = colorOf(color);
  return plain && `light-dark(oklch(from ${plain} min(l, 0.64) c h), oklch(from ${plain} max(l, 0.62) c h))`;
}
