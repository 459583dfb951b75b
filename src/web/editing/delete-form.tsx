/** Deletes an object after showing what is deleted with it. */
import { Checkbox, List, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import { DraftEditor, draftedExtras } from '../draft/editor.js';
import { type Draft, PARTS } from '../draft/model.js';
import { readSource, useDraft } from '../draft/store.js';
import { LoadingIndicator } from '../shared/problem-alert.js';
import { EditorForm } from './editor-frame.js';
import { type Edit, useKeep } from './use-keep.js';
import { extrasQuery } from '../service/queries.js';
import type { TableExtras } from '../../schema/model/extras.js';
import { messages } from './messages.js';

const words = messages.delete;

/* Constraints and indexes of a table that mention a column. */

/**
 * Returns the names of constraints and indexes whose SQL contains the name of the column. This is only a text search.
 * The service decides which ones use the column.
 */
function findMentions({ constraints = [], indexes = [] }: TableExtras, column: string): string[] {
  const quoted = `"${column.replaceAll('"', '""')}"`;
  const isWord = /^[a-z_][a-z0-9_]*$/.test(column);
  const bare = new RegExp(`(?<![\\w"])${isWord ? column : '(?!)'}(?![\\w"])`);
  return [...constraints, ...indexes]
    .filter(({ definition }) => definition.includes(quoted) || bare.test(definition))
    .map(({ name }) => name);
}

/**
 * Removes constraints and indexes from a table by name.
 * @param extras the extras at the head, which lists do not contain
 */
function dropDefinitions(
  editor: DraftEditor,
  { collection, extras, definitions }: { collection: string; extras: TableExtras; definitions: readonly string[] },
): void {
  const kept = <T extends { name: string }>(all: T[] = []) => all.filter(({ name }) => !definitions.includes(name));
  const now = draftedExtras(editor.draft, collection, extras);
  editor.putExtras(collection, extras, { ...now, constraints: kept(now.constraints), indexes: kept(now.indexes) });
}

export type DeletionTarget =
  | { part: 'collections'; document: Collection }
  | { part: 'fields'; document: Field }
  | { part: 'relations'; document: NewRelation };

const deletionEdit = (doomed: DeletionTarget): Edit => {
  if (doomed.part === 'collections') return (editor) => editor.dropCollection(doomed.document);
  if (doomed.part === 'fields') return (editor) => editor.dropField(doomed.document);
  return (editor) => editor.dropRelation(doomed.document);
};

const nameOf = ({ part, document }: DeletionTarget): string => {
  if (part === 'collections') return document.collection;
  if (part === 'fields') return `${document.collection}.${document.field}`;
  return `${document.many_collection}.${document.many_field}`;
};

/** The title of the dialog. Fields and relations are shown with their collection: `Delete articles.title`. */
export const deleteTitle = (doomed: DeletionTarget): string =>
  doomed.part === 'relations' ? words.relationTitle(nameOf(doomed)) : words.title(nameOf(doomed));

const collectionOf = ({ part, document }: DeletionTarget): string =>
  part === 'relations' ? document.many_collection : document.collection;

interface DoomedProps {
  doomed: DeletionTarget;
  onDone: () => void;
  onCancel: () => void;
}

/**
 * Deletes the object in the draft. Also offers to delete constraints and indexes that mention a column, if the user may
 * read them.
 * @param props.onDone called when the deletion is in the draft
 */
export function DeleteForm({ doomed, onDone, onCancel }: DoomedProps) {
  const client = useQueryClient();
  const { draft } = useDraft();
  const collection = collectionOf(doomed);
  const column = doomed.part === 'fields' && doomed.document.schema !== null ? doomed.document.field : null;
  const { data: extras, isLoading } = useQuery({ ...extrasQuery(collection), enabled: column !== null, retry: false });
  const definitions = column === null ? [] : findMentions(extras ?? {}, column);
  const [alsoDefinitions, setAlso] = useState(true);
  const { data: along } = useQuery({
    queryKey: ['along', doomed.part, nameOf(doomed), draft],
    queryFn: async () => {
      const editor = new DraftEditor(draft, await readSource(client, [collection]));
      deletionEdit(doomed)(editor);
      return differences(draft, editor.draft, doomed);
    },
    staleTime: 0,
    gcTime: 0,
  });
  const keeping = useKeep({ names: [collection] });
  const edit: Edit = (editor) => {
    if (alsoDefinitions && definitions.length > 0 && extras)
      dropDefinitions(editor, { collection, extras, definitions });
    deletionEdit(doomed)(editor);
  };
  // A comparison that removes nothing cannot validate the removal. The review validates it later.
  const keep = async () => (await keeping.keep(edit, { unchecked: true })) && onDone();
  return (
    <EditorForm keeping={keeping} keep={keep} onCancel={onCancel} isReady={!isLoading} label={words.save} color="red.8">
      <Text>{words.consequences[doomed.part](<b>{nameOf(doomed)}</b>)}</Text>
      {along === undefined ? (
        <LoadingIndicator label={words.loading} height="60px" />
      ) : (
        along.length > 0 && (
          <div>
            <Text size="sm" fw={600} mb={4}>
              {words.alsoAffected}
            </Text>
            <List size="sm">
              {along.map((each) => (
                <List.Item key={each}>{each}</List.Item>
              ))}
            </List>
          </div>
        )
      )}
      {definitions.length > 0 && (
        <Stack gap={6}>
          <Checkbox
            label={words.alsoDrop}
            checked={alsoDefinitions}
            onChange={(event) => setAlso(event.currentTarget.checked)}
          />
          <List size="sm">
            {definitions.map((name) => (
              <List.Item key={name}>{name}</List.Item>
            ))}
          </List>
        </Stack>
      )}
    </EditorForm>
  );
}

/** Describes the other changes that the deletion makes in the draft. */
function differences(before: Draft, after: Draft, doomed: DeletionTarget): string[] {
  return PARTS.flatMap((part) =>
    [...after[part]].flatMap(([key, edit]) => {
      const name = key.replace('\0', '.');
      if (before[part].get(key) === edit || (part === doomed.part && name === nameOf(doomed))) return [];
      return [edit.after === null ? words.deleted[part](name) : words.updated[part](name)];
    }),
  );
}
