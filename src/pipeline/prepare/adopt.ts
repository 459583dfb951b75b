/* Adopts tables. The catalog is read in the command's transaction. */
import { type Adoption, readAdoption } from '../../projector/adopt/read.js';
import type { Note, Refused } from '../../projector/inspect/needs.js';
import type { AdoptRequest } from '../../schema/operations/adopt-tables.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { Prepare } from '../types.js';
import { type Acceptance, type NotAccepted, readAcceptance } from '../../projector/drift/accept.js';
import type { AcceptRequest } from '../../schema/operations/accept-drift.js';
import { byName } from '../../schema/model/state.js';

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

type AdoptTables = CommandOf<'adopt-tables'> & { found: Adoption };

export const adopting =
  (request: AdoptRequest, schema: string): Prepare<AdoptTables> =>
  async (client, state) => ({ request, found: await readAdoption({ client, schema, state }, request) });

export const adoptionReport = ({ found }: AdoptTables): AdoptionReport => ({
  adopted: found.tables.map(({ collection }) => collection.collection),
  relations: found.relations.length,
  refused: found.refused,
  not_represented: found.notRepresented,
});

/* Accepts drift. The catalog is read in the command's transaction. */

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

type AcceptDrift = CommandOf<'accept-drift'> & { found: Acceptance };

export const accepting =
  (request: AcceptRequest, schema: string): Prepare<AcceptDrift> =>
  async (client, state) => ({ request, found: await readAcceptance({ client, schema, state }, request) });

export function acceptanceReport({ found }: AcceptDrift): AcceptanceReport {
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
}
