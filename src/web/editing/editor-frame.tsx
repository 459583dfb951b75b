import { Button, Drawer, Group, List, Stack, Alert, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type FieldValues, FormProvider, type UseFormReturn } from 'react-hook-form';
import type { Part } from '../draft/model.js';
import { objectTitle } from '../shared/changes/sentences.js';
import { Caution, firstInput } from '../shared/form.js';
import { ProblemAlert } from '../shared/problem-alert.js';
import { SteadyButton } from '../shared/buttons.js';
import classes from './editor-frame.module.css';
import { FormName, useFormName, type KeepEditState } from './use-keep.js';
import { placeBefore } from '../shared/focus.js';
import { storeText, readKept } from '../shared/browser-storage.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import { messages as shared } from '../shared/messages.js';
import { messages } from './messages.js';

const words = shared.form;

/* Keeps input in a form across a reload or a login, and offers it when the form opens again. */

/* Store input relative to the original values, so that it can be applied to later values. */

interface TypedMember {
  /** The path of the member: `['meta', 'note']`. */
  path: readonly string[];
  value: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the members of a document and of its `meta` and `schema` that differ. Deeper values are compared as a whole.
 */
function typedMembers(before: Values, now: Values): TypedMember[] {
  return Object.keys(now).flatMap((name) => {
    const [was, is] = [before[name], now[name]];
    if (jsonEqual(was ?? null, is ?? null)) return [];
    if (!isObject(was) || !isObject(is) || !sameMembers(was, is)) return [{ path: [name], value: is }];
    const inside = Object.keys(is).filter((member) => !jsonEqual(was[member] ?? null, is[member] ?? null));
    return inside.map((member) => ({ path: [name, member], value: is[member] }));
  });
}

const sameMembers = (one: object, other: object): boolean =>
  Object.keys(one).sort().join('\n') === Object.keys(other).sort().join('\n');

/** Applies stored input to the values. Skips members of a `meta` or `schema` that no longer exists. */
function withTyped<T extends Values>(values: T, typed: readonly TypedMember[]): T {
  const next: Record<string, unknown> = { ...values };
  for (const { path, value } of typed) {
    const [name = '', member] = path;
    const whole = next[name];
    if (member === undefined) next[name] = value;
    else if (isObject(whole)) next[name] = { ...whole, [member]: value };
  }
  return next as T;
}

/** Joins two lists of input. Later input takes precedence. */
function mergeTyped(earlier: readonly TypedMember[], later: readonly TypedMember[]): TypedMember[] {
  const keyOf = ({ path }: TypedMember) => path.join('.');
  return [...new Map([...earlier, ...later].map((each) => [keyOf(each), each])).values()];
}

/** Reads stored input. Invalid text is read as no input. */
function readTyped(text: string | null): TypedMember[] {
  if (text === null) return [];
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? (read as TypedMember[]).filter(({ path }) => Array.isArray(path)) : [];
  } catch {
    return [];
  }
}

/** Milliseconds without a change after which input is stored. */
const DELAY = 200;

interface StoredInputOffer {
  /** The stored input. Empty if there is nothing to offer. */
  offered: readonly TypedMember[];
  /** How often stored input was restored. Inputs with local text reset when this number changes. */
  taken: number;
  takeUp: () => void;
  forget: () => void;
}

/** Stores the input of a form and offers earlier input. A form without a name (see `FormName`) stores nothing. */
function useTyped<Values extends FieldValues>(form: UseFormReturn<Values>): StoredInputOffer {
  const name = useFormName();
  const [first] = useState(() => structuredClone(form.getValues()));
  const [offered, setOffered] = useState<readonly TypedMember[]>([]);
  /** The current value of `offered`. Null until the stored input was read. */
  const kept = useRef<readonly TypedMember[]>(null);
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    if (name === null) return;
    let isGone = false;
    const note = (values: Values) => {
      // Stored input must be read before it can be overwritten.
      if (kept.current === null) return;
      const typed = mergeTyped(kept.current, typedMembers(first, values));
      void storeText(name, typed.length === 0 ? null : JSON.stringify(typed), DELAY);
    };
    const offer = (text: string | null) => {
      if (isGone) return;
      // Input that equals the current values is not offered.
      kept.current = typedMembers(first, withTyped(first, readTyped(text)));
      setOffered(kept.current);
      // The user may have typed something while the stored input was read.
      if (typedMembers(first, form.getValues()).length > 0) note(form.getValues());
    };
    const unsubscribe = form.subscribe({ formState: { values: true }, callback: ({ values }) => note(values) });
    readKept(name).then(offer, () => offer(null));
    return () => {
      isGone = true;
      kept.current = null;
      unsubscribe();
    };
  }, [name, form, first]);

  const take = () => {
    kept.current = [];
    setOffered([]);
  };
  const takeUp = () => {
    form.reset(withTyped(form.getValues(), offered), { keepDefaultValues: true });
    take();
    setTaken(taken + 1);
  };
  const forget = () => {
    take();
    if (name !== null) void storeText(name, null);
  };
  return { offered, taken, takeUp, forget };
}

interface Props {
  offered: readonly TypedMember[];
  onTakeUp: () => void;
  onForget: () => void;
}

