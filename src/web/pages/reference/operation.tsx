import openIcon from 'icon:expand_more';
import { Stack, Text, UnstyledButton } from '@mantine/core';
import { useEffect, useId, useRef } from 'react';
import type { OutlinedOperation } from '../../../http/openapi/outline.js';
import { Glyph } from '../../shared/glyph.js';
import { Members, Words, typeText } from './shape.js';
import { TryOut } from './try-out.js';
import classes from './page.module.css';

interface Props {
  operation: OutlinedOperation;
  isOpen: boolean;
  onToggle: () => void;
}

/** Renders details when opened. Scrolls to one that is open initially. */
export function Operation({ operation, isOpen, onToggle }: Props) {
  const { method, path, summary } = operation;
  const details = useId();
  const place = useRef<HTMLLIElement>(null);
  // Only linked operations scroll into view.
  const isLinked = useRef(isOpen);
  useEffect(() => {
    if (isLinked.current) place.current?.scrollIntoView();
  }, []);
  return (
    <li ref={place} className={classes.operation}>
      <UnstyledButton className={classes.line} aria-expanded={isOpen} aria-controls={details} onClick={onToggle}>
        <span className={classes.method} data-method={method}>
          {method}
        </span>
        <code className={classes.path}>{path}</code>
        <span className={classes.summary}>{summary}</span>
        <span className={classes.chevron} data-open={isOpen}>
          <Glyph path={openIcon} />
        </span>
      </UnstyledButton>
      <div id={details}>{isOpen && <Details operation={operation} />}</div>
    </li>
  );
}

function Details({ operation }: { operation: OutlinedOperation }) {
  const { id, description, parameters, body, answers } = operation;
  return (
    <Stack gap="md" className={classes.details}>
      <Text size="sm">
        <Words>{description}</Words>
      </Text>
      {parameters.length > 0 && <Members of={parameters} label={`Parameters of ${id}`} />}
      {body && (
        <Text size="sm">
          Body: {typeText(body.type)} as {body.media.join(', ')}
        </Text>
      )}
      <ul className={classes.answers}>
        {answers.map(({ status, type }) => (
          <li key={status}>
            <strong>{status}</strong> {typeText(type)}
          </li>
        ))}
      </ul>
      <TryOut operation={operation} />
    </Stack>
  );
}
