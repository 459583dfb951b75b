/** Summarizes the plan of a restore. */
import type { Plan } from '../../service/types.js';

export interface RestoreOutlook {
  /** Restored objects, in the service's words. */
  comes: string[];
  /** Objects that cannot be restored. */
  stays: string[];
  /** PostgreSQL's errors; empty if it accepts the restore. */
  refused: string[];
}

/** Three empty lists: everything is restored without notes. */
export function outlookOf({ accepted, errors = [], warnings }: Plan): RestoreOutlook {
  const comes = warnings.filter(({ code }) => code === 'DATA_RESTORED');
  const stays = warnings.filter(({ code }) => code !== 'DATA_RESTORED');
  const said = errors.map(({ message }) => message);
  return {
    comes: comes.map(({ message }) => message),
    stays: stays.map(({ message }) => message),
    refused: accepted || said.length > 0 ? said : ['PostgreSQL would reject the restore.'],
  };
}
