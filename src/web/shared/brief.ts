/** The beginning of a text on one line. */
export function brief(text: string, length = 160): string {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const letters = Array.from(line);
  return letters.length > length ? `${letters.slice(0, length - 1).join('')}…` : line;
}
