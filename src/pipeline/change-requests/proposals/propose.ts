/** Opens a proposal and updates its requested change. */
import type pg from 'pg';
import type { Document } from '../../../log/document-lines.js';
import { keepDocuments } from '../../../log/documents.js';
import { countUnderWay } from '../../../projector/change-requests/rows.js';
import { collectionsChanged } from '../../../schema/fold/event-schemas.js';
import type { ChangeUpdated } from '../../../schema/model/events.js';
import { byName } from '../../../schema/model/state.js';
import { CommandRefused, type PlannedBatch, type Revise } from '../../types.js';
import { changeEvent } from '../events.js';
import { instead } from '../planning.js';
import { type How, planOf } from './plan.js';
import { changesNothing, otherSubject, tooManyOpen } from './problems.js';
import { type ProposedOperation, allowed } from './asked-for.js';

export interface Proposed extends How {
  operation: ProposedOperation;
  /** The requested change. */
  document: Document;
  online: boolean;
}

/** @throws CommandRefused TOO_MANY_REQUESTS if the user has the maximum number of open requests */
export async function requireRoom(client: pg.ClientBase, author: string, most: number): Promise<void> {
  if ((await countUnderWay(client, author)) >= most) throw new CommandRefused([tooManyOpen(most)]);
}

/** Rejects a change without effect with INVALID_PAYLOAD. @param reverts the request that it reverts */
export const proposingOf =
  (
    id: string,
    { title, operation, document, online, reverts, ...how }: Proposed & { title: string; reverts?: string },
  ): Revise =>
  async (_, batch) => {
    if (batch.events.length === 0) return { kind: 'refused', problems: [changesNothing(operation)] };
    const { collections, ...plan } = await decided(batch, how);
    const askedFor = { operation, document: document.hash, online, collections };
    const asked = { ...askedFor, ...(reverts !== undefined && { reverts }) };
    const opened = changeEvent('change.opened', id, { ...asked, proposal: { title, ...plan } });
    return instead(batch, { events: [opened], also: keepDocuments([document]), online });
  };

/** @param said title and reason. If the requested change is the same, only these are updated. */
export const updatingOf =
  (id: string, said: Pick<ChangeUpdated, 'title' | 'reason'>, proposed?: Proposed): Revise =>
  async (client, batch) => {
    const request = await allowed(client, id, 'update');
    if (proposed === undefined) return instead(batch, { events: [changeEvent('change.updated', id, said)], also: [] });
    const { operation, document, online, ...how } = proposed;
    if (operation !== request.operation) return { kind: 'refused', problems: [otherSubject(request)] };
    if (batch.events.length === 0) return { kind: 'refused', problems: [changesNothing(operation)] };
    const asked = { document: document.hash, online, ...(await decided(batch, how)) };
    const updated = changeEvent('change.updated', id, { ...said, ...asked });
    return instead(batch, { events: [updated], also: keepDocuments([document]), online });
  };

async function decided(batch: PlannedBatch, how: How): Promise<{ collections: string[]; plan: string; base: number }> {
  return {
    collections: [...collectionsChanged(batch.events)].sort(byName),
    plan: await planOf(batch, how),
    base: batch.before.head.position,
  };
}
