/** Shows views, functions and other objects with their definitions. Admins create, edit and delete them here. */
import { Button, Group, NativeSelect, Stack, Switch, Text, TextInput, Textarea, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { KINDS, OBJECT_KINDS, type ObjectKind, type SchemaObject } from '../../../schema/model/objects.js';
import { grantTexts } from '../../../schema/model/privileges.js';
import {
  deleteObject,
  dependentsQuery,
  type ObjectInput,
  type ObjectName,
  objectsQuery,
  saveObject,
  SCHEMA,
  infoQuery,
} from '../../service/queries.js';
import {
  EnumInput,
  type EnumValue,
  enumValues,
  labelsIn,
  useIsTypeUsed,
  withLabels,
} from '../../editing/column-types.js';
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
import { messages } from './messages.js';

const route = getRouteApi('/objects');

export function ObjectsPage() {
  useTitle(messages.title);
  const { data: info } = useQuery(infoQuery());
  const mayChange = useMay('administer');
  if (info === undefined) return <LoadingIndicator label={messages.loading} />;
  if (info.objects !== true)
    return (
      <Page>
        <Title order={1} size="h2" mb="md">
          {messages.title}
        </Title>
        <Text>{messages.off(<code>{'OBJECTS=on'}</code>)}</Text>
      </Page>
    );
  return (
    <Page wide>
      <Group justify="space-between" mb="md">
        <Title order={1} size="h2">
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
          <div className={classes.columns}>
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
  const [isEditing, setEditing] = useState(false);
  const mayChange = useMay('administer');
  const mayReadHistory = useMay('readHistory');
  const { kind, id, comment, indexes = [], enabled } = object;
  const definition = sqlOf(object);
  if (isEditing)
    return (
      <ObjectForm
        kind={kind}
        object={object}
        title={messages.details.editing(id)}
        button={messages.form.save}
        onClose={() => setEditing(false)}
      />
    );
  return (
    <section className={classes.part} aria-label={named`${id}`}>
      <Stack>
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
            <CopyButton text={definition} label={messages.details.copy} />
            {mayChange && (
              <Button variant="default" onClick={() => setEditing(true)}>
                {messages.details.edit}
              </Button>
            )}
          </Group>
        </Group>
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

const EXAMPLES: Partial<Record<ObjectKind, string>> = {
  view: 'CREATE VIEW recent AS SELECT id FROM articles',
  function: "CREATE FUNCTION half(value integer) RETURNS integer LANGUAGE sql AS 'SELECT value / 2'",
  aggregate: `CREATE AGGREGATE total(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0')`,
  policy: 'CREATE POLICY own ON articles USING (author = current_user)',
  row_security: 'ALTER TABLE articles ENABLE ROW LEVEL SECURITY',
  statistics: 'CREATE STATISTICS regions ON country, city FROM articles',
  rule: 'CREATE RULE keep AS ON DELETE TO articles DO INSTEAD NOTHING',
  privileges: 'GRANT SELECT, UPDATE (title) ON articles TO editors',
  table_options: 'ALTER TABLE articles SET (fillfactor = 80)',
  sequence: 'CREATE SEQUENCE invoice_numbers START WITH 1000',
  type: "CREATE TYPE mood AS ENUM ('happy', 'sad')",
};

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
  const save = useSaving(onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ object, kind, input, reason });
  };
  return (
    <form className={classes.part} onSubmit={submit} aria-label={title}>
      <Stack>
        {children}
        <ObjectInputs kind={kind} object={object} input={input} error={save.error} onChange={setInput} />
        <ReasonInput value={reason} onChange={setReason} />
        <Text size="sm" c="dimmed">
          {messages.form.atOnce}
        </Text>
        <Group justify="flex-end">
          {onClose !== undefined && (
            <Button variant="default" onClick={onClose}>
              {messages.form.cancel}
            </Button>
          )}
          <SteadyButton type="submit" disabled={input.definition.trim() === '' || lacksReason} loading={save.isPending}>
            {button}
          </SteadyButton>
        </Group>
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
function useSaving(onSaved?: () => void) {
  const navigate = useNavigate();
  const client = useQueryClient();
  return useMutation({
    mutationFn: saveObject,
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
        <EnumDefinition object={object} labels={labels} error={at('definition')} sql={sql} onChange={change} />
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

interface EnumProps {
  object: SchemaObject;
  /** The values in the database. */
  labels: readonly string[];
  error: string | undefined;
  /** The input of the whole definition. */
  sql: ReactNode;
  onChange: (definition: string) => void;
}

/** Edits the values of an enum. Another mode discards the changes of the former one. */
function EnumDefinition({ object, labels, error, sql, onChange }: EnumProps) {
  const [isSql, setSql] = useState(false);
  const definition = sqlOf(object);
  return (
    <>
      <Switch
        label={messages.form.asSql}
        checked={isSql}
        onChange={(event) => {
          setSql(event.currentTarget.checked);
          onChange(definition);
        }}
      />
      {isSql ? (
        sql
      ) : (
        <Values
          name={object.id}
          labels={labels}
          error={error}
          onChange={(next) => onChange(withLabels(definition, next))}
        />
      )}
    </>
  );
}

interface ValuesProps extends Pick<EnumProps, 'labels' | 'error'> {
  name: string;
  onChange: (labels: string[]) => void;
}

/**
 * The values of an enum. If columns use it, PostgreSQL can only add or rename values, and the service can do only one of
 * both in a change.
 */
function Values({ name, labels, error, onChange }: ValuesProps) {
  const [values, setValues] = useState(() => enumValues({ labels, headLabels: labels }));
  const isUsed = useIsTypeUsed(name) !== false;
  const isRenaming = values.some(({ label, was }) => was !== null && was !== label);
  const isAdding = values.some(({ was }) => was === null);
  const change = (next: EnumValue[]) => {
    setValues(next);
    onChange(next.map(({ label }) => label));
  };
  return (
    <EnumInput
      values={values}
      onChange={change}
      description={isUsed ? messages.form.usedType : messages.form.unusedType}
      error={error}
      canAdd={!isUsed || !isRenaming}
      canRename={!isUsed || !isAdding}
      canMove={!isUsed}
    />
  );
}
