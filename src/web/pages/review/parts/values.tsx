import { Button, Code } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { valueText } from '../../../shared/changes/sentences.js';
import type { Item, Member } from '../model/items.js';
import { Value } from './value.js';
import classes from './parts.module.css';

/** Short values share a line. */
export function MemberValues({ member }: { member: Member }) {
  const path = member.path.join('.');
  return (
    <div className={classes.sides} data-short={isShort(member) || undefined}>
      <div className={classes.path}>
        <Code>{path}</Code>
      </div>
      <div className={classes.before}>
        <span className={classes.side}>before</span>
        <Value of={member.before} label={`${path} before`} />
      </div>
      <div className={classes.after}>
        <span className={classes.side}>after</span>
        <Value of={member.after} label={`${path} after`} />
      </div>
    </div>
  );
}

/** Fits into one line. */
const isShort = ({ before, after }: Member): boolean =>
  [before, after].every((value) => value === undefined || valueText(value).length <= 24);

/** The number of members shown first, without defaults. */
const FIRST = 6;
/** Members repeated by the heading or others. */
const REPEATED = new Set(['collection', 'field', 'name', 'table', 'many_collection', 'many_field']);

/** @param children further content behind its button */
export function DocumentValues({ item: { document, how }, children }: { item: Item; children: ReactNode }) {
  const [isAll, setAll] = useState(false);
  const members = membersOf(document ?? {});
  const shown = isAll ? members : members.filter(([, value]) => isTelling(value)).slice(0, FIRST);
  return (
    <div>
      <dl className={classes.document} data-how={how}>
        {shown.map(([path, value]) => (
          <div key={path}>
            <dt>{path}</dt>
            <dd>
              <Value of={value} label={path} />
            </dd>
          </div>
        ))}
      </dl>
      <div className={classes.further}>
        {(isAll || shown.length < members.length) && (
          <Button variant="subtle" color="gray" size="compact-xs" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? 'Show fewer members' : `Show all ${members.length} members`}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}

function membersOf(document: object, prefix = ''): [path: string, value: unknown][] {
  return Object.entries(document).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    if (REPEATED.has(name)) return [];
    const isPart = (name === 'meta' || name === 'schema') && typeof value === 'object' && value !== null;
    return isPart ? membersOf(value, `${name}.`) : [[prefix + name, value]];
  });
}

const isTelling = (value: unknown): boolean =>
  !(value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0));
