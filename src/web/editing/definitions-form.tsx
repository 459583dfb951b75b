/** Edits the indexes and constraints of a table that have several columns, expressions or conditions. */
import { quotedName } from '../shared/text.js';
import { ActionIcon, Group, MultiSelect, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TableExtras } from '../../schema/model/extras.js';
import type { Collection } from '../../schema/model/model.js';
import { draftedExtras } from '../draft/editor.js';
import { headName, useDraft } from '../draft/store.js';
import { extrasQuery } from '../service/queries.js';
import { LoadingIndicator, ProblemAlert } from '../shared/problem-alert.js';
import codeIcon from 'icon:code';
import columnsIcon from 'icon:view_column';
import { Glyph } from '../shared/glyph.js';
import { EditorForm } from './editor-frame.js';
import { RowsInput } from './inputs.js';
import { useChoices } from './member-input.js';
import { messages } from './messages.js';
import { type Edit, useKeep } from './use-keep.js';

interface Definition {
  name: string;
  definition: string;
}

const words = messages.definitions;

/** `before`: the text before the columns of a definition that names only columns. `suffix`: the end of its name. */
const LISTS = [
  { list: 'indexes', example: 'USING btree (lower(title), date)', before: 'USING btree ', suffix: 'idx' },
  { list: 'unique', example: 'USING btree (lower(email))', before: 'USING btree ', suffix: 'key' },
  { list: 'constraints', example: 'CHECK (price > 0)', before: 'UNIQUE ', suffix: 'key' },
] as const;

type List = (typeof LISTS)[number];

type Lists = Record<(typeof LISTS)[number]['list'], Definition[]>;

const toDefinition = ({ name, definition }: Definition): Definition => ({ name, definition });

/** Foreign keys are edited as relations. */
const listsOf = ({ indexes = [], constraints = [] }: TableExtras): Lists => ({
  indexes: indexes.filter(({ unique }) => unique !== true).map(toDefinition),
  unique: indexes.filter(({ unique }) => unique === true).map(toDefinition),
  constraints: constraints.filter(({ references }) => references === undefined).map(toDefinition),
});

/** Returns the extras with the definitions. Rows without any text are omitted. */
function extrasWith(extras: TableExtras, lists: Lists): TableExtras {
  const filled = (all: readonly Definition[]) =>
    all.filter(({ name, definition }) => name.trim() !== '' || definition.trim() !== '');
  const sorted = <T extends Definition>(all: T[]) => all.sort((a, b) => (a.name < b.name ? -1 : 1));
  const foreignKeys = (extras.constraints ?? []).filter(({ references }) => references !== undefined);
  const unique = filled(lists.unique).map((each) => ({ ...each, unique: true as const }));
  return {
    ...extras,
    constraints: sorted([...foreignKeys, ...filled(lists.constraints)]),
    indexes: sorted([...filled(lists.indexes), ...unique]),
  };
}

interface Props {
  /** The table with the draft applied. */
  document: Collection;
  /** Called when the edit is in the draft or canceled. */
  onDone: () => void;
}

export function DefinitionsForm({ document, onDone }: Props) {
  const { draft } = useDraft();
  const head = headName(draft, document.collection);
  const { data, error, refetch } = useQuery({ ...extrasQuery(head ?? ''), enabled: head !== null });
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (head !== null && data === undefined) return <LoadingIndicator label={words.loading} height="60px" />;
  return <Inputs document={document} extras={data ?? {}} onDone={onDone} />;
}

