const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

/** Returns a valid colour. Undefined otherwise, so that the colour is inherited. */
const colorOf = (color: string | null): string | undefined => (color !== null && COLOR.test(color) ? color : undefined);

/**
 * Returns the colour for lines and text, which must be readable on light and dark backgrounds. White would be
 * invisible.
 */
export function inkOf(color: string | null): string | undefined {
  const plain = colorOf(color);
  return plain && `light-dark(oklch(from ${plain} min(l, 0.64) c h), oklch(from ${plain} max(l, 0.62) c h))`;
}
