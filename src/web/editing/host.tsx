import { Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Collection, Field } from '../../schema/model/model.js';
import type { Drafted } from '../draft/drafted.js';
import { type Draft, memberKey } from '../draft/model.js';
import { useDraft } from '../draft/use-draft.js';
import { useDraftedCollections, useDraftedFields, useDraftedRelations } from '../draft/use-drafted.js';
import type { EditName } from './edit-names.js';
import { Caution } from '../shared/caution.js';
import { ProblemAlert } from '../shared/problem-alert.js';
import { Waiting } from '../shared/waiting.js';
import { CollectionForm } from './collection-form.js';
import { interfaceOf, newField, specialOf } from './column-defaults.js';
import { type Doomed, DeleteForm, deleteTitle } from './delete-form.js';
import { EditorDrawer } from './editor-frame.js';
import { FieldForm } from './field-form.js';
import { RelationEditForm } from './relation-edit-form.js';
import { RelationForm } from './relation-form.js';
import { RenameForm } from './rename-form.js';

export interface Next {
  /** The new name of the collection. */
  collection?: string;
  /** The collection was deleted. */
  gone?: true;
  /** The field to show. */
  field?: string;
}

interface Props {
  collection: string;
  edit: EditName;
  of: string | undefined;
  onClose: (next?: Next) => void;
}

/**
 * Renders nothing if the edited object does not exist or the draft removed it.
 * @param props.of the field, or the relation by its many field or `memberKey`; undefined for the collection
 * @param props.onClose called without `next` after a cancel, or if there is no other place to go
 */
export default function EditingHost({ collection, edit, of = '', onClose }: Props) {
  const { draft } = useDraft();
  const { data: collections, ...ofCollections } = useDraftedCollections();
  const { data: fields, ...ofFields } = useDraftedFields(collection);
  const { data: relations, ...ofRelations } = useDraftedRelations();
  const failed = [ofCollections, ofFields, ofRelations].find(({ error }) => error !== null);
  if (failed?.error) return <ProblemAlert error={failed.error} retry={() => void failed.refetch()} />;
  if (collections === undefined || fields === undefined || relations === undefined)
    return <Waiting label="Loading the form" height="60px" />;
  const there = <T extends { how: string | undefined }>(all: readonly T[]) =>
    all.filter(({ how }) => how !== 'removed');
  const own = there(collections).find(({ document }) => document.collection === collection)?.document;
  const field = there(fields).find(({ document }) => document.field === of)?.document;
  const relation = there(relations).find(
    ({ document: { many_collection, many_field } }) =>
      memberKey(many_collection, many_field) === of || (many_collection === collection && many_field === of),
  )?.document;
  const isOwn = removedIn(draft, collection, of);
  const taken = there(fields).map(({ document }) => document.field);
  const done = () => onClose();
  const forms: Readonly<Record<EditName, () => Shown>> = {
    collection: () => own && { title: collection, form: <CollectionForm document={own} onDone={done} /> },
    rename: () => ({
      title: `Rename ${collection}`,
      form: (
        <RenameForm
          collection={collection}
          field={null}
          taken={namesOf(collections)}
          onDone={(name) => onClose({ collection: name })}
          onCancel={done}
        />
      ),
    }),
    delete: () => own && doomed({ part: 'collections', document: own }, () => onClose({ gone: true })),
    'new-field': () => ({
      title: `New field in ${collection}`,
      form: (
        <FieldForm
          document={firstOf(collection, sortAfter(fields))}
          isNew
          taken={taken}
          onDone={(name) => onClose({ field: name })}
          onCancel={done}
        />
      ),
    }),
    field: () =>
      field && {
        title: `${collection}.${of}`,
        form: (
          <FieldForm
            document={field}
            isNew={false}
            taken={taken}
            onDone={(name) => onClose({ field: name })}
            onCancel={done}
          />
        ),
      },
    'rename-field': () =>
      field && {
        title: `Rename ${collection}.${of}`,
        form: (
          <RenameForm
            collection={collection}
            field={of}
            taken={taken}
            onDone={(name) => onClose({ field: name })}
            onCancel={done}
          />
        ),
      },
    'delete-field': () => field && doomed({ part: 'fields', document: field }, done),
    'new-relation': () => ({
      title: `New relation of ${collection}`,
      form: (
        <RelationForm
          collection={collection}
          names={{
            collections: tablesOf(there(collections).map(({ document }) => document)),
            taken: new Set(namesOf(collections)),
          }}
          onDone={(name) => (name === undefined ? done() : onClose({ field: name }))}
        />
      ),
    }),
    relation: () => relation && { title: 'Relation', form: <RelationEditForm document={relation} onDone={done} /> },
    'delete-relation': () => relation && doomed({ part: 'relations', document: relation }, done),
  };
  const doomed = (what: Doomed, onDone: () => void): Shown => ({
    title: deleteTitle(what),
    form: <DeleteForm doomed={what} onDone={onDone} onCancel={done} />,
  });
  return (
    <Shown
      key={`${edit} ${of}`}
      name={[edit, collection, of].join(' ')}
      form={forms[edit]()}
      isOwn={isOwn}
      onClose={done}
    />
  );
}

type Shown = { title: string; form: ReactNode } | undefined;

/** If someone else deletes an object that is being edited, the input stays. */
interface ShownProps {
  name: string;
  form: Shown;
  /** True if the draft itself removed it. */
  isOwn: boolean;
  onClose: () => void;
}

function Shown({ name, form, isOwn, onClose }: ShownProps) {
  const [last, setLast] = useState(form);
  if (form !== undefined && form.title !== last?.title) setLast(form);
  if (last === undefined || (form === undefined && isOwn)) return null;
  return (
    <EditorDrawer name={name} title={last.title} onClose={onClose}>
      {form === undefined && (
        <Caution title="Another user deleted this object" isNews>
          <Text size="sm">If you save and apply this form, the service creates a new object with the same name.</Text>
        </Caution>
      )}
      {(form ?? last).form}
    </EditorDrawer>
  );
}

/** After all others; without order if they have none. */
function sortAfter(fields: readonly Drafted<Field>[]): number | null {
  const sorts = fields.map(({ document: { meta } }) => meta.sort);
  return sorts.includes(null) ? null : Math.max(0, ...sorts.map(Number)) + 1;
}

const firstOf = (collection: string, sort: number | null) =>
  newField({
    collection,
    field: '',
    type: 'string',
    meta: { interface: interfaceOf('string'), special: specialOf('string'), sort },
  });

const namesOf = (collections: readonly { document: Collection; how: string | undefined }[]): string[] =>
  collections.filter(({ how }) => how !== 'removed').map(({ document }) => document.collection);

const tablesOf = (collections: readonly Collection[]): string[] =>
  collections
    .filter(({ schema }) => schema !== null)
    .map(({ collection }) => collection)
    .sort();

/** The draft deletes or renames it. */
function removedIn(draft: Draft, collection: string, of: string): boolean {
  const keys = [memberKey(collection, of), of];
  const isDeleted = keys.some(
    (key) => draft.fields.get(key)?.after === null || draft.relations.get(key)?.after === null,
  );
  const renamed = [...(draft.names.fields.get(collection)?.values() ?? []), ...draft.names.collections.values()];
  return (
    isDeleted ||
    draft.collections.get(collection)?.after === null ||
    renamed.includes(of) ||
    renamed.includes(collection)
  );
}
