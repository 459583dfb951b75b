/** Accepts drift. The catalog is read in the command's transaction. */
import { type Acceptance, type NotAccepted, readAcceptance } from '../../projector/drift/accept.js';
import type { Note } from '../../projector/adopt/note.js';
import type { AcceptRequest } from '../../schema/operations/accept-request.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { byName } from '../../schema/model/state.js';
import type { Prepare } from '../types.js';

/** The effects of accepting drift, or of a dry run. */
export interface AcceptanceReport {
  /** Collections whose table has changed, by name. */
  changed: string[];
  /** Collections whose table was dropped by hand. */
  deleted: string[];
  renamed: { from: string; to: string }[];
  /** Fields whose column was renamed. Their metadata follows. */
  renamed_fields: { collection: string; from: string; to: string }[];
  /** Differences that remain, with reasons. */
  not_accepted: NotAccepted[];
  /** Unsupported objects of those tables. They stay in the database and in no snapshot. */
  not_represented: Note[];
}

export interface Accepting {
  command: Prepare<CommandOf<'accept-drift'>>;
  /** Available after the command was prepared. */
  report(): AcceptanceReport;
}

/** Returns the command and, once it is decided, its report. */
export function accepting(request: AcceptRequest, schema: string): Accepting {
  let found: Acceptance | undefined;
  return {
    command: async (client, state) => {
      found = await readAcceptance({ client, schema, state }, request);
      return { request, found };
    },
    report() {
      if (found === undefined) throw new Error('the tables were not read');
      const { collections, fields } = found.renames;
      const renamed = new Set(collections.values());
      const changed = new Set([...fields.keys(), ...found.tables.map(({ collection }) => collection.collection)]);
      return {
        changed: [...changed].filter((name) => !renamed.has(name)).sort(byName),
        deleted: found.gone,
        renamed: [...collections].map(([from, to]) => ({ from, to })),
        renamed_fields: [...fields].flatMap(([collection, names]) =>
          [...names].map(([from, to]) => ({ collection, from, to })),
        ),
        not_accepted: found.notAccepted,
        not_represented: found.notRepresented,
      };
    },
  };
}
