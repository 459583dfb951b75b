/** The storage name of a form's input: the same form of the same user finds it again. */
import { createContext, useContext } from 'react';
import { useSession } from '../service/use-session.js';

export const FormName = createContext<string | null>(null);

/** Null if it is not stored. */
export function useFormName(): string | null {
  const name = useContext(FormName);
  const session = useSession();
  return name === null || !('user' in session) ? null : `dps.form.${session.user.id} ${name}`;
}
