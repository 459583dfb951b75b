import { Badge, Button, Checkbox, Group, Stack, ActionIcon, Menu, Code, UnstyledButton } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';
import copyIcon from 'icon:content_copy';
import { jsonEqual } from '../../../../kernel/json.js';
import {
  COLLECTION_META_DEFAULTS,
  COLUMN_DEFAULTS,
  FIELD_META_DEFAULTS,
  FOREIGN_KEY_DEFAULTS,
  RELATION_META_DEFAULTS,
} from '../../../../schema/model/model.js';
import type { Problem } from '../../../service/types.js';
import { type Item, type Member, selectChosen, titleOf, withDependents } from '../model/items.js';
import {
  toPlainText,
  type Phrase,
  backfillSentence,
  countFields,
  kindWords,
  memberSentence,
  nameOf,
  sentencesOf,
} from '../model/sentences.js';
import { type LockedTable, type Statement, curlFor } from '../model/plan.js';
import type { ShownChange } from '../model/requested-diff.js';
import { Statements } from './risks.js';
import classes from './parts.module.css';
import { addressOf } from '../../../service/review-queries.js';
import { Glyph } from '../../../shared/glyph.js';
import { useCopy } from '../../../shared/buttons.js';
import { DefinitionDiff, definitionLines } from '../../../shared/changes/change-list.js';
import { messages as changes } from '../../../shared/changes/messages.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { abbreviate } from '../../../shared/text.js';
import { Name, named } from '../../../shared/name.js';
import { messages } from '../messages.js';

const { item: texts, export: exportTexts } = messages;
const { parts } = changes;

const SHORT = 240;
/** Maximum number of characters that the page shows. */
const LONGEST = 50_000;

/**
 * Shows a value, so that undefined, null and an empty text look different.
 * @param props.label a label for screen readers
 */
function Value({ of, label }: { of: unknown; label: string }) {
  if (of === undefined || of === null)
    return <span className={classes.nothing}>{of === null ? 'null' : texts.none}</span>;
  const text = valueText(of);
  if (text.length > SHORT) return <LongText text={text} label={label} />;
  return <bdi className={classes.value}>{text === '' ? texts.emptyText : text}</bdi>;
}

function LongText({ text, label }: { text: string; label: string }) {
  const [isOpen, setOpen] = useState(false);
  const says = isOpen ? texts.showLess : texts.showAll(text.length);
  return (
    <>
      <bdi className={isOpen ? classes.long : classes.value}>
        {isOpen ? text.slice(0, LONGEST) : abbreviate(text, SHORT)}
      </bdi>
      <UnstyledButton
        className={classes.more}
        aria-expanded={isOpen}
        aria-label={texts.of(says, label)}
        onClick={() => setOpen(!isOpen)}
      >
        {says}
      </UnstyledButton>
      {isOpen && text.length > LONGEST && (
        <span className={classes.nothing}>{texts.moreCharacters(text.length - LONGEST)}</span>
      )}
    </>
  );
}

/** Shows a value before and after. Short values share a line, and definitions are compared by line. */
function MemberValues({ item, member }: { item: Item; member: Member }) {
  const path = member.path.join('.');
  const { before, after } = member;
  const lines = item.part === 'objects' && path === 'definition' ? [before, after].map(definitionLines) : [];
  if (typeof lines[0] === 'string' && typeof lines[1] === 'string')
    return <DefinitionDiff before={lines[0]} after={lines[1]} />;
  return (
    <div className={classes.sides} data-short={isShort(member) || undefined}>
      <div className={classes.path}>
        <Code>{path}</Code>
      </div>
      <div className={classes.before}>
        <span className={classes.side}>{texts.before}</span>
        <Value of={member.before} label={texts.valueBefore(path)} />
      </div>
      <div className={classes.after}>
        <span className={classes.side}>{texts.after}</span>
        <Value of={member.after} label={texts.valueAfter(path)} />
      </div>
    </div>
  );
}

/** True if both values fit into one line. */
const isShort = ({ before, after }: Member): boolean =>
  [before, after].every((value) => value === undefined || valueText(value).length <= 24);

/** Number of members that are shown first. Members with default values are not among them. */
const FIRST = 6;
/** Members that only repeat the heading or other members. */
const REPEATED = new Set(['collection', 'field', 'name', 'table', 'many_collection', 'many_field', 'kind', 'id']);

