/** What is edited of a collection, beside its page. */
import type { Collection, Field } from '../../schema/model/model.js';
import type { Drafted } from '../draft/drafted.js';
import { memberKey } from '../draft/model.js';
import { useDraftedCollections, useDraftedFields, useDraftedRelations } from '../draft/use-drafted.js';
import type { EditName } from '../pages/collection/search.js';
import { Waiting } from '../shared/waiting.js';
import { CollectionForm } from './collection-form.js';
import { interfaceOf, newField, specialOf } from './column-defaults.js';
import { type Doomed, DeleteForm } from './delete-form.js';
import { EditorDrawer } from './editor-frame.js';
import { FieldForm } from './field-form.js';
import { RelationEditForm } from './relation-edit-form.js';
import { RelationForm } from './relation-form.js';
import { RenameForm } from './rename-form.js';

export interface Next {
  /** The collection has another name now. */
  collection?: string;
  /** It is deleted. */
  gone?: true;
  /** The field to look at. */
  field?: string;
}

interface Props {
  collection: string;
  edit: EditName;
  of: string | undefined;
  onClose: (next?: Next) => void;
}

export default function EditingHost({ collection, edit, of = '', onClose }: Props) {
  const { data: collections } = useDraftedCollections();
  const { data: fields } = useDraftedFields(collection);
  const { data: relations } = useDraftedRelations();
  if (collections === undefined || fields === undefined || relations === undefined)
    return <Waiting label="Reading what is edited" height="60px" />;
  const there = <T extends { how: string | undefined }>(all: readonly T[]) =>
    all.filter(({ how }) => how !== 'removed');
  const own = there(collections).find(({ document }) => document.collection === collection)?.document;
  const field = there(fields).find(({ document }) => document.field === of)?.document;
  const relation = there(relations).find(
    ({ document: { many_collection, many_field } }) =>
      memberKey(many_collection, many_field) === of || (many_collection === collection && many_field === of),
  )?.document;
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
      title: `New field of ${collection}`,
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
          onDone={done}
        />
      ),
    }),
    relation: () => relation && { title: 'Relation', form: <RelationEditForm document={relation} onDone={done} /> },
    'delete-relation': () => relation && doomed({ part: 'relations', document: relation }, done),
  };
  const doomed = (what: Doomed, onDone: () => void): Shown => ({
    title: 'Delete',
    form: <DeleteForm doomed={what} onDone={onDone} onCancel={done} />,
  });
  const shown = forms[edit]();
  if (shown === undefined) return null;
  return (
    <EditorDrawer key={`${edit} ${of}`} name={[edit, collection, of].join(' ')} title={shown.title} onClose={done}>
      {shown.form}
    </EditorDrawer>
  );
}

type Shown = { title: string; form: React.ReactNode } | undefined;

/** Behind all others; where they have no order, neither has it. */
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
