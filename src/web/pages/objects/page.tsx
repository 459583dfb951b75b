/** Shows views, functions and other objects with their definitions and the draft applied. Authors edit them here. */
import { Button, Group, NativeSelect, Stack, Text, TextInput, Textarea, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type FieldValues, useController, useForm, useFormContext } from 'react-hook-form';
import { objectNameParts, renamedId } from '../../../schema/model/object-ids.js';
import {
  KINDS,
  OBJECT_KINDS,
  type ObjectKind,
  type ObjectName,
  isNamedLikeTable,
} from '../../../schema/model/objects.js';
import { type SchemaObject, newObject } from '../../../schema/model/object-document.js';
import { grantTexts } from '../../../schema/model/privileges.js';
import { MarkBadge } from '../../draft/draft-bar.js';
import { discard, renameObject, withNameOf } from '../../draft/edits.js';
import { type MarkedDocument, findObject, hasObject } from '../../draft/marked-documents.js';
import { formerObject, isInDraft, objectKeyOf } from '../../draft/model.js';
import { currentDraft, editDraft, useDraft, useDraftedObjects } from '../../draft/store.js';
import { EnumDefinition, labelsIn } from '../../editing/column-types.js';
import { DeleteForm, deleteTitle } from '../../editing/delete-form.js';
import { EditorDrawer, EditorForm } from '../../editing/editor-frame.js';
import { createResolver, type Edit, FormName, useKeep } from '../../editing/use-keep.js';
import { dependentsQuery, infoQuery } from '../../service/queries.js';
import { objectEventsQuery } from '../../service/history-queries.js';
import { ServiceError } from '../../service/send.js';
import { readDefinedObject } from '../../service/review-queries.js';
import { useMay } from '../../service/session.js';
import { CopyButton } from '../../shared/buttons.js';
import { Dependents, SqlBlock } from '../../shared/catalog.js';
import { EventHistory } from '../../shared/changes/change-list.js';
import { Page, Section, useTitle } from '../../shared/page.js';
import { LoadingIndicator, ProblemAlert } from '../../shared/problem-alert.js';
import { quotedName, visibleSql } from '../../shared/text.js';
import classes from './page.module.css';
import { Name, named } from '../../shared/name.js';
import { EXAMPLES, messages } from './messages.js';

const route = getRouteApi('/objects');

export function ObjectsPage() {
  useTitle(messages.title);
  const { data: info } = useQuery(infoQuery());
  const mayChange = useMay('propose');
  if (info === undefined) return <LoadingIndicator label={messages.loading} />;
  if (info.objects !== true)
    return (
      <Page>
        <Title order={1} size="h3" mb="md">
          {messages.title}
        </Title>
        <Text>{messages.off(<code>{'OBJECTS=on'}</code>)}</Text>
      </Page>
    );
  return (
    <Page wide>
      <Group justify="space-between" mb="md">
        <Title order={1} size="h3">
          {messages.title}
        </Title>
        {mayChange && (
          <Button renderRoot={(props) => <Link {...props} to="/objects" search={{ new: true }} />}>
            {messages.create}
          </Button>
        )}
      </Group>
      <Objects />
    </Page>
  );
}

type Marked = MarkedDocument<SchemaObject>;

function Objects() {
  const { data, error, refetch } = useDraftedObjects();
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (data === undefined) return <LoadingIndicator label={messages.loading} />;
  return <LoadedObjects objects={data} />;
}

function LoadedObjects({ objects }: { objects: readonly Marked[] }) {
  const { draft } = useDraft();
  const { kind, id, new: isNew = false } = route.useSearch();
  const shown = id === undefined ? undefined : findObject(draft, objects, { kind, id });
  return (
    <div className={classes.columns} data-open={isNew || id !== undefined || undefined}>
      <Link to="/objects" className={classes.back}>
        {messages.list.all}
      </Link>
      <ObjectList objects={objects} shown={shown?.document} />
      {isNew ? (
        <NewObject objects={objects} />
      ) : shown !== undefined ? (
        <ObjectDetails key={objectKeyOf(shown.document)} object={shown} objects={objects} />
      ) : (
        <NoObject id={id} isEmpty={objects.length === 0} />
      )}
    </div>
  );
}

function NoObject({ id, isEmpty }: { id: string | undefined; isEmpty: boolean }) {
  if (isEmpty && id === undefined) return null;
  return <Text c="dimmed">{id === undefined ? messages.list.choose : messages.list.missing(id)}</Text>;
}

