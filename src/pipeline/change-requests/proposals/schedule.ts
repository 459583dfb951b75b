/** Schedules a proposal. It is decided again at that time, by the database's clock. */
import type pg from 'pg';
import { activeAdmins } from '../../../projector/change-requests/approvers.js';
import { isDue, untilTime, readChange } from '../../../projector/change-requests/rows.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';
import type { Problem } from '../../../kernel/problem.js';
import { type Command, CommandRefused, type Prepare, type Revise } from '../../types.js';
import { wrongState } from '../applying.js';
import { changeEvent } from '../events.js';
import { instead } from '../planning.js';
import { counting, standing } from './approvals.js';
import type { How } from './plan.js';
import { badTime, notYetDue, schedulerLost } from './problems.js';
import { allowed } from './asked-for.js';

/** Milliseconds. A time slightly in the past means now. A time far in the future is an error. */
const TIMES = { past: 60_000, future: 366 * 86_400_000 };

/** Requires that it could be applied now, including the policy. @param at ISO 8601 */
export const schedulingOf =
  (id: string, at: string, how: How): Revise =>
  async (client, batch) => {
    const request = await allowed(client, id, 'apply');
    const wait = await untilTime(client, at);
    if (wait < -TIMES.past) return { kind: 'refused', problems: [badTime(at, 'has passed')] };
    if (wait > TIMES.future) return { kind: 'refused', problems: [badTime(at, 'is more than a year away')] };
    const stands = await standing(client, { request, batch, how });
    if (stands.kind === 'refused') return stands;
    const scheduled = instead(batch, { events: [changeEvent('change.scheduled', id, { at })], also: [] });
    return counting(stands, { ...scheduled, online: request.online });
  };

/** Returns the command of a due request. It checks that the request is still due before deciding anything. */
export const onTime =
  <C>(request: ChangeRequest, command: Command<C>): Prepare<C> =>
  async (client, state) => {
    const problem = await whyNotNow(client, request);
    if (problem !== null) throw new CommandRefused([problem]);
    return typeof command === 'function' ? (command as Prepare<C>)(client, state) : command;
  };

async function whyNotNow(client: pg.ClientBase, request: ChangeRequest): Promise<Problem | null> {
  const now = await readChange(client, request.id);
  if (now === undefined || now.schedule?.position !== request.schedule?.position) return wrongState(request.id, now);
  if (!(await isDue(client, now))) return notYetDue(now);
  const { id = '' } = now.applicant ?? {};
  return (await activeAdmins(client, [id])).has(id) ? null : schedulerLost(now);
}
