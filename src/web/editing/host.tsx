import { Text, TextInput, Radio } from '@mantine/core';
import { type ReactNode, useState, use, useEffect } from 'react';
import { type FieldValues, useForm } from 'react-hook-form';
import { type Collection, collectionMeta, type Field } from '../../schema/model/model.js';
import type { MarkedDocument } from '../draft/marked-documents.js';
import { type Draft, memberKey } from '../draft/model.js';
import { useDraft, useDraftedCollections, useDraftedFields, useDraftedRelations } from '../draft/store.js';
import type { EditName } from './edit-names.js';
import { Caution } from '../shared/form.js';
import { ProblemAlert, LoadingIndicator } from '../shared/problem-alert.js';
import { interfaceOf, newField, specialOf } from './column-defaults.js';
import { DefinitionsForm } from './definitions-form.js';
import { type DeletionTarget, DeleteForm, deleteTitle } from './delete-form.js';
import { EditorDrawer, EditorForm } from './editor-frame.js';
import { FieldForm, nameFault } from './field-form.js';
import { RelationEditForm, ManyToAnyForm, ManyToManyForm, SingleRelationForm } from './relation-forms.js';
import { checksOf } from '../../schema/normal-form/checks.js';
import { useChoices } from './member-input.js';
import { COLLECTION_SECTIONS, FOLDER_SECTIONS } from './members.js';
import { Sections } from './sections.js';
import { createResolver, type Edit, useKeep, FormName, useFormName } from './use-keep.js';
import { renameCollection, renameField } from '../draft/edits.js';
import { readKept } from '../shared/browser-storage.js';
import type { RelationFormProps } from './relation-parts.js';
import { named } from '../shared/name.js';
import { messages } from './messages.js';
import classes from './editor-frame.module.css';

const words = messages.host;

/* The form of a new relation. The user first selects the kind, and then gets the form of that kind with suggested
   names. */

const KINDS = [
  { value: 'm2o', ...words.kinds.m2o },
  { value: 'o2m', ...words.kinds.o2m },
  { value: 'm2m', ...words.kinds.m2m },
  { value: 'm2a', ...words.kinds.m2a },
] as const;

type KindName = (typeof KINDS)[number]['value'];

/** Returns the kind whose form was open when the page was closed. */
async function typedKind(name: string): Promise<KindName | undefined> {
  const kept = await Promise.all(KINDS.map(({ value }) => readKept(`${name}${value}`).catch(() => null)));
  return KINDS.find((_, index) => kept[index] !== null)?.value;
}

/**
 * Each kind has its own form and its own stored input. The first form is that of the kind with unfinished input, and
 * otherwise many-to-one.
 */
