/** A new relation: first its kind, then the form of that kind with suggested names. */
import { Radio, Text } from '@mantine/core';
import { type ReactNode, use, useEffect, useState } from 'react';
import { readKept } from '../shared/browser-storage.js';
import { FormName, useFormName } from './form-name.js';
import { AnyForm } from './relation-any-form.js';
import { ManyToManyForm } from './relation-many-form.js';
import { OneForm } from './relation-one-form.js';
import type { RelationFormProps } from './relation-parts.js';
import classes from './editor-frame.module.css';

const KINDS = [
  { value: 'm2o', label: 'Many to one', help: 'Each item references one other item: an article and its author' },
  { value: 'o2m', label: 'One to many', help: 'Several items reference each item: an author and their articles' },
  { value: 'm2m', label: 'Many to many', help: 'Through a junction collection: articles and tags' },
  { value: 'm2a', label: 'Many to any', help: 'Items of several collections: the blocks of a page' },
] as const;

type KindName = (typeof KINDS)[number]['value'];

/** The kind whose form was in use when the page was closed. */
async function typedKind(name: string): Promise<KindName | undefined> {
  const kept = await Promise.all(KINDS.map(({ value }) => readKept(`${name}${value}`).catch(() => null)));
  return KINDS.find((_, index) => kept[index] !== null)?.value;
}

/**
 * Each kind has its own form with separately stored input. Starts with the kind of the unfinished form, otherwise
 * many-to-one.
 */
export function RelationForm(props: RelationFormProps) {
  const [chosen, choose] = useState<KindName | null>(null);
  const [typed, setTyped] = useState<KindName>();
  const kind = chosen ?? typed ?? 'm2o';
  const name = use(FormName);
  const whole = useFormName();
  useEffect(() => {
    if (whole !== null) void typedKind(whole).then(setTyped);
  }, [whole]);
  const chooser = (
    <Radio.Group label="Kind" value={kind} onChange={(value) => choose(value)}>
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
  if (kind === 'm2a') return <AnyForm {...props} />;
  return <OneForm {...props} kind={kind} />;
}
