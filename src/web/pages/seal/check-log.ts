import type { FromSeal, Result, ToSeal } from './messages.js';

export interface Checking {
  wanted: readonly number[];
  onProgress: (checked: number) => void;
  signal: AbortSignal;
}

/** @throws errors of the stream, and when it is aborted */
export async function checkLog(
  bytes: ReadableStream<Uint8Array>,
  { wanted, onProgress, signal }: Checking,
): Promise<Result> {
  const worker = new Worker(new URL('./seal.worker.ts', import.meta.url), { type: 'module' });
  const reader = bytes.getReader();
  const say = (message: ToSeal, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
  try {
    return await new Promise<Result>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('The verification was stopped.')));
      worker.onerror = ({ message }) => reject(new Error(`The verification failed to run. ${message}`));
      const give = async (): Promise<void> => {
        const { value } = await reader.read();
        say({ kind: 'chunk', bytes: value ?? null }, value === undefined ? [] : [value.buffer as ArrayBuffer]);
      };
      worker.onmessage = ({ data }: MessageEvent<FromSeal>) => {
        if (data.kind === 'more') give().catch(reject);
        else if (data.kind === 'progress') onProgress(data.checked);
        else if (data.kind === 'failed') reject(new Error(data.message));
        else resolve(data);
      };
      say({ kind: 'check', wanted: [...wanted] });
    });
  } finally {
    worker.terminate();
    await reader.cancel().catch(() => undefined);
  }
}
