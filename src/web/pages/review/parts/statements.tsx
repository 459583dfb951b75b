import { Code, Text } from '@mantine/core';
import { brief } from '../../../shared/brief.js';
import { CopyButton } from '../../../shared/copy-button.js';
import { sizeText } from '../../../shared/amounts.js';
import type { LockedTable, Statement } from '../model/plan.js';
import classes from './parts.module.css';

const LONGEST = 8_000;

interface Props {
  statements: readonly Statement[];
  tables: ReadonlyMap<string, LockedTable>;
}

/**
 * Truncates long statements; copying includes all.
 * @param props.tables locked by the plan, by name
 */
export function Statements({ statements, tables }: Props) {
  return (
    <ul className={classes.statements}>
      {statements.map((statement, index) => {
        const { sql, summary, lock, collection, rewrites_table: rewrites } = statement;
        const table = tables.get(collection);
        return (
          <li key={`${index} ${summary}`} className={classes.statement}>
            <Text size="xs" className={classes.lock} data-lock={lock === 'ACCESS EXCLUSIVE' || undefined}>
              {lockText(lock, collection, table)}
              {rewrites && ' · rewrites the table'}
            </Text>
            <div className={classes.sql}>
              <Code block tabIndex={0} aria-label={`SQL: ${brief(summary, 120)}`}>
                {sql.length > LONGEST ? `${sql.slice(0, LONGEST)}\n… download the SQL to see all of it` : sql}
              </Code>
              <CopyButton text={sql} label="Copy SQL" />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function lockText(lock: string, collection: string, table: LockedTable | undefined): string {
  if (lock === 'none' || table === undefined) return 'Takes no lock on an existing table';
  const size = sizeText(table);
  return `Locks ${brief(collection, 60)}: ${lock}${size === null ? '' : ` · ${size}`}`;
}
