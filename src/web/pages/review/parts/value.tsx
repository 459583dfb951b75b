import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { brief } from '../../../shared/brief.js';
import { valueText } from '../../../shared/changes/sentences.js';
import classes from './parts.module.css';

const SHORT = 240;
/** The maximum length on the page. */
const LONGEST = 50_000;

/**
 * Distinguishes undefined, null and empty text.
 * @param props.label for screen readers
 */
export function Value({ of, label }: { of: unknown; label: string }) {
  if (of === undefined || of === null) return <span className={classes.nothing}>{of === null ? 'null' : 'none'}</span>;
  const text = valueText(of);
  if (text.length > SHORT) return <LongText text={text} label={label} />;
  return <bdi className={classes.value}>{text === '' ? '(empty text)' : text}</bdi>;
}

function LongText({ text, label }: { text: string; label: string }) {
  const [isOpen, setOpen] = useState(false);
  const says = isOpen ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`;
  return (
    <>
      <bdi className={isOpen ? classes.long : classes.value}>
        {isOpen ? text.slice(0, LONGEST) : brief(text, SHORT)}
      </bdi>
      <UnstyledButton
        className={classes.more}
        aria-expanded={isOpen}
        aria-label={`${says} of ${label}`}
        onClick={() => setOpen(!isOpen)}
      >
        {says}
      </UnstyledButton>
      {isOpen && text.length > LONGEST && (
        <span className={classes.nothing}>
          … and {(text.length - LONGEST).toLocaleString()} more characters. Download the diff to see all of them.
        </span>
      )}
    </>
  );
}
