const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

/** Only valid colours; undefined inherits. */
const colorOf = (color: string | null): string | undefined => (color !== null && COLOR.test(color) ? color : undefined);

/** The same for lines and text: readable on light and dark backgrounds. White would be invisible. */
export function inkOf(color: string | null): string | undefined {
  const plain = colorOf(color);
  return plain && `light-dark(oklch(from ${plain} min(l, 0.64) c h), oklch(from ${plain} max(l, 0.62) c h))`;
}
