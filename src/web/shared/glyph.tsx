import { useQuery } from '@tanstack/react-query';

/** A Material Symbol of the app. Decorative: the text or label next to it has the meaning. */
export function Glyph({ path, size = 20 }: { path: string; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="currentColor" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}

const NAME = /^[a-z0-9_]{1,64}$/;

async function readPath(name: string): Promise<string> {
  if (!NAME.test(name)) return '';
  const answer = await fetch(`/app/icons/${__ICONS__}/${name}.svg`).catch(() => null);
  if (answer === null || answer.status !== 200) return '';
  const text = await answer.text();
  return [...text.matchAll(/ d="([^"]+)"/g)].map(([, path]) => path).join('');
}

interface Props {
  name: string | null;
  /** Shown if the icon does not exist. */
  otherwise: string;
  size?: number;
}

/** Renders nothing while loading. Invalid names are not requested. */
export function MaterialIcon({ name, otherwise, size = 20 }: Props) {
  const { data } = useQuery({
    queryKey: ['icon', name],
    queryFn: () => readPath(name ?? ''),
    enabled: name !== null,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  return <Glyph path={name === null || data === '' ? otherwise : (data ?? '')} size={size} />;
}

/* Colours of collections. */

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
