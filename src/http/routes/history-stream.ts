/** /history/stream: events as they are accepted. Everyone who reads change requests receives their events. */
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { z } from 'zod';
import { allows } from '../../features/accounts/caller.js';
import type { EventText } from '../../log/read.js';
import { CHANGE } from '../../schema/change-requests/model.js';
import type { StoredEvent } from '../../schema/model/events.js';
import { streamAnswer } from '../answer/answer.js';
import { authorize } from '../serve.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused, Refused } from '../errors.js';
import { writeEventStream } from '../answer/stream.js';
import { subject, subjectFilter } from '../history.js';
import { type Cursor, cursor, requireInLog } from '../request/history-query.js';
import { type Route, route } from '../route.js';

/** `after`: for the first connection of a client that has read the log up to that position. */
const streamQuery = z.strictObject({ after: cursor.optional(), subject });

const isAboutChanges = (subject: string | undefined): boolean => subjectFilter(subject).subjectKind === CHANGE;

/** Permission is checked repeatedly: the stream ends when the token expires. */
export function historyStreamRoute({ history, store, freshness, auth, watch }: HttpDeps): Route {
  /** Also notices a head without a notification. */
  const allowed = async (req: Request, requirement: Pick<Route, 'access' | 'action'>): Promise<boolean> => {
    const { head, authEpoch } = await freshness.check();
    void store.atHead(head).catch(() => undefined);
    return authorize(req, requirement, (token) => auth.identify(token, authEpoch)).then(
      () => true,
      (error: unknown) => !(error instanceof Refused),
    );
  };
  return route({
    method: 'get',
    path: '/history/stream',
    operationId: 'streamEvents',
    summary: 'Stream accepted events as server-sent events',
    description:
      '`subject` filters as in /history/events: `change` for all change requests, `change:ID` for one. Authors do not see the addresses of requests.',
    access: 'author or auditor',
    stricter: {
      access: 'auditor',
      where: ({ subject: about }) => !isAboutChanges(about),
      words: 'without `subject=change`',
    },
    query: streamQuery,
    answers: { 200: ['text/event-stream'] },
    errors: ['NOT_FOUND'],
    async handle({ req, query, head, caller }) {
      const from = lastEventId(req) ?? query.after ?? { position: head };
      await requireInLog(from, history);
      const after = from.position;
      if (after > head) throw refused('NOT_FOUND', `The position does not exist. The log ends at ${head}.`);
      await store.atHead(head);
      const answer = streamAnswer(
        'text/event-stream; charset=utf-8',
        (res) => {
          const action = isAboutChanges(query.subject) ? 'read' : 'history';
          const isAuditor = allows(caller.role, 'auditor');
          return writeEventStream(res, {
            tail: history.tail,
            after,
            // Auditors receive the events of auditors as long as they keep the role, and the token its scope.
            allowed: () => allowed(req, { access: isAuditor ? 'auditor' : 'author or auditor', action }),
            shown: shownOf(query.subject, isAuditor),
            watch,
          });
        },
        // Proxies would buffer events to compress or combine them.
        ['X-Accel-Buffering', 'no'],
      );
      return { ...answer, position: after };
    },
  });
}

/** Sends only events of the subject. The source address is shown to auditors only. */
function shownOf(about: string | undefined, isAuditor: boolean): (event: EventText) => string | null {
  const { subjectKind: kind, subjectId: id } = subjectFilter(about);
  return ({ text, subject: eventSubject }) => {
    if (kind !== undefined && (eventSubject?.kind !== kind || (id !== undefined && eventSubject.id !== id)))
      return null;
    return isAuditor ? text : withoutOrigin(text);
  };
}

/** Without the salt too, which would let guesses of the address be checked. */
function withoutOrigin(text: string): string {
  const { context: _, ...event } = JSON.parse(text) as StoredEvent;
  return JSON.stringify({ ...event, request_id: null, ip: null, user_agent: null, salt: null });
}

function lastEventId(req: IncomingMessage): Cursor | undefined {
  const lastId = req.headers['last-event-id'];
  if (lastId === undefined || lastId === '') return undefined;
  const read = cursor.safeParse(lastId);
  if (!read.success) throw invalidQuery('Last-Event-ID', 'Last-Event-ID must be an id from the stream, or a position.');
  return read.data;
}
