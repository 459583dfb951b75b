/* Parts of forms: the reason, fields that replace each other, and warnings. */
import { Alert, Text, TextInput, Box, type TextInputProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { hasReason } from '../../schema/model/policy.js';
import { policyQuery } from '../service/operations-queries.js';
import { useMay } from '../service/session.js';
import { messages } from './messages.js';

/* The reason of a change, which is stored with its events. */

/* A warning with a heading. The library's own heading has too little contrast. */

interface Props extends Pick<TextInputProps, 'size' | 'flex'> {
  label?: string;
  value: string;
  onChange: (reason: string) => void;
}

/** @param props.value may be empty, unless the policy requires a reason */
export function ReasonInput({ label = messages.form.reason, value, onChange, ...layout }: Props) {
  const isRequired = useIsReasonRequired();
  return (
    <TextInput
      {...layout}
      label={label}
      required={isRequired}
      placeholder={isRequired ? messages.form.required : messages.form.recorded}
      maxLength={1000}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** True if the policy requires a reason of the user. A user who may only propose changes does not need one. */
export function useIsReasonRequired(): boolean {
  const mayCarryOut = useMay('carryOut');
  return useQuery({ ...policyQuery(), enabled: mayCarryOut }).data?.data.requires_reason === true;
}

/** True if the policy requires a reason, and the text is none. */
export const useLacksReason = (reason: string | null): boolean => useIsReasonRequired() && !hasReason({ reason });

/* A button that is replaced by a form. The focus moves with it and back. */

interface SwappedFormProps {
  button: (place: RefObject<HTMLButtonElement | null>, open: () => void) => ReactNode;
  form: (close: () => void) => ReactNode;
}

/**
 * Shows a button or, after a click, a form.
 * @param props.button receives `place`, to which the focus returns, and calls `open`
 * @param props.form calls `close`, after a request or without one
 */
export function SwappedForm({ button, form }: SwappedFormProps) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const isLeft = useRef(false);
  useEffect(() => {
    if (isOpen) firstInput(place.current)?.focus();
    else if (isLeft.current) opener.current?.focus();
    isLeft.current = false;
  }, [isOpen]);
  const close = () => {
    // If the user has moved on, the focus must not move back.
    isLeft.current = holdsKeyboard(place.current);
    setOpen(false);
  };
  return isOpen ? <Box ref={place}>{form(close)}</Box> : button(opener, () => setOpen(true));
}

/** Null if there is none. */
export const firstInput = (within: HTMLElement | null): HTMLElement | null =>
  within?.querySelector<HTMLElement>('input, textarea, select') ?? null;

/** True if the element contains the focus, or if nothing has the focus. */
function holdsKeyboard(place: HTMLElement | null): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || place?.contains(activeElement) === true;
}

/** Focuses the first input of an element that replaced the focused one. */
export function useKeyboard(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body)
      firstInput(place.current)?.focus({ preventScroll: true });
  }, [place]);
}

interface CautionProps {
  title: string;
  children: ReactNode;
  /** True if the last action of the user caused the warning. */
  isNews?: boolean;
}

/** Shows a warning. If it is new, screen readers announce it immediately. */
export function Caution({ title, children, isNews = false }: CautionProps) {
  return (
    <Alert color="orange" variant="light" role={isNews ? 'alert' : 'note'}>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {children}
    </Alert>
  );
}
