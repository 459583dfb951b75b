/** Edits the indexes and constraints of a table that have several columns, expressions or conditions. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TableExtras } from '../../schema/model/extras.js';
import type { Collection } from '../../schema/model/model.js';
import { draftedExtras } from '../draft/editor.js';
import { headName, useDraft } from '../draft/store.js';
import { extrasQuery } from '../service/queries.js';
import { LoadingIndicator, ProblemAlert } from '../shared/problem-alert.js';
import { EditorForm } from './editor-frame.js';
import { messages } from './messages.js';
import { RowsInput } from './inputs.js';
import { type Edit, useKeep } from './use-keep.js';

interface Definition {
  name: string;
  definition: string;
}

const words = messages.definitions;

const LISTS = [
  { list: 'indexes', example: 'USING btree (title, date)' },
  { list: 'unique', example: 'USING btree (lower(email))' },
  { list: 'constraints', example: 'CHECK (price > 0)' },
] as const;

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
  const edit: Edit = (editor) => editor.putExtras(collection, extras, extrasWith(drafted, lists));
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  return (
    <EditorForm keeping={keeping} keep={keep} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {words.help}
      </Text>
      {LISTS.map(({ list, example }) => (
        <RowsInput
          key={list}
          label={words.lists[list].label}
          rows={lists[list]}
          onChange={(rows) => setLists({ ...lists, [list]: rows })}
          cellsOf={({ name, definition }, index) => [
            {
              member: 'name',
              value: name,
              label: words.lists[list].nameOf(index + 1),
              placeholder: words.name,
              width: 150,
            },
            {
              member: 'definition',
              value: definition,
              label: words.lists[list].definitionOf(index + 1),
              placeholder: example,
            },
          ]}
          added={{ name: '', definition: '' }}
          addLabel={words.lists[list].add}
          removeLabelOf={({ name }, index) => words.lists[list].remove(name === '' ? index + 1 : name)}
        />
      ))}
    </EditorForm>
  );
}
