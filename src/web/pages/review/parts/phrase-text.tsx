import type { Phrase } from '../model/phrase.js';
import classes from './parts.module.css';

/** Each name is isolated, because it may be written from right to left. */
export function PhraseText({ phrase }: { phrase: Phrase }) {
  return (
    <span>
      {phrase.map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <bdi key={`${index} ${part.name}`} className={classes.name}>
            {part.name}
          </bdi>
        ),
      )}
    </span>
  );
}
