/** Many-to-any: a junction whose rows name an item and its collection. */
import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Controller, useForm } from 'react-hook-form';
import type { ReferentialAction } from '../../schema/model/model.js';
import { EditorForm } from './editor-frame.js';
import { freeName, namesFaults, NameInput, OnDelete, type RelationFormProps } from './relation-parts.js';
import { makeRelation } from './relations.js';
import { checkedBy } from './resolver.js';
import { type Edit, useKeep } from './use-keep.js';
import { KeyProblem, useKeyColumn } from './key-problem.js';
import classes from './editor-frame.module.css';

interface Values {
  field: string;
  allowed: string[];
  junction: string;
  ownKey: string;
  item: string;
  itemCollection: string;
  sort: string;
  onDelete: ReferentialAction;
}

const NEEDED = ['field', 'junction', 'ownKey', 'item', 'itemCollection'];

/** Needs the key of the collection. Without a single-column key, it shows the reason and keeps nothing. */
export function AnyForm({ collection, names, chooser, onDone }: RelationFormProps & { chooser: ReactNode }) {
  const form = useForm<Values>({
    defaultValues: {
      field: 'items',
      allowed: [],
      junction: freeName(`${collection}_items`, names.taken),
      ownKey: `${collection}_id`,
      item: 'item',
      itemCollection: 'collection',
      sort: 'sort',
      onDelete: 'CASCADE',
    },
    resolver: checkedBy({}, (values) => ({
      ...namesFaults(values as never, NEEDED),
      ...(values.allowed.length === 0 && { allowed: 'Choose at least one collection.' }),
      ...(names.taken.has(values.junction) && { junction: `Collection "${values.junction}" already exists.` }),
    })),
  });
  const own = useKeyColumn(collection);
  const keeping = useKeep({ names: [collection] });
  const edit: Edit = (editor) => {
    if (own) makeRelation(editor, { kind: 'm2a', collection, ...form.getValues(), keys: { own } });
  };
  const keep = async (unchecked: boolean) => {
    if (own && (await keeping.keep(edit, { unchecked }))) onDone(form.getValues('field'));
  };
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={() => onDone()} isReady={own !== undefined}>
      {chooser}
      <Controller
        control={form.control}
        name="allowed"
        render={({ field, fieldState }) => (
          <Allowed
            names={names.collections}
            value={field.value}
            error={fieldState.error?.message}
            onChange={field.onChange}
          />
        )}
      />
      <NameInput name="field" label="Field name" help="An alias field without a column" />
      <NameInput name="junction" label="Junction collection" help="A new hidden collection" />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NameInput name="ownKey" label="Foreign key to this collection" />
        <NameInput name="sort" label="Sort field" />
        <NameInput name="item" label="Item field" />
        <NameInput name="itemCollection" label="Collection field" />
      </SimpleGrid>
      <OnDelete label={`When an item of ${collection} is deleted`} />
      <KeyProblem collection={collection} />
    </EditorForm>
  );
}

/** The maximum number of options shown; others are found by search. */
const MOST_SHOWN = 50;

interface AllowedProps {
  names: readonly string[];
  value: string[];
  error: string | undefined;
  onChange: (names: string[]) => void;
}

function Allowed({ names, value, error, onChange }: AllowedProps) {
  const [filter, setFilter] = useState('');
  const isLong = names.length > MOST_SHOWN;
  const fitting = names.filter((name) => name.includes(filter.trim()));
  // Selected names stay visible.
  const shown = [...new Set([...value, ...fitting.slice(0, MOST_SHOWN)])];
  return (
    <Checkbox.Group label="Related collections" error={error} value={value} onChange={onChange}>
      {isLong && (
        <TextInput
          mt={6}
          size="xs"
          aria-label="Search related collections"
          placeholder={`Search ${names.length.toLocaleString()} collections`}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <Stack gap={6} mt={6} className={classes.list ?? ''}>
        {shown.map((name) => (
          <Checkbox key={name} value={name} label={name} />
        ))}
      </Stack>
      {fitting.length > MOST_SHOWN && (
        <Text size="xs" c="dimmed" mt={4}>
          and {(fitting.length - MOST_SHOWN).toLocaleString()} more
        </Text>
      )}
    </Checkbox.Group>
  );
}
