import { Badge, Button, Checkbox, Group, Stack } from '@mantine/core';
import { useId, useState } from 'react';
import type { Problem } from '../../../service/types.js';
import { type Item, type Member, withDependents } from '../model/items.js';
import { plain } from '../model/phrase.js';
import { countFields } from '../model/reason.js';
import { memberSentence, nameOf, sentencesOf } from '../model/sentences.js';
import type { LockedTable, Statement } from '../model/plan.js';
import type { Review } from '../use-review.js';
import { CopyMenu } from './copy-menu.js';
import { DocumentValues, MemberValues } from './values.js';
import { PhraseText } from './phrase-text.js';
import { Statements } from './statements.js';
import classes from './parts.module.css';

const LOOKS = {
  made: { color: 'teal', label: 'new' },
  changed: { color: 'orange', label: 'changed' },
  renamed: { color: 'violet', label: 'renamed' },
  removed: { color: 'red', label: 'deleted' },
} as const;

const KINDS = { collections: 'Collection', fields: 'Field', relations: 'Relation' } as const;

const titleOf = ({ part, collection, field }: Item): string =>
  `${KINDS[part].toLowerCase()} ${field === null ? collection : `${collection}.${field}`}`;

export interface CardProps {
  item: Item;
  review: Review;
  statements: readonly Statement[];
  tables: ReadonlyMap<string, LockedTable>;
  canChoose: boolean;
}

/** Shows its errors. Leaving out a new object also leaves out its dependents. */
export function ItemCard({ item, review, statements, tables, canChoose }: CardProps) {
  const { leftOut, leave, items, problems } = review;
  const isOut = leftOut.has(item.key);
  const name = titleOf(item);
  const sentences = sentencesOf(item, (collection) => countFields(items, collection));
  return (
    <article className={classes.card} data-how={item.how} data-out={isOut || undefined} aria-label={name}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {canChoose && (
          <Checkbox
            size="sm"
            mt={2}
            checked={!isOut}
            aria-label={`Include: ${name}`}
            onChange={(event) => leave(withDependents(items, item), !event.currentTarget.checked)}
          />
        )}
        <div className={classes.words}>
          <Group gap={8} mb={2}>
            <Badge size="sm" variant="light" color={LOOKS[item.how].color} className={classes.badge}>
              {LOOKS[item.how].label}
            </Badge>
            <span className={classes.kind}>
              {KINDS[item.part]} <bdi>{nameOf(item)}</bdi>
            </span>
          </Group>
          {item.document !== null && sentences[0] !== undefined && (
            <p className={classes.sentence}>
              <PhraseText phrase={sentences[0]} />
            </p>
          )}
        </div>
        <CopyMenu item={item} review={review} />
      </Group>
      <Problems of={problems.at.get(item.key)} />
      {item.document !== null && (
        <DocumentValues item={item}>
          {statements.length > 0 && <SqlPart statements={statements} tables={tables} />}
        </DocumentValues>
      )}
      {item.members.map((member) => (
        <MemberPart key={member.key} item={item} member={member} review={review} canChoose={canChoose} />
      ))}
      {item.document === null && statements.length > 0 && (
        <div className={classes.further}>
          <SqlPart statements={statements} tables={tables} />
        </div>
      )}
    </article>
  );
}

function SqlPart({ statements, tables }: Pick<CardProps, 'statements' | 'tables'>) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Hide SQL' : `SQL${statements.length > 1 ? `, ${statements.length} statements` : ''}`}
        {lockHint(statements)}
      </Button>
      <div id={id} className={classes.furthest}>
        {isOpen && <Statements statements={statements} tables={tables} />}
      </div>
    </>
  );
}

/** The strongest lock, shown before the SQL is opened. */
function lockHint(statements: readonly Statement[]): string {
  if (statements.some(({ rewrites_table: rewrites }) => rewrites)) return ' · rewrites the table';
  return statements.some(({ may_fail: may }) => may) ? ' · can fail on existing rows' : '';
}

function MemberPart({
  item,
  member,
  review,
  canChoose,
}: {
  item: Item;
  member: Member;
  review: Review;
  canChoose: boolean;
}) {
  const isOut = review.leftOut.has(item.key) || review.leftOut.has(member.key);
  const sentence = memberSentence(item, member);
  return (
    <div className={classes.member} data-out={isOut || undefined}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {canChoose && item.members.length > 1 && (
          <Checkbox
            size="xs"
            mt={3}
            checked={!isOut}
            disabled={review.leftOut.has(item.key)}
            aria-label={`Include: ${plain(sentence)}`}
            onChange={(event) => review.leave([member.key], !event.currentTarget.checked)}
          />
        )}
        <p className={classes.sentence}>
          <PhraseText phrase={sentence} />
        </p>
      </Group>
      <Problems of={review.problems.at.get(member.key)} />
      <MemberValues member={member} />
    </div>
  );
}

function Problems({ of = [] }: { of: readonly Problem[] | undefined }) {
  if (of.length === 0) return null;
  return (
    <Stack gap={4} role="alert" className={classes.problems}>
      {of.map(({ message, extensions }) => (
        <span key={`${extensions.path ?? ''} ${message}`}>{message}</span>
      ))}
    </Stack>
  );
}
