/** Parses JSON in a worker. Long arrays are transferred in requested pieces, so that none blocks the page. */

export type FromReader =
  | { kind: 'piece'; path: readonly string[]; elements: readonly unknown[] }
  /** Arrays sent in pieces are empty here. */
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; message: string };

/** Elements per piece. */
const PIECE = 500;

let goOn: () => void = () => undefined;

const say = (message: FromReader): void => postMessage(message);

async function give(value: unknown, path: readonly string[]): Promise<void> {
  if (Array.isArray(value)) return giveArray(value, path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) await give(member, [...path, name]);
}

async function giveArray(array: unknown[], path: readonly string[]): Promise<void> {
  if (array.length <= PIECE) return;
  const elements = array.splice(0);
  for (let from = 0; from < elements.length; from += PIECE) {
    const requested = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    say({ kind: 'piece', path, elements: elements.slice(from, from + PIECE) });
    await requested;
  }
}

async function read(bytes: ArrayBuffer): Promise<void> {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  await give(value, []);
  say({ kind: 'done', value });
}

onmessage = ({ data }: MessageEvent<ArrayBuffer | 'more'>) => {
  if (data === 'more') goOn();
  else read(data).catch((error: unknown) => say({ kind: 'failed', message: String(error) }));
};