/** @param props.extras the extras at the head */
function Inputs({ document: { collection }, extras, onDone }: Props & { extras: TableExtras }) {
  const { draft } = useDraft();
  const drafted = draftedExtras(draft, collection, extras);
  const [lists, setLists] = useState(() => listsOf(drafted));
  const keeping = useKeep({ names: [collection] });
  const { fields } = useChoices(collection);
  const edit: Edit = (editor) => editor.putExtras(collection, extras, extrasWith(drafted, lists));
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  return (
    <EditorForm keeping={keeping} keep={keep} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {words.help}
      </Text>
      {LISTS.map((each) => {
        const { list } = each;
        return (
          <RowsInput
            key={list}
            label={words.lists[list].label}
            rows={lists[list]}
            onChange={(rows) => setLists({ ...lists, [list]: rows })}
            inputOf={(row, index, change) => (
              <DefinitionInput
                collection={collection}
                kind={each}
                number={index + 1}
                columns={fields}
                row={row}
                onChange={change}
              />
            )}
            added={{ name: '', definition: '' }}
            addLabel={words.lists[list].add}
            removeLabelOf={({ name }, index) => words.lists[list].remove(name === '' ? index + 1 : name)}
          />
        );
      })}
    </EditorForm>
  );
}

interface DefinitionProps {
  collection: string;
  kind: List;
  /** Position in the list, from 1. */
  number: number;
  /** The names of all columns. */
  columns: readonly string[];
  row: Definition;
  onChange: (row: Definition) => void;
}

/**
 * Shows a definition that names only columns as a list of columns, and other definitions as SQL. A new constraint begins
 * as SQL, because most are CHECK constraints.
 */
function DefinitionInput({ collection, kind, number, columns, row, onChange }: DefinitionProps) {
  const { list, example, before, suffix } = kind;
  const { name, definition } = row;
  const texts = words.lists[list];
  const chosen = columnsIn(definition, before, columns);
  const [isSql, setSql] = useState(chosen === null || (definition === '' && list === 'constraints'));
  const nameFor = (names: readonly string[]) => [collection, ...names, suffix].join('_');
  const choose = (names: string[]) =>
    onChange({
      // A name that the user typed stays.
      name: name === '' || name === nameFor(chosen ?? []) ? (names.length === 0 ? '' : nameFor(names)) : name,
      definition: names.length === 0 ? '' : `${before}(${names.map(quotedName).join(', ')})`,
    });
  return (
    <Stack gap={6} pb="xs">
      {isSql || chosen === null ? (
        <TextInput
          aria-label={texts.definitionOf(number)}
          placeholder={example}
          spellCheck={false}
          value={definition}
          onChange={(event) => onChange({ ...row, definition: event.currentTarget.value })}
        />
      ) : (
        <MultiSelect
          aria-label={texts.columnsOf(number)}
          data={[...columns]}
          hidePickedOptions
          value={chosen}
          onChange={choose}
          searchable
          placeholder={chosen.length === 0 ? words.columns : ''}
          nothingFoundMessage={messages.inputs.noResults}
          comboboxProps={{ withinPortal: false }}
        />
      )}
      <Group gap="xs" wrap="nowrap">
        <TextInput
          aria-label={texts.nameOf(number)}
          placeholder={words.name}
          flex={1}
          miw={0}
          spellCheck={false}
          value={name}
          onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
        />
        {chosen !== null && (
          <Tooltip label={isSql ? texts.asColumns(number) : texts.asSql(number)}>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={isSql ? texts.asColumns(number) : texts.asSql(number)}
              onClick={() => setSql(!isSql)}
            >
              <Glyph path={isSql ? columnsIcon : codeIcon} size={18} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </Stack>
  );
}

/** Matches one name of a list of columns, quoted or not. */
const COLUMN = /\s*(?:"((?:[^"]|"")+)"|([a-z_][a-z0-9_$]*))\s*(?:,|$)/iy;

/** Returns the columns of a definition that consists of them, or of an empty one. Null for other definitions. */
function columnsIn(definition: string, before: string, columns: readonly string[]): string[] | null {
  const text = definition.trim();
  if (text === '') return [];
  if (!text.toLowerCase().startsWith(`${before.toLowerCase()}(`) || !text.endsWith(')')) return null;
  const list = text.slice(before.length + 1, -1);
  const names: string[] = [];
  COLUMN.lastIndex = 0;
  while (COLUMN.lastIndex < list.length) {
    const [, quoted, plain = ''] = COLUMN.exec(list) ?? [];
    const name = quoted?.replaceAll('""', '"') ?? plain.toLowerCase();
    if (!columns.includes(name)) return null;
    names.push(name);
  }
  return names;
}
