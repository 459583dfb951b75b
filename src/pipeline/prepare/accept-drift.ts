/** Accepting drift through the pipeline: the look at the catalog is part of the command's transaction. */
import { type Acceptance, type NotAccepted, readAcceptance } from '../../projector/drift/accept.js';
import type { Note } from '../../projector/adopt/note.js';
import type { AcceptRequest } from '../../schema/operations/accept-request.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { byName } from '../../schema/model/state.js';
import type { Prepare } from '../types.js';

/** What accepting did, or would do. */
export interface AcceptanceReport {
  /** Collections whose table is otherwise now, by name. */
  changed: string[];
  /** Collections whose table was dropped by hand. */
  deleted: string[];
  renamed: { from: string; to: string }[];
  /** Fields whose column has another name now: what the log knew of them went over. */
  renamed_fields: { collection: string; from: string; to: string }[];
  /** What stays a difference, and why. */
  not_accepted: NotAccepted[];
  /** What of those tables stays in the database and is part of no snapshot. */
  not_represented: Note[];
}

export interface Accepting {
  command: Prepare<CommandOf<'accept-drift'>>;
  /** Once the command was prepared. */
  report(): AcceptanceReport;
}

/** The command and, when it has been decided, what there is to say about it. */
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
