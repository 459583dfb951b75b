/** Recognizes common clients. The full text is a tooltip. */

const BROWSERS: readonly [sign: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const SYSTEMS: readonly [sign: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

const LONGEST = 60;

/**
 * `Firefox on Linux`. An unknown client is shown as sent, truncated to 60 characters.
 * @param agent the `User-Agent`; null if none was sent
 */
export function clientOf(agent: string | null): string {
  if (agent === null) return 'Unknown client';
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return agent.length > LONGEST ? `${agent.slice(0, LONGEST)}…` : agent;
}
