/** Runs an action on a change request and responds with the updated request. */
import type { Done, RequestContext } from '../../pipeline/types.js';
import { summaryOf } from '../../reads/changes.js';
import { allowedIn } from '../../schema/change-requests/actions.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { type Answer, jsonAnswer } from '../answer/answer.js';
import { type Recording, recorded, withBatch, withLosses } from '../change/change.js';
import type { Call } from '../route.js';

/** The reason can be in the body as well as in the header. */
export const withReason = (context: RequestContext, reason: string | null | undefined): RequestContext =>
  reason == null ? context : { ...context, cause: { ...context.cause, reason } };

interface Answering {
  /** The unchanged request, if there was nothing to do. */
  request?: ChangeRequest;
  /** Further members of the response. */
  more?: () => object;
}

/** Runs an action on a request and responds with the updated request. */
export async function acted(
  call: Call<unknown>,
  command: string,
  how: Omit<Recording, 'render'>,
  answering: Answering = {},
): Promise<Answer> {
  return recorded(call, command, { ...how, render: (done) => answerOf(done, answering) });
}

/** 201 for an opened request, 202 for a request in preparation or scheduled, otherwise 200. */
function statusOf({ events }: Done): number {
  const types = new Set(events.map(({ type }) => type));
  if (types.has('change.opened')) return 201;
  return types.has('change.preparing') || types.has('change.scheduled') ? 202 : 200;
}

function answerOf(done: Done, { request: before, more }: Answering): Answer {
  const [request = before] = done.changes?.values() ?? [];
  if (request === undefined) throw new Error('an event about a change request changed none');
  const { id } = request;
  const data = { ...summaryOf(request), allowed: allowedIn(request), ...more?.() };
  const status = statusOf(done);
  const headers = status === 200 ? [] : ['Location', `/changes/${id}`];
  const answer = { ...jsonAnswer(status, { data }, headers), position: done.position };
  return withLosses(withBatch(answer, done), done);
}
