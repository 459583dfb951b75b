/** /history/stream: events as they are accepted. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { streamAnswer } from '../answer.js';
import { authorize } from '../authorize.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused, Refused } from '../errors.js';
import { writeEventStream } from '../event-stream.js';
import { type Cursor, cursor, requireInLog } from '../history-query.js';
import { type Route, route } from '../route.js';

const ACCESS = 'auditor';

/** `after`: for the first connection of a client that has read the log up to there. */
const streamQuery = z.strictObject({ after: cursor.optional() });

export function historyStreamRoute({ history, store, freshness, auth, watch }: HttpDeps): Route {
  /** Also hears of a head that no notification told of. */
  const allowed = async (req: IncomingMessage): Promise<boolean> => {
    const { head, authEpoch } = await freshness.check();
    void store.atHead(head).catch(() => undefined);
    return authorize(req, ACCESS, (token) => auth.identify(token, authEpoch)).then(
      () => true,
      (error: unknown) => !(error instanceof Refused),
    );
  };
  return route({
    method: 'get',
    path: '/history/stream',
    access: ACCESS,
    query: streamQuery,
    async handle({ req, query, head }) {
      const from = lastEventId(req) ?? query.after ?? { position: head };
      await requireInLog(from, history);
      const after = from.position;
      if (after > head) throw refused('NOT_FOUND', `There is no such position: the log ends at ${head}.`);
      await store.atHead(head);
      const answer = streamAnswer(
        'text/event-stream; charset=utf-8',
        (res) => {
          const options = { tail: history.tail, after, allowed: () => allowed(req), watch };
          return writeEventStream(res, options);
        },
        // Proxies would hold events back to compress or to gather them.
        ['X-Accel-Buffering', 'no'],
      );
      return { ...answer, position: after };
    },
  });
}

function lastEventId(req: IncomingMessage): Cursor | undefined {
  const given = req.headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  const read = cursor.safeParse(given);
  if (!read.success)
    throw invalidQuery('Last-Event-ID', 'Last-Event-ID must be one that the stream gave, or a position.');
  return read.data;
}
