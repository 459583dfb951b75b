/** Stores input typed into a form across a reload or a login, and offers it next time. */
import { useEffect, useRef, useState } from 'react';
import type { FieldValues, UseFormReturn } from 'react-hook-form';
import { keep, readKept } from '../shared/browser-storage.js';
import { useFormName } from './form-name.js';
import { type TypedMember, mergeTyped, readTyped, typedSince, withTyped } from './typed.js';

/** In milliseconds. */
const DELAY = 200;

interface Offer {
  /** Stored input; empty without an offer. */
  offered: readonly TypedMember[];
  /** How often it was restored. Inputs with local text reset on a change. */
  taken: number;
  takeUp: () => void;
  forget: () => void;
}

/** Stores nothing for a form without a name, see `FormName`. */
export function useTyped<Values extends FieldValues>(form: UseFormReturn<Values>): Offer {
  const name = useFormName();
  const [first] = useState(() => structuredClone(form.getValues()));
  const [offered, setOffered] = useState<readonly TypedMember[]>([]);
  /** The current value of `offered`; null until it was read. */
  const kept = useRef<readonly TypedMember[]>(null);
  const [taken, setTaken] = useState(0);

  useEffect(() => {
    if (name === null) return;
    let isGone = false;
    const note = (values: Values) => {
      // Stored input must not be overwritten before it is read.
      if (kept.current === null) return;
      const typed = mergeTyped(kept.current, typedSince(first, values));
      void keep(name, typed.length === 0 ? null : JSON.stringify(typed), DELAY);
    };
    const offer = (text: string | null) => {
      if (isGone) return;
      // Input that equals the present values is not offered.
      kept.current = typedSince(first, withTyped(first, readTyped(text)));
      setOffered(kept.current);
      // Keeps input typed during the read.
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
