import copyIcon from 'icon:content_copy';
import doneIcon from 'icon:check';
import { ActionIcon, Code, Text, Tooltip, Button, type ButtonProps, Loader } from '@mantine/core';
import { type ComponentPropsWithoutRef, useState, useEffect, useRef } from 'react';
import { Glyph } from './glyph.js';
import { messages } from './messages.js';
import classes from './buttons.module.css';

/* A button that keeps the focus while it is loading or disabled; a `disabled` button would lose it. */

type SteadyButtonProps = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps>;

/** While `loading` or `disabled`, `onClick` is not called and no form is submitted. */
export function SteadyButton({ loading = false, disabled = false, onClick, children, ...others }: SteadyButtonProps) {
  const isOff = loading || disabled;
  return (
    <Button
      {...others}
      {...attributesOf(loading, disabled)}
      onClick={(event) => {
        // A button that is off must not submit a form either.
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      <span className={loading ? classes.behind : undefined}>{children}</span>
      {loading && <Loader size={18} color="currentColor" className={classes.loader ?? ''} aria-hidden="true" />}
    </Button>
  );
}

const attributesOf = (isBusy: boolean, isHeld: boolean) => ({
  'aria-disabled': isBusy || isHeld ? true : undefined,
  'aria-busy': isBusy ? true : undefined,
  'data-disabled': isHeld && !isBusy ? true : undefined,
});

/** A button that asks for confirmation before an irreversible action. */

interface Props extends ButtonProps {
  /** The label of the button, and of its confirmation. */
  label: string;
  /** The text of the confirmation. Null for no confirmation. */
  sure: string | null;
  /** The name of the object, if it is not visible next to the button. */
  about?: string;
  onConfirm: () => void;
}

/**
 * Asks for a second click. The confirmation is cancelled when the button loses the focus.
 * @param props.onConfirm called by the second click, or by the first one if `sure` is null
 */
export function ConfirmButton({ label, sure, about, onConfirm, ...looks }: Props) {
  const [isAsked, setAsked] = useState(false);
  const isAsking = isAsked && sure !== null;
  const says = isAsking ? sure : label;
  const button = (
    <SteadyButton
      variant={isAsking ? 'filled' : 'default'}
      {...(isAsking && { color: 'red.8' })}
      {...looks}
      {...(about !== undefined && { 'aria-label': messages.buttons.confirmAbout(says, about) })}
      onClick={({ detail: clicks }) => {
        // A double click must not confirm.
        if (sure !== null && clicks > 1) return;
        if (isAsking || sure === null) onConfirm();
        else setAsked(true);
      }}
      // A key that is held down must not confirm either.
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      onBlur={() => setAsked(false)}
    >
      {says}
    </SteadyButton>
  );
  return (
    <Tooltip label={messages.buttons.confirmAgain} opened={isAsking} withArrow withinPortal={false}>
      {button}
    </Tooltip>
  );
}

/* Copies text, also over plain http, where browsers offer no clipboard API. */

/** Milliseconds for which the message is shown. */
const SAID = 2_000;

/** `copied` is true for two seconds, and stays false if the browser refuses. */
export function useCopy(): { copy: (text: string) => void; copied: boolean } {
  const [copied, setCopied] = useState(false);
  const ending = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(ending.current), []);
  const say = (isDone: boolean) => {
    clearTimeout(ending.current);
    setCopied(isDone);
    ending.current = setTimeout(() => setCopied(false), SAID);
  };
  const copy = (text: string) => {
    const { clipboard } = navigator as { clipboard?: Clipboard };
    if (clipboard === undefined) say(copySelected(text));
    else
      clipboard.writeText(text).then(
        () => say(true),
        () => say(copySelected(text)),
      );
  };
  return { copy, copied };
}

/**
 * Copies from an element next to the one with the focus, because a dialog would take the focus from elements outside.
 */
function copySelected(text: string): boolean {
  const holder = document.activeElement;
  const place = document.createElement('textarea');
  place.value = text;
  place.readOnly = true;
  place.setAttribute('aria-hidden', 'true');
  (holder?.parentElement ?? document.body).append(place);
  place.select();
  const isDone = document.execCommand('copy');
  place.remove();
  if (holder instanceof HTMLElement) holder.focus({ preventScroll: true });
  return isDone;
}

/** Shows "Copied" for two seconds if the browser allowed it. */
export function CopyButton({ text, label = messages.buttons.copy }: { text: string; label?: string }) {
  const { copy, copied } = useCopy();
  const says = copied ? messages.buttons.copied : label;
  return (
    <Tooltip label={says}>
      <ActionIcon variant="subtle" color="gray" aria-label={says} onClick={() => copy(text)}>
        <Glyph path={copied ? doneIcon : copyIcon} size={18} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Announces a secret that the service never returns again, with a button that copies it. */
export function ShownOnce({ secret, name }: { secret: string; name: 'token' | 'secret' | 'link' }) {
  return (
    <div role="status">
      <Text size="sm" mt="md" mb={6}>
        {messages.buttons.shownOnce[name]}
      </Text>
      <div className={classes.secret}>
        <Code bg="transparent">{secret}</Code>
        <CopyButton text={secret} label={messages.buttons.copySecret[name]} />
      </div>
    </div>
  );
}
