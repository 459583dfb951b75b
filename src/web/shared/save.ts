/** Saves files that need the session, which a plain link lacks. */
import { requestAnswer } from '../service/request.js';

/** Milliseconds until the URL is revoked, long enough for the download to begin. */
const KEPT = 60_000;

function saveBlob(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
}

/** @param type a media type; the text is written as UTF-8 */
export const saveText = (name: string, type: string, text: string): void =>
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));

/** Saves the response under the name that the service sends. */
export async function saveAnswer(path: string, otherwise: string): Promise<void> {
  const answer = await requestAnswer(path);
  const [, name = otherwise] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? [];
  saveBlob(name, await answer.blob());
}