/** Renders nothing if there is nothing to offer. Shows the names of the members but not their values. */
function TypedOffer({ offered, onTakeUp, onForget }: Props) {
  if (offered.length === 0) return null;
  const names = offered.map(({ path }) => path.at(-1)).join(', ');
  return (
    <Alert variant="light" role="status" title={words.unsaved}>
      <Text size="sm" mb="sm">
        {names}
      </Text>
      <Group gap="xs">
        <Button size="xs" onClick={onTakeUp}>
          {words.restoreInput}
        </Button>
        <Button size="xs" variant="default" onClick={onForget}>
          {words.discardInput}
        </Button>
      </Group>
    </Alert>
  );
}

/** Returns the focus after a form next to the page was closed. */

/**
 * Restores the focus. The component library does this only for an element that closes, and not for one that a new
 * address removes.
 */
function useFocusBack(): void {
  useEffect(
    () => () => {
      setTimeout(() => {
        if (!holdsFocus()) placeBefore()?.focus({ preventScroll: true });
      });
    },
    [],
  );
}

const holdsFocus = (): boolean => document.activeElement !== null && document.activeElement !== document.body;

interface DrawerProps {
  name: string;
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/**
 * Shows a form next to the page. A click outside does not close it, because the input would be hidden. After closing,
 * the focus returns.
 */
export function EditorDrawer({ name, title, onClose, children }: DrawerProps) {
  useFocusBack();
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={title}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': messages.common.close }}
      classNames={{ body: classes.body ?? '', title: classes.title ?? '', header: classes.header ?? '' }}
    >
      <FormName value={name}>{children}</FormName>
    </Drawer>
  );
}

interface FormProps<Values extends FieldValues> {
  keeping: KeepEditState;
  /** The form, which is validated before the edit is kept. It is provided to its inputs. */
  form?: UseFormReturn<Values>;
  /** @param unchecked true to keep the edit although the service rejects it */
  keep: (unchecked: boolean) => Promise<unknown>;
  onCancel: () => void;
  /** True once the data that is needed to keep the input has been read. */
  isReady?: boolean;
  /** The label of the submit button. */
  label?: string;
  color?: string;
  children: ReactNode;
}

/**
 * Shows the problems that the service reports, and offers to keep the edit anyway. Cancel stops a running check and
 * discards the input. Without `form`, no input is stored or validated.
 */
export function EditorForm<Values extends FieldValues>({ form, ...frameProps }: FormProps<Values>) {
  const { keeping, onCancel } = frameProps;
  const cancel = () => {
    keeping.giveUp();
    onCancel();
  };
  const props = { ...frameProps, onCancel: cancel };
  return form === undefined ? <Frame {...props} /> : <TypedForm {...props} form={form} />;
}

/** Shows a form whose input is stored, so that a reload does not lose it. */
function TypedForm<Values extends FieldValues>(props: FormProps<Values> & { form: UseFormReturn<Values> }) {
  const { form, children, onCancel } = props;
  const { offered, taken, takeUp, forget } = useTyped(form);
  const inputs = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (taken > 0) firstInput(inputs.current)?.focus();
  }, [taken]);
  // The button with the focus disappears together with the offer, so the focus must move.
  const refuse = () => {
    forget();
    firstInput(inputs.current)?.focus();
  };
  const cancel = () => {
    forget();
    onCancel();
  };
  return (
    <FormProvider {...form}>
      <Frame {...props} onCancel={cancel}>
        <TypedOffer offered={offered} onTakeUp={takeUp} onForget={refuse} />
        <Stack gap="md" key={taken} ref={inputs}>
          {children}
        </Stack>
      </Frame>
    </FormProvider>
  );
}

function nameOf(part: Part, key: string): string {
  const [first = '', second = ''] = key.split('\0');
  return part === 'objects' ? objectTitle({ kind: second, id: first }) : key.replace('\0', '.');
}

function Frame<Values extends FieldValues>(props: FormProps<Values>) {
  const { keeping, form, keep, onCancel, isReady = true, label, color, children } = props;
  const { faults, error, isChecking } = keeping;
  return (
    <form
      noValidate
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        if (form === undefined) void keep(false);
        else void form.handleSubmit(() => keep(false))();
      }}
    >
      <Stack gap="md" className={classes.fields}>
        {children}
        {error !== null && <ProblemAlert error={error} />}
        {faults.length > 0 && (
          <Caution isNews title={words.wouldReject}>
            <List size="sm" mb="sm">
              {faults.map(({ part, key, message }) => (
                <List.Item key={`${part} ${key} ${message}`}>
                  {key !== null && <b>{nameOf(part, key)}: </b>}
                  {message}
                </List.Item>
              ))}
            </List>
            <Button size="xs" variant="default" onClick={() => void keep(true)}>
              {words.saveAnyway}
            </Button>
          </Caution>
        )}
      </Stack>
      <Group justify="flex-end" className={classes.foot}>
        <Button variant="default" onClick={onCancel}>
          {messages.common.cancel}
        </Button>
        <SteadyButton type="submit" loading={isChecking || !isReady} {...(color !== undefined && { color })}>
          {label ?? messages.common.saveToDraft}
        </SteadyButton>
      </Group>
    </form>
  );
}
