/** Shows views, functions and other objects with their definitions. Admins create, edit and delete them here. */
import { Button, Group, NativeSelect, Stack, Text, TextInput, Textarea, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { objectNameParts } from '../../../schema/model/object-ids.js';
import {
  KINDS,
  OBJECT_KINDS,
  type ObjectKind,
  type SchemaObject,
  isNamedLikeTable,
} from '../../../schema/model/objects.js';
import { grantTexts } from '../../../schema/model/privileges.js';
import {
  deleteObject,
  dependentsQuery,
  type ObjectInput,
  type ObjectName,
  objectsQuery,
  renameObject,
  saveObject,
  SCHEMA,
  infoQuery,
} from '../../service/queries.js';
import { EnumDefinition, labelsIn } from '../../editing/column-types.js';
import { objectEventsQuery } from '../../service/history-queries.js';
import { ServiceError } from '../../service/send.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton, CopyButton, SteadyButton } from '../../shared/buttons.js';
import { ReasonInput, useIsReasonRequired, useLacksReason } from '../../shared/form.js';
import { Dependents, SqlBlock } from '../../shared/catalog.js';
import { EventHistory } from '../../shared/changes/change-list.js';
import { Page, Section, useTitle } from '../../shared/page.js';
import { LoadingIndicator, ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { quotedName, visibleSql } from '../../shared/text.js';
import classes from './page.module.css';
import { Name, named } from '../../shared/name.js';
import { EXAMPLES, messages } from './messages.js';

const route = getRouteApi('/objects');

export function ObjectsPage() {
  useTitle(messages.title);
  const { data: info } = useQuery(infoQuery());
  const mayChange = useMay('administer');
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

function Objects() {
  const objects = useQuery(objectsQuery());
  const { kind, id, new: isNew } = route.useSearch();
  return (
    <QueryResult query={objects} label={messages.loading}>
      {(all) => {
        const shown = all.find((each) => each.kind === kind && each.id === id);
        return (
          <div className={classes.columns} data-open={isNew === true || id !== undefined || undefined}>
            <Link to="/objects" className={classes.back}>
              {messages.list.all}
            </Link>
            <ObjectList objects={all} shown={shown} />
            {isNew === true ? (
              <NewObject />
            ) : shown !== undefined ? (
              <ObjectDetails key={`${shown.kind} ${shown.id}`} object={shown} />
            ) : all.length === 0 && id === undefined ? null : (
              <Text c="dimmed">{id === undefined ? messages.list.choose : messages.list.missing(id)}</Text>
            )}
          </div>
        );
      }}
    </QueryResult>
  );
}

function ObjectList({ objects, shown }: { objects: readonly SchemaObject[]; shown: SchemaObject | undefined }) {
  const [filter, setFilter] = useState('');
  const typed = filter.trim().toLowerCase();
  const found = objects.filter(({ id }) => id.toLowerCase().includes(typed));
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
        const ofKind = found.filter((each) => each.kind === kind);
        if (ofKind.length === 0) return null;
        return (
          <section key={kind} aria-label={messages.kind(kind)}>
            <Text size="sm" c="dimmed" mb={4}>
              {messages.count(kind, ofKind.length)}
            </Text>
            <ul className={classes.list}>
              {ofKind.map(({ id }) => (
                <li key={id}>
                  <Link
                    to="/objects"
                    search={{ kind, id }}
                    className={classes.entry}
                    data-here={(shown?.kind === kind && shown.id === id) || undefined}
                    aria-current={shown?.kind === kind && shown.id === id ? 'page' : undefined}
                  >
                    <Name of={id} />
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </nav>
  );
}

function ObjectDetails({ object }: { object: SchemaObject }) {
  const [form, setForm] = useState<'edit' | 'rename' | null>(null);
  const mayChange = useMay('administer');
  const mayReadHistory = useMay('readHistory');
  const { kind, id, comment, indexes = [] } = object;
  const definition = sqlOf(object);
  const close = () => setForm(null);
  if (form === 'rename') return <RenameForm object={object} onClose={close} />;
  if (form === 'edit')
    return (
      <ObjectForm
        kind={kind}
        object={object}
        title={messages.details.editing(id)}
        button={messages.form.save}
        onClose={close}
      />
    );
  return (
    <section className={classes.part} aria-label={named`${id}`}>
      <Stack>
        <DetailsHeader object={object} onForm={setForm} />
        {comment !== null && <Text>{comment}</Text>}
        <SqlBlock sql={definition} label={messages.details.definitionOf(id)} />
        {indexes.map((index) => (
          <Text key={index.name} size="sm">
            {index.unique === true ? messages.details.uniqueIndex : messages.details.index}{' '}
            <strong>{index.name}</strong>
            {`: ${visibleSql(index.definition)}`}
          </Text>
        ))}
        {mayReadHistory && <ObjectDependents object={object} />}
        {mayChange && <Deletion object={object} />}
        {mayReadHistory && (
          <Section title={messages.details.history}>
            <ObjectEvents object={object} />
          </Section>
        )}
      </Stack>
    </section>
  );
}

function DetailsHeader({ object, onForm }: { object: SchemaObject; onForm: (form: 'edit' | 'rename') => void }) {
  const mayChange = useMay('administer');
  const { kind, id, enabled } = object;
  return (
    <Group justify="space-between" align="flex-start">
      <div>
        <Title order={2} size="h4">
          <Name of={id} />
        </Title>
        <Text size="sm" c="dimmed">
          {[messages.kind(kind), ...(enabled === undefined ? [] : [messages.enabled[enabled]])].join(', ')}
        </Text>
      </div>
      <Group gap="xs">
        <CopyButton text={sqlOf(object)} label={messages.details.copy} />
        {mayChange && canRename(object) && (
          <Button variant="default" onClick={() => onForm('rename')}>
            {messages.details.rename}
          </Button>
        )}
        {mayChange && (
          <Button variant="default" onClick={() => onForm('edit')}>
            {messages.details.edit}
          </Button>
        )}
      </Group>
    </Group>
  );
}

/** Privileges have the name of a role, and row security and table options have the name of their table. */
const canRename = ({ kind }: SchemaObject): boolean => kind !== 'privileges' && !isNamedLikeTable({ kind });

function RenameForm({ object, onClose }: { object: SchemaObject; onClose: () => void }) {
  const { id } = object;
  const { name } = objectNameParts(object);
  const [to, setTo] = useState(name);
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const save = useSaving(() => renameObject(object, to.trim(), reason), onClose);
  const fault = save.error instanceof ServiceError ? save.error.at('to') : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className={classes.part} onSubmit={submit} aria-label={messages.details.renaming(id)}>
      <Stack>
        <TextInput
          label={messages.form.newName}
          description={messages.form.newNameHelp}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={to}
          error={fault}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <ReasonInput value={reason} onChange={setReason} />
        {save.error !== null && fault === undefined && <ProblemAlert error={save.error} />}
        <FormEnd
          button={messages.details.rename}
          isDisabled={to.trim() === '' || to.trim() === name || lacksReason}
          isSaving={save.isPending}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

interface FormEndProps {
  button: string;
  isDisabled: boolean;
  isSaving: boolean;
  onClose: (() => void) | undefined;
}

/** The buttons of a form. The service applies it immediately. */
function FormEnd({ button, isDisabled, isSaving, onClose }: FormEndProps) {
  return (
    <>
      <Text size="sm" c="dimmed">
        {messages.form.atOnce}
      </Text>
      <Group justify="flex-end">
        {onClose !== undefined && (
          <Button variant="default" onClick={onClose}>
            {messages.form.cancel}
          </Button>
        )}
        <SteadyButton type="submit" disabled={isDisabled} loading={isSaving}>
          {button}
        </SteadyButton>
      </Group>
    </>
  );
}

/** Nothing depends on most objects, so the section is shown only for dependents and for errors. */
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

function Deletion({ object }: { object: ObjectName }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const isReasonRequired = useIsReasonRequired();
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const removal = useMutation({
    mutationFn: () => deleteObject(object, reason),
    onSuccess: async () => {
      await navigate({ to: '/objects' });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
  });
  return (
    <>
      {removal.error !== null && <ProblemAlert error={removal.error} />}
      {isReasonRequired && <ReasonInput label={messages.details.deletionReason} value={reason} onChange={setReason} />}
      <Group>
        <ConfirmButton
          label={messages.details.delete}
          sure={messages.details.deleteSurely(object.id)}
          about={object.id}
          disabled={lacksReason}
          loading={removal.isPending}
          onConfirm={() => removal.mutate()}
        />
      </Group>
    </>
  );
}

function NewObject() {
  const [kind, setKind] = useState<ObjectKind>('view');
  return (
    <ObjectForm kind={kind} object={null} title={messages.create} button={messages.form.create}>
      <NativeSelect
        label={messages.form.kind}
        value={kind}
        data={OBJECT_KINDS.map((value) => ({ value, label: messages.kind(value) }))}
        onChange={(event) => setKind(event.currentTarget.value as ObjectKind)}
      />
    </ObjectForm>
  );
}

interface FormProps {
  kind: ObjectKind;
  /** The object. Null for a new one. */
  object: SchemaObject | null;
  title: string;
  button: string;
  /** Called after the object was saved, and by the button "Cancel". */
  onClose?: () => void;
  children?: ReactNode;
}

function ObjectForm({ kind, object, title, button, onClose, children }: FormProps) {
  const [input, setInput] = useState(inputOf(object));
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const save = useSaving(() => saveObject({ object, kind, input, reason }), onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className={classes.part} onSubmit={submit} aria-label={title}>
      <Stack>
        {children}
        <ObjectInputs kind={kind} object={object} input={input} error={save.error} onChange={setInput} />
        <ReasonInput value={reason} onChange={setReason} />
        <FormEnd
          button={button}
          isDisabled={input.definition.trim() === '' || lacksReason}
          isSaving={save.isPending}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

/** Returns the definition in SQL. Privileges are shown as GRANT statements, which the service accepts too. */
const sqlOf = (object: SchemaObject): string =>
  typeof object.definition === 'string' ? object.definition : grantTexts(object, quotedName).join(';\n');

const inputOf = (object: SchemaObject | null): ObjectInput => ({
  definition: object === null ? '' : sqlOf(object),
  comment: object?.comment ?? '',
});

/** Shows the object after it was saved. */
function useSaving(save: () => Promise<ObjectName>, onSaved?: () => void) {
  const navigate = useNavigate();
  const client = useQueryClient();
  return useMutation({
    mutationFn: save,
    onSuccess: async ({ kind, id }) => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await navigate({ to: '/objects', search: { kind, id } });
      onSaved?.();
    },
  });
}

interface InputsProps {
  kind: ObjectKind;
  object: SchemaObject | null;
  input: ObjectInput;
  error: Error | null;
  onChange: (input: ObjectInput) => void;
}

function ObjectInputs({ kind, object, input, error, onChange }: InputsProps) {
  const at = (path: string) => (error instanceof ServiceError ? error.at(path) : undefined);
  const isShownAtInput = at('definition') !== undefined || at('comment') !== undefined;
  const change = (definition: string) => onChange({ ...input, definition });
  const sql = (
    <Textarea
      label={messages.form.definition}
      description={kind === 'privileges' ? messages.form.privileges : messages.form.statement}
      placeholder={EXAMPLES[kind] ?? ''}
      className={classes.definition ?? ''}
      autosize
      minRows={6}
      spellCheck={false}
      value={input.definition}
      error={at('definition')}
      onChange={(event) => change(event.currentTarget.value)}
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
          error={at('definition')}
          sql={sql}
          texts={messages.form}
          onChange={change}
        />
      ) : (
        sql
      )}
      {KINDS[kind].commentTarget !== null && (
        <TextInput
          label={messages.form.comment}
          value={input.comment}
          error={at('comment')}
          onChange={(event) => onChange({ ...input, comment: event.currentTarget.value })}
        />
      )}
      {error !== null && !isShownAtInput && <ProblemAlert error={error} />}
    </>
  );
}

/** Returns the values of an enum. Null for other objects. */
const enumLabelsOf = (object: SchemaObject | null): string[] | null =>
  object?.kind === 'type' ? labelsIn(sqlOf(object)) : null;
