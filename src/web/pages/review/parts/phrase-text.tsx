/** A sentence with its names standing out, as text whatever they hold. */
import type { Phrase } from '../model/phrase.js';
import classes from './parts.module.css';

/** Each name stands by itself where it is written from right to left. */
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
