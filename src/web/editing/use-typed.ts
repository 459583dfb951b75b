/** Keeps what is typed into a form, for who reloads the page or has to sign in again, and offers it the next time. */
import { useEffect, useState } from 'react';
import type { FieldValues, UseFormReturn } from 'react-hook-form';
import { keep, readKept } from '../shared/kept.js';
import { useFormName } from './form-name.js';
import { type TypedMember, mergeTyped, readTyped, typedSince, withTyped } from './typed.js';

/** Milliseconds. */
const DELAY = 200;

interface Offer {
  /** What was typed before; empty: there is nothing to offer. */
  offered: readonly TypedMember[];
  /** How often it was taken up: inputs that keep their own text begin anew. */
  taken: number;
  takeUp: () => void;
  forget: () => void;
}

export function useTyped<Values extends FieldValues>(form: UseFormReturn<Values>): Offer {
  const name = useFormName();
  const [first] = useState(() => structuredClone(form.getValues()));
  const [offered, setOffered] = useState<readonly TypedMember[]>([]);
  const [isRead, setRead] = useState(false);
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    if (name === null) return;
    let isGone = false;
    const offer = (text: string | null) => {
      if (isGone) return;
      // Nothing is offered that is there already.
      setOffered(typedSince(first, withTyped(first, readTyped(text))));
      setRead(true);
    };
    readKept(name).then(offer, () => offer(null));
    return () => {
      isGone = true;
    };
  }, [name, first]);

  useEffect(() => {
    // What was kept isn't written over before it is read.
    if (name === null || !isRead) return;
    return form.subscribe({
      formState: { values: true },
      callback: ({ values }) => {
        const typed = mergeTyped(offered, typedSince(first, values));
        void keep(name, typed.length === 0 ? null : JSON.stringify(typed), DELAY);
      },
    });
  }, [name, isRead, form, first, offered]);

  const takeUp = () => {
    form.reset(withTyped(form.getValues(), offered), { keepDefaultValues: true });
    setOffered([]);
    setTaken(taken + 1);
  };
  const forget = () => {
    setOffered([]);
    if (name !== null) void keep(name, null);
  };
  return { offered, taken, takeUp, forget };
}
