/** What a test process stops when its tests are over, known to those who started it and to the hook that ends it. */
const stops: (() => Promise<void>)[] = [];

export function atEnd(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** The last one first. */
export async function stopAll(): Promise<void> {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
}
