/** Deletes an object after showing what is deleted with it. */
import { Checkbox, List, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import { objectNameParts } from '../../schema/model/object-ids.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { DraftEditor, draftedExtras } from '../draft/editor.js';
import { type Draft, PARTS, objectKeyOf } from '../draft/model.js';
import { headName, readSource, useDraft, useDraftedObjects } from '../draft/store.js';
import { objectTitle } from '../shared/changes/sentences.js';
import { Caution } from '../shared/form.js';
import { LoadingIndicator } from '../shared/problem-alert.js';
import { EditorForm } from './editor-frame.js';
import { type Edit, useKeep } from './use-keep.js';
import { extrasQuery, usersQuery } from '../service/queries.js';
import type { TableExtras } from '../../schema/model/extras.js';
import { messages } from './messages.js';

const words = messages.delete;

/* Constraints and indexes of a table that mention a column. */

/**
 * Returns the names of constraints and indexes whose SQL contains the name of the column. This is only a text search.
 * The service decides which ones use the column.
 */
const findMentions = ({ constraints = [], indexes = [] }: TableExtras, column: string): string[] =>
  [...constraints, ...indexes].filter(({ definition }) => mentions(definition, column)).map(({ name }) => name);

function mentions(definition: string, name: string): boolean {
  const isWord = /^[a-z_][a-z0-9_]*$/.test(name);
  const bare = new RegExp(`(?<![\\w"])${isWord ? name : '(?!)'}(?![\\w"])`);
  return definition.includes(`"${name.replaceAll('"', '""')}"`) || bare.test(definition);
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
  | { part: 'relations'; document: NewRelation }
  | { part: 'objects'; document: SchemaObject };

const deletionEdit = (doomed: DeletionTarget): Edit => {
  if (doomed.part === 'collections') return (editor) => editor.dropCollection(doomed.document);
  if (doomed.part === 'fields') return (editor) => editor.dropField(doomed.document);
  if (doomed.part === 'objects') return (editor) => editor.dropObject(doomed.document);
  return (editor) => editor.dropRelation(doomed.document);
};

const nameOf = ({ part, document }: DeletionTarget): string => {
  if (part === 'collections') return document.collection;
  if (part === 'fields') return `${document.collection}.${document.field}`;
  if (part === 'objects') return objectTitle(document);
  return `${document.many_collection}.${document.many_field}`;
};

/** The title of the dialog. Fields and relations are shown with their collection: `Delete articles.title`. */
export const deleteTitle = (doomed: DeletionTarget): string =>
  doomed.part === 'relations' ? words.relationTitle(nameOf(doomed)) : words.title(nameOf(doomed));

function collectionOf({ part, document }: DeletionTarget): string {
  if (part === 'objects') return objectNameParts(document).table ?? '';
  return part === 'relations' ? document.many_collection : document.collection;
}

interface TableObjects {
  /** The objects of the table, which are deleted with it. */
  own: SchemaObject[];
  /** Other objects that use the table. */
  users: SchemaObject[];
}

/**
 * Returns the objects that use a collection, with the draft applied. The service finds those at the head. The definition
 * of an object that the draft creates or changes is searched for the name.
 */
function useObjectsOf({ part, document }: DeletionTarget): TableObjects {
  const { draft } = useDraft();
  const { data: objects = [] } = useDraftedObjects();
  const isTable = part === 'collections' && document.schema !== null;
  const name = isTable ? document.collection : '';
  const head = isTable ? headName(draft, name) : null;
  const { data: atHead = [] } = useQuery({ ...usersQuery(head ?? ''), enabled: head !== null && objects.length > 0 });
  const keys = new Set(atHead.map((object) => objectKeyOf(object)));
  const isUser = ({ definition }: SchemaObject): boolean =>
    typeof definition === 'string' && mentions(definition, name);
  const all = objects.filter(({ document: object, before, mark }) => {
    if (!isTable || mark === 'removed') return false;
    if (objectNameParts(object).table === name) return true;
    return mark === 'made' || mark === 'changed' ? isUser(object) : before !== null && keys.has(objectKeyOf(before));
  });
  const isOwn = ({ document: object }: (typeof all)[number]) => objectNameParts(object).table === name;
  return {
    own: all.filter(isOwn).map((each) => each.document),
    users: all.filter((each) => !isOwn(each)).map((each) => each.document),
  };
}

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
  const objects = useObjectsOf(doomed);
  const affected = along && [...along, ...objects.own.map((each) => words.deleted.objects(objectTitle(each)))];
  const keeping = useKeep({ names: [collection] });
  const edit: Edit = (editor) => {
    if (alsoDefinitions && definitions.length > 0 && extras)
      dropDefinitions(editor, { collection, extras, definitions });
    deletionEdit(doomed)(editor);
  };
  // A comparison that removes nothing cannot validate the removal of a collection. The review validates it later.
  const keep = async (unchecked: boolean) =>
    (await keeping.keep(edit, { unchecked: unchecked || doomed.part !== 'objects' })) && onDone();
  return (
    <EditorForm keeping={keeping} keep={keep} onCancel={onCancel} isReady={!isLoading} label={words.save} color="red.8">
      <Text>{words.consequences[doomed.part](<b>{nameOf(doomed)}</b>)}</Text>
      {affected === undefined ? (
        <LoadingIndicator label={words.loading} height="60px" />
      ) : (
        affected.length > 0 && (
          <div>
            <Text size="sm" fw={600} mb={4}>
              {words.alsoAffected}
            </Text>
            <List size="sm">
              {affected.map((each) => (
                <List.Item key={each}>{each}</List.Item>
              ))}
            </List>
          </div>
        )
      )}
      {objects.users.length > 0 && (
        <Caution title={words.usedBy}>
          <List size="sm">
            {objects.users.map(({ kind, id }) => (
              <List.Item key={`${kind} ${id}`}>
                <Link to="/objects" search={{ kind, id }}>
                  {objectTitle({ kind, id })}
                </Link>
              </List.Item>
            ))}
          </List>
        </Caution>
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
  return PARTS.filter((part) => part !== 'objects').flatMap((part) =>
    [...after[part]].flatMap(([key, edit]) => {
      const name = key.replace('\0', '.');
      if (before[part].get(key) === edit || (part === doomed.part && name === nameOf(doomed))) return [];
      return [edit.after === null ? words.deleted[part](name) : words.updated[part](name)];
    }),
  );
}
