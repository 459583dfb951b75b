/** Copies text, also over plain http, where browsers offer no clipboard API. */
import { useEffect, useRef, useState } from 'react';

/** Milliseconds for which it is shown. */
const SAID = 2_000;

/** `copied` is true for two seconds, and stays false if the browser refuses. */
export function useCopy(): { copy: (text: string) => void; copied: boolean } {
  const [copied, setCopied] = useState(false);
  const ending = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(ending.current), []);
  const say = (isDone: boolean) => {
    clearTimeout(ending.current);
    setCopied(isDone);
    ending.current = setTimeout(() => setCopied(false), SAID);
  };
  const copy = (text: string) => {
    const { clipboard } = navigator as { clipboard?: Clipboard };
    if (clipboard === undefined) say(copySelected(text));
    else
      clipboard.writeText(text).then(
        () => say(true),
        () => say(copySelected(text)),
      );
  };
  return { copy, copied };
}

/** Beside the focused element, because a dialog would take the focus back from elsewhere. */
function copySelected(text: string): boolean {
  const holder = document.activeElement;
  const place = document.createElement('textarea');
  place.value = text;
  place.readOnly = true;
  place.setAttribute('aria-hidden', 'true');
  (holder?.parentElement ?? document.body).append(place);
  place.select();
  const isDone = document.execCommand('copy');
  place.remove();
  if (holder instanceof HTMLElement) holder.focus({ preventScroll: true });
  return isDone;
}
