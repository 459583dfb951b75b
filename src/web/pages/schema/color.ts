/** Colours of collections, as their metadata names them. */
const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

/** What isn't plainly a colour is none; undefined lets the surroundings decide. */
export const colorOf = (color: string | null): string | undefined =>
  color !== null && COLOR.test(color) ? color : undefined;