function RelationForm(props: RelationFormProps) {
  const [chosen, choose] = useState<KindName | null>(null);
  const [typed, setTyped] = useState<KindName>();
  const kind = chosen ?? typed ?? 'm2o';
  const name = use(FormName);
  const whole = useFormName();
  useEffect(() => {
    if (whole !== null) void typedKind(whole).then(setTyped);
  }, [whole]);
  const chooser = (
    <Radio.Group label={words.kind} value={kind} onChange={(value) => choose(value)}>
      <div className={classes.kinds}>
        {KINDS.map(({ value, label, help }) => (
          <Radio.Card key={value} value={value} className={classes.kind ?? ''} aria-label={label}>
            <Text size="sm" fw={600}>
              {label}
            </Text>
            <Text size="xs" c="dimmed">
              {help}
            </Text>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  );
  return (
    <FormName value={name === null ? null : `${name}${kind}`}>
      <FormOf key={kind} {...props} kind={kind} chooser={chooser} />
    </FormName>
  );
}

function FormOf({ kind, ...props }: RelationFormProps & { kind: KindName; chooser: ReactNode }) {
  if (kind === 'm2m') return <ManyToManyForm {...props} />;
  if (kind === 'm2a') return <ManyToAnyForm {...props} />;
  return <SingleRelationForm {...props} kind={kind} />;
}

interface RenameFormProps {
  collection: string;
  /** The field to rename. Null to rename the collection itself. */
  field: string | null;
  taken: readonly string[];
  onDone: (name: string) => void;
  onCancel: () => void;
}

/**
 * The form of a rename. Keeping the old name changes nothing.
 * @param props.taken names that are rejected immediately
 * @param props.onDone called with the new name
 */
function RenameForm({ collection, field, taken, onDone, onCancel }: RenameFormProps) {
  const from = field ?? collection;
  const form = useForm<FieldValues>({
    defaultValues: { to: from },
    resolver: createResolver({}, ({ to }) => (to === from ? {} : nameFault(String(to), taken, 'to'))),
  });
  // All problems that the service reports are about the name.
  const keeping = useKeep({
    names: [collection],
    form,
    inputFor: ({ member }) => (member === 'collection' || member === 'field' || member === '' ? 'to' : null),
  });
  const edit: Edit = (editor) => {
    const to = String(form.getValues('to'));
    if (to === from) return;
    editor.change((draft) =>
      field === null ? renameCollection(draft, collection, to) : renameField(draft, collection, field, to),
    );
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone(String(form.getValues('to')));
  };
  const { error } = form.getFieldState('to', form.formState);
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel}>
      <TextInput
        label={words.newName(from)}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        error={error?.message}
        {...form.register('to')}
      />
      <Text size="sm" c="dimmed">
        {words.renameHelp}
      </Text>
    </EditorForm>
  );
}

/**
 * The form of a collection.
 * @param props.document the collection with the draft applied. A folder has no `schema`
 * @param props.onDone called when the edit is in the draft or cancelled
 */
function CollectionForm({ document, onDone }: { document: Collection; onDone: () => void }) {
  const { collection } = document;
  const form = useForm<FieldValues>({
    defaultValues: structuredClone(document),
    resolver: createResolver({ meta: checksOf(collectionMeta) }),
  });
  const keeping = useKeep({ names: [collection], form });
  const choices = useChoices(collection);
  const [open, setOpen] = useState(['Appearance', 'Position-in-the-tree']);
  const edit: Edit = (editor) => {
    const { meta, schema } = form.getValues() as Collection;
    const now = editor.collection(collection) ?? document;
    editor.put('collections', {
      ...now,
      meta,
      schema: now.schema && { ...now.schema, comment: schema?.comment || null },
    });
  };
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onDone}>
      <Sections
        sections={document.schema === null ? FOLDER_SECTIONS : COLLECTION_SECTIONS}
        choices={choices}
        open={open}
        onOpen={setOpen}
      />
    </EditorForm>
  );
}

export interface EditRequest {
  /** The new name of the collection. */
  collection?: string;
  /** True if the collection was deleted. */
  gone?: true;
  /** The field to show. */
  field?: string;
}

interface Props {
  collection: string;
  edit: EditName;
  of: string | undefined;
  onClose: (next?: EditRequest) => void;
}

/**
 * Shows the form of an edit. Renders nothing if the edited object does not exist or the draft removed it.
 * @param props.of the field, or the relation by its many field or `memberKey`. Undefined for the collection
 * @param props.onClose called without `next` after a cancel, or if there is no other target
 */
