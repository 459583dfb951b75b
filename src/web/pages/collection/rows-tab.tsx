/** Some rows of the table, read-only. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sampleQuery } from '../../service/queries.js';
import type { Sample } from '../../service/types.js';
import { Answered } from '../../shared/problem-alert.js';
import { counted } from '../../shared/text.js';
import classes from './page.module.css';

export function RowsTab({ collection }: { collection: string }) {
  return (
    <Answered query={useQuery(sampleQuery(collection))} label="Loading rows">
      {(sample) => (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            {summary(sample)}
          </Text>
          {sample.rows !== null && sample.rows.length > 0 && <Rows rows={sample.rows} collection={collection} />}
        </>
      )}
    </Answered>
  );
}

function summary({ rows, hidden }: Sample): string {
  if (rows === null)
    return 'The rows could not be read: the table is locked or missing, or the database role may not read all rows.';
  const some = rows.length === 0 ? 'The table has no rows.' : `${counted(rows.length, 'row')}, in no order.`;
  return hidden.length === 0 ? some : `${some} Not shown: ${hidden.join(', ')}.`;
}

function Rows({ rows, collection }: { rows: NonNullable<Sample['rows']>; collection: string }) {
  const fields = Object.keys(rows[0] ?? {});
  return (
    <div className={classes.scroller} tabIndex={0} role="region" aria-label={`Rows of ${collection}`}>
      <table className={classes.table}>
        <thead>
          <tr>
            {fields.map((field) => (
              <th key={field} scope="col">
                <bdi>{field}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // A table may have no key, and the rows keep their order here.
            <tr key={index}>
              {fields.map((field) => (
                <td key={field}>
                  <Value text={row[field] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** At most three lines; the rest is in the tooltip. */
function Value({ text }: { text: string | null }) {
  if (text === null) return <span className={classes.quiet}>null</span>;
  return (
    <bdi className={classes.value} title={text}>
      {text}
    </bdi>
  );
}
