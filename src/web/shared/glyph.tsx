/** A Material Symbol that is part of the app. Decoration: what it means stands beside it, or in the label of its button. */
export function Glyph({ path, size = 20 }: { path: string; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="currentColor" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}
