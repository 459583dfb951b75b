import { Button, Drawer, Group, List, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { type FieldValues, FormProvider, type UseFormReturn } from 'react-hook-form';
import { Caution } from '../shared/caution.js';
import { firstInput } from '../shared/swapped-form.js';
import { ProblemAlert } from '../shared/problem-alert.js';
import { SteadyButton } from '../shared/steady-button.js';
import classes from './editor-frame.module.css';
import { FormName } from './form-name.js';
import { TypedOffer } from './typed-offer.js';
import { useFocusBack } from './use-focus-back.js';
import type { Keeping } from './use-keep.js';
import { useTyped } from './use-typed.js';

interface DrawerProps {
  name: string;
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** Clicking outside does not close it, because typed input would be hidden. Closing returns the focus. */
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
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ body: classes.body ?? '', title: classes.title ?? '', header: classes.header ?? '' }}
    >
      <FormName value={name}>{children}</FormName>
    </Drawer>
  );
}

interface FormProps<Values extends FieldValues> {
  keeping: Keeping;
  /** The form to validate before it is kept, and to provide to its inputs. */
  form?: UseFormReturn<Values>;
  /** @param unchecked keep it despite the service's objections */
  keep: (unchecked: boolean) => Promise<unknown>;
  onCancel: () => void;
  /** True if the data needed to keep it was read. */
  isReady?: boolean;
  /** The label of the button. */
  label?: string;
  color?: string;
  children: ReactNode;
}

/**
 * Shows the service's objections and offers to keep the edit anyway. Cancel stops a running check and discards the
 * input. Without `form`, no input is stored or validated.
 */
export function EditorForm<Values extends FieldValues>({ form, ...given }: FormProps<Values>) {
  const { keeping, onCancel } = given;
  const cancel = () => {
    keeping.giveUp();
    onCancel();
  };
  const props = { ...given, onCancel: cancel };
  return form === undefined ? <Frame {...props} /> : <TypedForm {...props} form={form} />;
}

/** Stores typed input so that a reload does not lose it. */
function TypedForm<Values extends FieldValues>(props: FormProps<Values> & { form: UseFormReturn<Values> }) {
  const { form, children, onCancel } = props;
  const { offered, taken, takeUp, forget } = useTyped(form);
  const inputs = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (taken > 0) firstInput(inputs.current)?.focus();
  }, [taken]);
  // The focused button disappears with the offer.
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
          <Caution isNews title="The service would reject this">
            <List size="sm" mb="sm">
              {faults.map(({ part, key, message }) => (
                <List.Item key={`${part} ${key} ${message}`}>
                  {key !== null && <b>{key.replace('\0', '.')}: </b>}
                  {message}
                </List.Item>
              ))}
            </List>
            <Button size="xs" variant="default" onClick={() => void keep(true)}>
              Save to draft anyway
            </Button>
          </Caution>
        )}
      </Stack>
      <Group justify="flex-end" className={classes.foot}>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <SteadyButton type="submit" loading={isChecking || !isReady} {...(color !== undefined && { color })}>
          {label ?? 'Save to draft'}
        </SteadyButton>
      </Group>
    </form>
  );
}