function ObjectList({ objects, shown }: { objects: readonly Marked[]; shown: SchemaObject | undefined }) {
  const [filter, setFilter] = useState('');
  const typed = filter.trim().toLowerCase();
  const found = objects.filter(({ document: { id } }) => id.toLowerCase().includes(typed));
  if (objects.length === 0) return <Text c="dimmed">{messages.list.none}</Text>;
  return (
    <nav aria-label={messages.title}>
      <TextInput
        aria-label={messages.list.filterObjects}
        placeholder={messages.list.filter}
        mb="sm"
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      {OBJECT_KINDS.map((kind) => {
        const ofKind = found.filter(({ document }) => document.kind === kind);
        if (ofKind.length === 0) return null;
        return (
          <section key={kind} aria-label={messages.kind(kind)}>
            <Text size="sm" c="dimmed" mb={4}>
              {messages.count(kind, ofKind.length)}
            </Text>
            <ul className={classes.list}>
              {ofKind.sort(byId).map(({ document: { id }, mark }) => (
                <li key={id} className={classes.entry}>
                  <Link
                    to="/objects"
                    search={{ kind, id }}
                    className={classes.name}
                    data-mark={mark}
                    aria-current={shown?.kind === kind && shown.id === id ? 'page' : undefined}
                  >
                    <Name of={id} />
                  </Link>
                  <MarkBadge mark={mark} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </nav>
  );
}

const byId = (one: Marked, other: Marked): number => (one.document.id < other.document.id ? -1 : 1);

type FormKind = 'edit' | 'rename' | 'delete';

function ObjectDetails({ object, objects }: { object: Marked; objects: readonly Marked[] }) {
  const [form, setForm] = useState<FormKind | null>(null);
  const mayReadHistory = useMay('readHistory');
  const navigate = useNavigate();
  const { document } = object;
  const { id, comment, indexes = [] } = document;
  const { draft } = useDraft();
  const former = object.before && formerObject(draft, document);
  const sql = useShownSql(document);
  const close = () => setForm(null);
  if (form === 'rename')
    return (
      <RenameForm
        object={document}
        objects={objects}
        onDone={(search) => void navigate({ to: '/objects', search })}
        onClose={close}
      />
    );
  if (form === 'edit') return <EditForm object={object} onClose={close} />;
  return (
    <section className={classes.part} aria-label={named`${id}`}>
      <Stack>
        <DetailsHeader object={object} onForm={setForm} />
        {comment !== null && <Text>{comment}</Text>}
        <SqlBlock sql={sql} label={messages.details.definitionOf(id)} />
        {indexes.map((index) => (
          <Text key={index.name} size="sm">
            {index.unique === true ? messages.details.uniqueIndex : messages.details.index}{' '}
            <strong>{index.name}</strong>
            {`: ${visibleSql(index.definition)}`}
          </Text>
        ))}
        {former !== null && mayReadHistory && (
          <>
            <ObjectDependents object={former} />
            <Section title={messages.details.history}>
              <ObjectEvents object={former} />
            </Section>
          </>
        )}
      </Stack>
      {form === 'delete' && (
        <EditorDrawer name="delete object" title={deleteTitle({ part: 'objects', document })} onClose={close}>
          <DeleteForm
            doomed={{ part: 'objects', document }}
            onDone={() => {
              close();
              if (object.before === null) void navigate({ to: '/objects' });
            }}
            onCancel={close}
          />
        </EditorDrawer>
      )}
    </section>
  );
}

/** Returns the definition in SQL. That of an object that the draft renames has the new name. */
function useShownSql(object: SchemaObject): string {
  const { draft } = useDraft();
  return withNameOf(sqlOf(object), formerObject(draft, object), object);
}

function DetailsHeader({ object: { document, mark }, onForm }: { object: Marked; onForm: (form: FormKind) => void }) {
  const mayChange = useMay('propose');
  const { kind, id, enabled } = document;
  const action = (form: FormKind) => (
    <Button variant="default" onClick={() => onForm(form)}>
      {messages.details[form]}
    </Button>
  );
  return (
    <Group justify="space-between" align="flex-start">
      <div>
        <Group gap="xs">
          <Title order={2} size="h4">
            <Name of={id} />
          </Title>
          <MarkBadge mark={mark} />
        </Group>
        <Text size="sm" c="dimmed">
          {[messages.kind(kind), ...(enabled === undefined ? [] : [messages.enabled[enabled]])].join(', ')}
        </Text>
      </div>
      <Group gap="xs">
        <CopyButton text={useShownSql(document)} label={messages.details.copy} />
        {mayChange && mark !== undefined && (
          <Button
            variant="default"
            onClick={() => editDraft((draft) => discard(draft, 'objects', objectKeyOf(document)))}
          >
            {mark === 'removed' ? messages.details.undoDeletion : messages.details.discard}
          </Button>
        )}
        {mayChange && mark !== 'removed' && (
          <>
            {canRename(document) && action('rename')}
            {action('edit')}
            {action('delete')}
          </>
        )}
      </Group>
    </Group>
  );
}

/** Other kinds have the name of a role or a table. */
const canRename = ({ kind }: SchemaObject): boolean => kind !== 'privileges' && !isNamedLikeTable({ kind });

function ObjectDependents({ object }: { object: ObjectName }) {
  const { data: dependents = [], error, refetch } = useQuery(dependentsQuery(object));
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (dependents.length === 0) return null;
  return (
    <Section title={messages.details.dependents}>
      <Dependents of={dependents} />
    </Section>
  );
}

const ObjectEvents = ({ object }: { object: ObjectName }) => (
  <EventHistory query={useQuery(objectEventsQuery(object))} />
);

interface FormPartProps {
  title: string;
  /** The name under which the browser stores unsaved input. */
  name: string;
  children: ReactNode;
}

const FormPart = ({ title, name, children }: FormPartProps) => (
  <section className={classes.form} aria-label={title}>
    <Title order={2} size="h4" className={classes.title ?? ''}>
      {title}
    </Title>
    <FormName value={name}>{children}</FormName>
  </section>
);

interface RenameFormProps {
  object: SchemaObject;
  objects: readonly Marked[];
  onDone: (renamed: ObjectName) => void;
  onClose: () => void;
}

function RenameForm({ object, objects, onDone, onClose }: RenameFormProps) {
  const { kind, id } = object;
  const { name } = objectNameParts(object);
  const renamed = (to: unknown): ObjectName => ({ kind, id: renamedId(object, String(to).trim()) });
  const form = useForm<FieldValues>({
    defaultValues: { to: name },
    resolver: createResolver({}, ({ to }): Record<string, string> => {
      if (String(to).trim() === '') return { to: messages.form.enterName };
      const other = renamed(to);
      return other.id !== id && hasObject(objects, other) ? { to: messages.form.taken(other.id) } : {};
    }),
  });
  const keeping = useKeep({ names: [], form, inputFor: () => 'to' });
  const edit: Edit = (editor) => {
    const { id: to } = renamed(form.getValues('to'));
    if (to !== id) editor.change((draft) => renameObject(draft, object, to));
  };
  const keep = async (unchecked: boolean) => {
    const isKept = await keeping.keep(edit, { unchecked });
    const to = renamed(form.getValues('to'));
    // The form is no longer shown if the draft has no object with the old name.
    if (to.id !== id && isInDraft(currentDraft().draft, to)) onDone(to);
    else if (isKept) onClose();
  };
  const { error } = form.getFieldState('to', form.formState);
  return (
    <FormPart title={messages.details.renaming(id)} name={`rename object ${kind} ${id}`}>
      <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onClose}>
        <TextInput
          label={messages.form.newName}
          description={messages.form.newNameHelp}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          error={error?.message}
          {...form.register('to')}
        />
      </EditorForm>
    </FormPart>
  );
}

interface ObjectInput {
  definition: string;
  /** The comment. Empty for none. */
  comment: string;
}

const inputFor = ({ member }: { member: string }): string => (member.startsWith('comment') ? 'comment' : 'definition');

const resolver = createResolver<FieldValues>({}, ({ definition }): Record<string, string> =>
  String(definition).trim() === '' ? { definition: messages.form.enterDefinition } : {},
);

const commentOf = ({ comment }: ObjectInput): string | null => (comment === '' ? null : comment);

function EditForm({ object: { document: object, before }, onClose }: { object: Marked; onClose: () => void }) {
  const { kind, id } = object;
  const sql = useShownSql(object);
  const form = useForm<FieldValues>({
    defaultValues: { definition: sql, comment: object.comment ?? '' },
    resolver,
  });
  const keeping = useKeep({ names: [], form, inputFor });
  const edit: Edit = (editor) => {
    const input = form.getValues() as ObjectInput;
    const now = editor.object(object) ?? object;
    const definition = input.definition === sql ? now.definition : input.definition;
    editor.put('objects', { ...now, definition, comment: commentOf(input) });
  };
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onClose();
  return (
    <FormPart title={messages.details.editing(id)} name={`edit object ${kind} ${id}`}>
      <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onClose}>
        <ObjectInputs kind={kind} object={{ ...object, definition: sql }} before={before} />
      </EditorForm>
    </FormPart>
  );
}

function NewObject({ objects }: { objects: readonly Marked[] }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [kind, setKind] = useState<ObjectKind>('view');
  const form = useForm<FieldValues>({ defaultValues: { definition: '', comment: '' }, resolver });
  const keeping = useKeep({ names: [], form, inputFor });
  const fail = (message: string, member = 'definition') => {
    form.setError(member, { type: 'service', message }, { shouldFocus: true });
    return null;
  };
  /** The service finds the name in the definition. */
  const readObject = async (): Promise<SchemaObject | null> => {
    const input = form.getValues() as ObjectInput;
    const { release } = await client.ensureQueryData(infoQuery());
    try {
      const sent = { kind, definition: input.definition, comment: commentOf(input) };
      const object = await readDefinedObject(sent, release);
      if (object === null || hasObject(objects, object))
        return fail(object === null ? messages.form.exists : messages.form.taken(object.id));
      return { ...newObject(object, input.definition), ...object };
    } catch (error) {
      const [problem] = error instanceof ServiceError ? error.problems : [];
      if (problem?.extensions.path?.startsWith('objects[0]') !== true) throw error;
      return fail(problem.message, inputFor({ member: problem.extensions.path.slice('objects[0].'.length) }));
    }
  };
  const keep = async (unchecked: boolean) => {
    let object = null as SchemaObject | null;
    const prepare = async () => {
      object = await readObject();
      return object !== null;
    };
    const edit: Edit = (editor) => object && editor.put('objects', object);
    if (!(await keeping.keep(edit, { unchecked, prepare }))) return;
    const { id = '' } = object ?? {};
    await navigate({ to: '/objects', search: { kind, id } });
  };
  return (
    <FormPart title={messages.create} name="new object">
      <EditorForm keeping={keeping} form={form} keep={keep} onCancel={() => void navigate({ to: '/objects' })}>
        <NativeSelect
          label={messages.form.kind}
          value={kind}
          data={OBJECT_KINDS.map((value) => ({ value, label: messages.kind(value) }))}
          onChange={(event) => setKind(event.currentTarget.value as ObjectKind)}
        />
        <ObjectInputs kind={kind} object={null} before={null} />
      </EditorForm>
    </FormPart>
  );
}

/** Returns the definition in SQL. Privileges are shown as GRANT statements, which the service accepts too. */
const sqlOf = (object: SchemaObject): string =>
  typeof object.definition === 'string' ? object.definition : grantTexts(object, quotedName).join(';\n');

interface InputsProps {
  kind: ObjectKind;
  /** The object with the draft applied. Null for a new one. */
  object: SchemaObject | null;
  /** The object at the head. Null if the draft creates it. */
  before: SchemaObject | null;
}

function ObjectInputs({ kind, object, before }: InputsProps) {
  const { register, getFieldState, formState } = useFormContext();
  const { field, fieldState } = useController({ name: 'definition' });
  const error = fieldState.error?.message;
  const sql = (
    <Textarea
      label={messages.form.definition}
      description={kind === 'privileges' ? messages.form.privileges : messages.form.statement}
      placeholder={EXAMPLES[kind] ?? ''}
      className={classes.definition ?? ''}
      autosize
      minRows={6}
      spellCheck={false}
      error={error}
      {...field}
    />
  );
  const labels = enumLabelsOf(object);
  return (
    <>
      {object !== null && labels !== null ? (
        <EnumDefinition
          name={object.id}
          definition={sqlOf(object)}
          labels={labels}
          headLabels={enumLabelsOf(before) ?? []}
          error={error}
          sql={sql}
          texts={messages.form}
          onChange={field.onChange}
        />
      ) : (
        sql
      )}
      {KINDS[kind].commentTarget !== null && (
        <TextInput
          label={messages.form.comment}
          error={getFieldState('comment', formState).error?.message}
          {...register('comment')}
        />
      )}
    </>
  );
}

/** Returns the values of an enum. Null for other objects. */
const enumLabelsOf = (object: SchemaObject | null): string[] | null =>
  object?.kind === 'type' ? labelsIn(sqlOf(object)) : null;
