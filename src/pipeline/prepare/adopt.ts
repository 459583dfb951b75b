/** Adopts tables. The catalog is read in the command's transaction. */
import { type Adoption, readAdoption } from '../../projector/adopt/read.js';
import type { Note, Refused } from '../../projector/adopt/note.js';
import type { AdoptRequest } from '../../schema/operations/adopt-tables.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { Prepare } from '../types.js';

/** The effects of adopting, or of a dry run. */
export interface AdoptionReport {
  /** By name. */
  adopted: string[];
  /** Foreign keys that became relations. */
  relations: number;
  /** Tables that could not be adopted, with reasons. Only if all tables were requested. */
  refused: Refused[];
  /** Unsupported objects. They stay in the database and in no snapshot. */
  not_represented: Note[];
}

export interface Adopting {
  command: Prepare<CommandOf<'adopt-tables'>>;
  /** Available after the command was prepared. */
  report(): AdoptionReport;
}

/** Returns the command and, once it is decided, its report. */
export function adopting(request: AdoptRequest, schema: string): Adopting {
  let found: Adoption | undefined;
  return {
    command: async (client, state) => {
      found = await readAdoption({ client, schema, state }, request);
      return { request, found };
    },
    report() {
      if (found === undefined) throw new Error('the tables were not read');
      return {
        adopted: found.tables.map(({ collection }) => collection.collection),
        relations: found.relations.length,
        refused: found.refused,
        not_represented: found.notRepresented,
      };
    },
  };
}
