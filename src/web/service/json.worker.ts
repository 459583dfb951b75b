/** Parses JSON in a worker. Long arrays are transferred in requested pieces, so that none blocks the page. */

export type ReaderMessage =
  | { kind: 'piece'; path: readonly string[]; elements: readonly unknown[] }
  /** The value. Arrays that are sent in pieces are empty in it. */
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; message: string };

/** Elements per piece. */
const PIECE = 500;

let goOn: () => void = () => undefined;

const post = (message: ReaderMessage): void => postMessage(message);

async function postValue(value: unknown, path: readonly string[]): Promise<void> {
  if (Array.isArray(value)) return postArray(value, path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) await postValue(member, [...path, name]);
}

async function postArray(array: unknown[], path: readonly string[]): Promise<void> {
  if (array.length <= PIECE) return;
  const elements = array.splice(0);
  for (let from = 0; from < elements.length; from += PIECE) {
    const requested = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    post({ kind: 'piece', path, elements: elements.slice(from, from + PIECE) });
    await requested;
  }
}

async function read(bytes: ArrayBuffer): Promise<void> {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  await postValue(value, []);
  post({ kind: 'done', value });
}

onmessage = ({ data }: MessageEvent<ArrayBuffer | 'more'>) => {
  if (data === 'more') goOn();
  else read(data).catch((error: unknown) => post({ kind: 'failed', message: String(error) }));
};
