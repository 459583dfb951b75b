/** What a form is called where what is typed into it is kept: the same form again finds it, of the same user. */
import { createContext, useContext } from 'react';
import { useSession } from '../service/use-session.js';

export const FormName = createContext<string | null>(null);

/** null: it isn't kept. */
export function useFormName(): string | null {
  const name = useContext(FormName);
  const session = useSession();
  return name === null || !('user' in session) ? null : `dps.form.${session.user.id} ${name}`;
}
