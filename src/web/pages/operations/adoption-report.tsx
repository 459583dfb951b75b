import { Badge, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import type { Adoption } from '../../service/types.js';
import { counted } from '../../shared/amounts.js';
import { brief } from '../../shared/brief.js';
import classes from './page.module.css';

/** Notes shown before the user asks for all. */
const MOST = 20;

/** @param props.isTrial a dry run without events */
export function AdoptionReport({ adoption, isTrial = false }: { adoption: Adoption; isTrial?: boolean }) {
  const { adopted, relations, refused, not_represented: notes, events } = adoption;
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <Text size="sm" fw={isTrial ? 600 : 400}>
        {isTrial ? 'Dry run: ' : ''}
        {counted(adopted.length, 'table')} with {counted(relations, 'relation')}
        {events !== undefined && `, ${counted(events.length, 'event')}`}. {brief(adopted.join(', '), 300)}
      </Text>
      {refused.map(({ table, message }) => (
        <Text size="sm" key={table} mt={4}>
          <b>{table}</b>: {message}
        </Text>
      ))}
      {notes.length > 0 && (
        <>
          <Text size="sm" mt="sm" fw={550}>
            {counted(notes.length, 'object')} will not be managed:
          </Text>
          <ul className={classes.lines}>
            {notes.slice(0, isWhole ? notes.length : MOST).map(({ table, kind, name, message }) => (
              <li key={`${table} ${kind} ${name} ${message}`} className={classes.note}>
                <Badge variant="default" tt="none" fw={500} size="xs" mr={6}>
                  {kind}
                </Badge>
                <Text component="span" size="sm">
                  {message}
                </Text>
              </li>
            ))}
          </ul>
          {notes.length > MOST && !isWhole && (
            <UnstyledButton className={classes.more} onClick={() => setWhole(true)}>
              Show all {notes.length.toLocaleString()}
            </UnstyledButton>
          )}
        </>
      )}
    </>
  );
}
