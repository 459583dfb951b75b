/** The Prometheus metrics, read while the page is open. */
import { queryOptions } from '@tanstack/react-query';
import { requestAnswer } from './request.js';

/** Milliseconds between two readings. */
export const BETWEEN = 5_000;

/** Maximum readings: ten minutes. */
const KEPT = 120;

export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface Reading {
  /** Milliseconds since 1970. */
  at: number;
  samples: readonly Sample[];
}

/** All readings since the page was opened, newest last. */
export const readingsQuery = () =>
  queryOptions({
    queryKey: ['metrics'],
    refetchInterval: BETWEEN,
    staleTime: 0,
    gcTime: Infinity,
    structuralSharing: false,
    queryFn: async ({ client, queryKey, signal }): Promise<Reading[]> => {
      const before = client.getQueryData<Reading[]>(queryKey) ?? [];
      const text = await (await requestAnswer('/metrics', { signal })).text();
      return [...before.slice(1 - KEPT), { at: Date.now(), samples: samplesOf(text) }];
    },
  });

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Parses the Prometheus text format as this service writes it. */
function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const found = [...labels.matchAll(LABEL)].map(([, label = '', said = '']) => [label, unescaped(said)]);
    return [{ name, labels: Object.fromEntries(found) as Record<string, string>, value: numberOf(value) }];
  });
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

const numberOf = (text: string | undefined): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
