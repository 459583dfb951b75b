import { objectDocument } from '../../../schema/model/objects.js';
import { privilegeLines } from '../../../schema/model/privileges.js';
import { messages } from './messages.js';
import { lineDiff, visibleSql } from '../text.js';
import classes from './definition-diff.module.css';

const LINE_WORDS = { '-': messages.before, '+': messages.after } as const;

/** Returns the lines of a definition. Null for values that are no definition. */
export function definitionLines(value: unknown): string | null {
  const { data } = objectDocument.shape.definition.safeParse(value);
  if (data === undefined) return null;
  return visibleSql(typeof data === 'string' ? data : privilegeLines(data));
}

/** Each line is announced to screen readers as before or after. */
export function DefinitionDiff({ before, after }: { before: string; after: string }) {
  return (
    <div className={classes.lines} role="group" aria-label={messages.definitionByLine} tabIndex={0}>
      {lineDiff(before, after).map(({ sign, text }, index) =>
        sign === ' ' ? (
          <div key={index}>{`  ${text}`}</div>
        ) : (
          <div key={index} className={sign === '-' ? classes.lineBefore : classes.lineAfter}>
            <span className={classes.hidden}>{LINE_WORDS[sign]}: </span>
            {`${sign} ${text}`}
          </div>
        ),
      )}
    </div>
  );
}
