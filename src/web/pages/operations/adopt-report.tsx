import { Text } from '@mantine/core';
import type { Adoption } from '../../service/types.js';
import { abbreviate, counted } from '../../shared/text.js';
import { groupBy } from '../../shared/group-by.js';
import classes from './adopt.module.css';
import { Name } from '../../shared/name.js';

type Note = Adoption['not_represented'][number];

/** @param props.isTrial true for a dry run, which appends no events */
export function AdoptionReport({ adoption, isTrial = false }: { adoption: Adoption; isTrial?: boolean }) {
  const { adopted, relations, refused, not_represented: notes, events } = adoption;
  const byTable = groupBy(notes, ({ table }) => table);
  return (
    <>
      <Text size="sm" fw={isTrial ? 600 : 400}>
        {isTrial ? 'Dry run: ' : ''}
        {counted(adopted.length, 'table')} with {counted(relations, 'relation')}
        {events !== undefined && `, ${counted(events.length, 'event')}`}. {abbreviate(adopted.join(', '), 300)}
      </Text>
      {refused.map(({ table, message }) => (
        <Text size="sm" key={table} mt={4}>
          <b>{table}</b>: {message}
        </Text>
      ))}
      {notes.length > 0 && (
        <>
          <Text size="sm" mt="sm" fw={550}>
            {counted(notes.length, 'object')} will not be managed: {countsByKind(notes)}
          </Text>
          <ul className={classes.groups} aria-label="Objects that will not be managed">
            {[...byTable].map(([table, group]) => (
              <li key={table}>
                <TableNotes table={table} notes={group} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Returns the number of objects of each kind: `2 views, 1 trigger`. */
function countsByKind(notes: readonly Note[]): string {
  const kinds = [...groupBy(notes, ({ kind }) => kind)];
  return kinds.map(([kind, group]) => counted(group.length, kind, pluralOf(kind))).join(', ');
}

/** Returns the plural of a kind of object in PostgreSQL. */
const pluralOf = (kind: string): string =>
  /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : /(?:x|s)$/.test(kind) ? `${kind}es` : `${kind}s`;

function TableNotes({ table, notes }: { table: string | null; notes: readonly Note[] }) {
  return (
    <details>
      <summary>
        <b>{table === null ? 'No table' : <Name of={table} />}</b>: {countsByKind(notes)}
      </summary>
      {[...groupBy(notes, ({ kind }) => kind)].map(([kind, group]) => (
        <div key={kind} className={classes.kind}>
          <Text size="sm" fw={550}>
            {counted(group.length, kind, pluralOf(kind))}
          </Text>
          <ul>
            {group.map(({ name, message }) => (
              <li key={`${name} ${message}`}>{message}</li>
            ))}
          </ul>
        </div>
      ))}
    </details>
  );
}
