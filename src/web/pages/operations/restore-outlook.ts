/** What the plan of a restoration means for who decides about it. */
import type { Plan } from '../../service/types.js';

export interface RestoreOutlook {
  /** What comes back, in the service's words. */
  comes: string[];
  /** What doesn't. */
  stays: string[];
  /** Why PostgreSQL would not take it; none: it would. */
  refused: string[];
}

/** Three empty lists: all of it comes back, with nothing to be said. */
export function outlookOf({ accepted, errors = [], warnings }: Plan): RestoreOutlook {
  const comes = warnings.filter(({ code }) => code === 'DATA_RESTORED');
  const stays = warnings.filter(({ code }) => code !== 'DATA_RESTORED');
  const said = errors.map(({ message }) => message);
  return {
    comes: comes.map(({ message }) => message),
    stays: stays.map(({ message }) => message),
    refused: accepted || said.length > 0 ? said : ['PostgreSQL would not take it.'],
  };
}