/** @param children further content behind its button */
function DocumentValues({ item: { part, document, mark }, children }: { item: Item; children: ReactNode }) {
  const [isAll, setAll] = useState(false);
  const members = membersOf(document ?? {});
  const shown = isAll
    ? members
    : members.filter(([path, value]) => isTelling(value, DEFAULTS[part].get(path))).slice(0, FIRST);
  return (
    <div>
      <dl className={classes.document} data-mark={mark}>
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
            {isAll ? texts.fewerMembers : texts.allMembers(members.length)}
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

/** The default values of members by their paths. */
const DEFAULTS: Readonly<Record<Item['part'], ReadonlyMap<string, unknown>>> = {
  collections: new Map(membersOf({ meta: COLLECTION_META_DEFAULTS })),
  fields: new Map(membersOf({ meta: FIELD_META_DEFAULTS, schema: COLUMN_DEFAULTS })),
  relations: new Map(membersOf({ ...RELATION_META_DEFAULTS, schema: FOREIGN_KEY_DEFAULTS })),
  objects: new Map(),
};

/** True if the value is neither empty nor the default. */
const isTelling = (value: unknown, byDefault: unknown): boolean =>
  !(value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0)) &&
  !jsonEqual(value, byDefault ?? null);

/* Exports one change: as a command, a diff, or YAML. */

/** Copies only this change of the reviewed schema. The text contains no token. */
function CopyMenu({ item, review }: { item: Item; review: ShownChange }) {
  const { copy, copied } = useCopy();
  const { items, applying, original } = review;
  const others = () => new Set(items.filter(({ key }) => key !== item.key).map(({ key }) => key));
  const own = () => selectChosen(original, items, others()).diff;
  const body = () => ({ hash: applying.hash, diff: own() });
  const asCurl = () =>
    curlFor({
      origin: location.origin,
      path: addressOf(applying),
      body: JSON.stringify(body()),
      reason: review.why,
    });
  const asYaml = async () => copy((await import('../../../service/yaml.js')).yamlText(own()));
  return (
    <Menu position="bottom-end" shadow="md" withinPortal={false}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={copied ? exportTexts.copied : exportTexts.copyAs(nameOf(item))}
        >
          <Glyph path={copyIcon} size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy(asCurl())}>{exportTexts.copyAsCurl}</Menu.Item>
        <Menu.Item onClick={() => copy(JSON.stringify(body(), null, 2))}>{exportTexts.copyAsDiff}</Menu.Item>
        <Menu.Item onClick={() => void asYaml()}>{exportTexts.copyAsYaml}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Shows a phrase. Each name is isolated, because it may be written from right to left. */
function PhraseText({ phrase }: { phrase: Phrase }) {
  return (
    <span>
      {phrase.map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <Name key={`${index} ${part.name}`} of={part.name} className={classes.name} />
        ),
      )}
    </span>
  );
}

const COLORS = { made: 'teal', changed: 'orange', renamed: 'violet', removed: 'red' } as const;

const kindOf = (item: Item): string => (item.part === 'objects' ? kindWords(item) : parts[item.part]);

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

interface CardProps {
  item: Item;
  review: ShownChange;
  statements: readonly Statement[];
  tables: ReadonlyMap<string, LockedTable>;
  canChoose: boolean;
  /** Further content below the change. */
  children?: ReactNode;
}

/** Shows an item with its errors. Excluding a new object also excludes its dependents. */
export function ItemCard({ item, review, statements, tables, canChoose, children }: CardProps) {
  const { leftOut, leave, items, problems } = review;
  const isOut = leftOut.has(item.key);
  const name = named`${kindOf(item)} ${titleOf(item)}`;
  const sentences = sentencesOf(item, (collection) => countFields(items, collection));
  const filling = backfillSentence(item);
  return (
    <article className={classes.card} data-mark={item.mark} data-out={isOut || undefined} aria-label={name}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {canChoose && (
          <Checkbox
            size="sm"
            mt={2}
            checked={!isOut}
            aria-label={texts.include(name)}
            onChange={(event) => leave(withDependents(items, item), !event.currentTarget.checked)}
          />
        )}
        <div className={classes.words}>
          <Group gap={8} mb={2}>
            <Badge size="sm" variant="light" color={COLORS[item.mark]} className={classes.badge}>
              {messages.marks[item.mark]}
            </Badge>
            <span className={classes.kind}>
              {capitalized(kindOf(item))} <Name of={nameOf(item)} />
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
      {filling !== null && (
        <p className={classes.sentence}>
          <PhraseText phrase={filling} />
        </p>
      )}
      {item.document === null && statements.length > 0 && (
        <div className={classes.further}>
          <SqlPart statements={statements} tables={tables} />
        </div>
      )}
      {children}
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
        {isOpen ? texts.hideSql : texts.showSql(statements.length)}
        {lockHint(statements)}
      </Button>
      <div id={id} className={classes.furthest}>
        {isOpen && <Statements statements={statements} tables={tables} />}
      </div>
    </>
  );
}

/** Returns the strongest lock as text, which is shown before the SQL is opened. */
function lockHint(statements: readonly Statement[]): string {
  if (statements.some(({ rewrites_table: rewrites }) => rewrites)) return ` · ${texts.rewrites}`;
  return statements.some(({ may_fail: may }) => may) ? ` · ${texts.canFail}` : '';
}

function MemberPart({
  item,
  member,
  review,
  canChoose,
}: {
  item: Item;
  member: Member;
  review: ShownChange;
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
            aria-label={texts.include(toPlainText(sentence))}
            onChange={(event) => review.leave([member.key], !event.currentTarget.checked)}
          />
        )}
        <p className={classes.sentence}>
          <PhraseText phrase={sentence} />
        </p>
      </Group>
      <Problems of={review.problems.at.get(member.key)} />
      <MemberValues item={item} member={member} />
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
