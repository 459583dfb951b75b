/** Saves files that need the session, which a plain link lacks. */

/** Milliseconds until the URL is revoked, long enough for the download to begin. */
const KEPT = 60_000;

export function saveBlob(name: string, content: Blob): void {
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

/** Saves a response under the name that the service sends. */
export async function saveAnswer(answer: Response, otherwise: string): Promise<void> {
  const [, name = otherwise] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? [];
  saveBlob(name, await answer.blob());
}
