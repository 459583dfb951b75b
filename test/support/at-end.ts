/** Cleanup callbacks of a test process, run by the root hook. */
const stops: (() => Promise<void>)[] = [];

export function atEnd(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** The last one first. */
export async function stopAll(): Promise<void> {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
}
