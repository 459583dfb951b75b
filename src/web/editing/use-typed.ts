/** Keeps what is typed into a form, for who reloads the page or has to sign in again, and offers it the next time. */
import { useEffect, useRef, useState } from 'react';
import type { FieldValues, UseFormReturn } from 'react-hook-form';
import { keep, readKept } from '../shared/browser-storage.js';
import { useFormName } from './form-name.js';
import { type TypedMember, mergeTyped, readTyped, typedSince, withTyped } from './typed.js';

/** Milliseconds. */
const DELAY = 200;

interface Offer {
  /** What was typed before; empty: there is nothing to offer. */
  offered: readonly TypedMember[];
  /** How often it was taken up: inputs that keep their own text start over. */
  taken: number;
  takeUp: () => void;
  forget: () => void;
}

/** Keeps and offers nothing in a form without a name, see `FormName`. */
export function useTyped<Values extends FieldValues>(form: UseFormReturn<Values>): Offer {
  const name = useFormName();
  const [first] = useState(() => structuredClone(form.getValues()));
  const [offered, setOffered] = useState<readonly TypedMember[]>([]);
  /** What `offered` is, at once; null: what was kept isn't read yet. */
  const kept = useRef<readonly TypedMember[]>(null);
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    if (name === null) return;
    let isGone = false;
    const note = (values: Values) => {
      // What was kept isn't written over before it is read.
      if (kept.current === null) return;
      const typed = mergeTyped(kept.current, typedSince(first, values));
      void keep(name, typed.length === 0 ? null : JSON.stringify(typed), DELAY);
    };
    const offer = (text: string | null) => {
      if (isGone) return;
      // Nothing is offered that is there already.
      kept.current = typedSince(first, withTyped(first, readTyped(text)));
      setOffered(kept.current);
      // What was typed while it was read.
      if (typedSince(first, form.getValues()).length > 0) note(form.getValues());
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
    if (name !== null) void keep(name, null);
  };
  return { offered, taken, takeUp, forget };
}