export default function EditingHost({ collection, edit, of = '', onClose }: Props) {
  const { draft } = useDraft();
  const { data: collections, ...ofCollections } = useDraftedCollections();
  const { data: fields, ...ofFields } = useDraftedFields(collection);
  const { data: relations, ...ofRelations } = useDraftedRelations();
  const failed = [ofCollections, ofFields, ofRelations].find(({ error }) => error !== null);
  if (failed?.error) return <ProblemAlert error={failed.error} retry={() => void failed.refetch()} />;
  if (collections === undefined || fields === undefined || relations === undefined)
    return <LoadingIndicator label={words.loading} height="60px" />;
  const withoutRemoved = <T extends { mark: string | undefined }>(all: readonly T[]) =>
    all.filter(({ mark }) => mark !== 'removed');
  const own = withoutRemoved(collections).find(({ document }) => document.collection === collection)?.document;
  const field = withoutRemoved(fields).find(({ document }) => document.field === of)?.document;
  const relation = withoutRemoved(relations).find(
    ({ document: { many_collection, many_field } }) =>
      memberKey(many_collection, many_field) === of || (many_collection === collection && many_field === of),
  )?.document;
  const isOwn = isRemovedIn(draft, collection, of);
  const taken = withoutRemoved(fields).map(({ document }) => document.field);
  const done = () => onClose();
  const forms: Readonly<Record<EditName, () => ShownForm>> = {
    collection: () => own && { title: named`${collection}`, form: <CollectionForm document={own} onDone={done} /> },
    rename: () => ({
      title: words.rename(collection),
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
    delete: () => own && deletionForm({ part: 'collections', document: own }, () => onClose({ gone: true })),
    'new-field': () => ({
      title: words.newField(collection),
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
        title: named`${collection}.${of}`,
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
        title: words.rename(`${collection}.${of}`),
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
    'delete-field': () => field && deletionForm({ part: 'fields', document: field }, done),
    'new-relation': () => ({
      title: words.newRelation(collection),
      form: (
        <RelationForm
          collection={collection}
          names={{
            collections: tablesOf(withoutRemoved(collections).map(({ document }) => document)),
            taken: new Set(namesOf(collections)),
          }}
          onDone={(name) => (name === undefined ? done() : onClose({ field: name }))}
        />
      ),
    }),
    relation: () => relation && { title: words.relation, form: <RelationEditForm document={relation} onDone={done} /> },
    definitions: () =>
      own?.schema != null
        ? {
            title: words.definitions(collection),
            form: <DefinitionsForm document={own} onDone={done} />,
          }
        : undefined,
    'delete-relation': () => relation && deletionForm({ part: 'relations', document: relation }, done),
  };
  const deletionForm = (what: DeletionTarget, onDone: () => void): ShownForm => ({
    title: deleteTitle(what),
    form: <DeleteForm doomed={what} onDone={onDone} onCancel={done} />,
  });
  return (
    <ShownForm
      key={`${edit} ${of}`}
      name={[edit, collection, of].join(' ')}
      form={forms[edit]()}
      isOwn={isOwn}
      onClose={done}
    />
  );
}

type ShownForm = { title: string; form: ReactNode } | undefined;

/** The input stays if another user deletes the object that is being edited. */
interface ShownProps {
  name: string;
  form: ShownForm;
  /** True if the draft itself removed the object. */
  isOwn: boolean;
  onClose: () => void;
}

function ShownForm({ name, form, isOwn, onClose }: ShownProps) {
  const [last, setLast] = useState(form);
  if (form !== undefined && form.title !== last?.title) setLast(form);
  if (last === undefined || (form === undefined && isOwn)) return null;
  return (
    <EditorDrawer name={name} title={last.title} onClose={onClose}>
      {form === undefined && (
        <Caution title={words.deletedByOther} isNews>
          <Text size="sm">{words.createsAgain}</Text>
        </Caution>
      )}
      {(form ?? last).form}
    </EditorDrawer>
  );
}

/** Returns the `sort` that puts a new field last. Null if the other fields have none. */
function sortAfter(fields: readonly MarkedDocument<Field>[]): number | null {
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

const namesOf = (collections: readonly { document: Collection; mark: string | undefined }[]): string[] =>
  collections.filter(({ mark }) => mark !== 'removed').map(({ document }) => document.collection);

const tablesOf = (collections: readonly Collection[]): string[] =>
  collections
    .filter(({ schema }) => schema !== null)
    .map(({ collection }) => collection)
    .sort();

/** True if the draft deletes or renames the object. */
function isRemovedIn(draft: Draft, collection: string, of: string): boolean {
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
