/** The icon that a collection's metadata names, fetched by itself and kept for as long as the page is open. */
import { useQuery } from '@tanstack/react-query';
import { Glyph } from './glyph.js';

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
  /** Shown where there is no such icon. */
  otherwise: string;
  size?: number;
}

/** Nothing is drawn while it is fetched. A name that can't be one isn't asked for. */
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
