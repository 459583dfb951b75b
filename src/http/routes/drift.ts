/** /schema/drift: the catalog against the log, with what would end each difference; and taking what is there into the log. */
import type pg from 'pg';
import { z } from 'zod';
import type { Point } from '../../reads/fold-log.js';
import { findDrift } from '../../projector/drift/find.js';
import { type Accepting, accepting } from '../../pipeline/accept-drift.js';
import { operations } from '../../schema/operations/index.js';
import { type Answer, jsonAnswer, noContent, refusal, unwrap } from '../answer.js';
import { change, contextOf } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { flag } from '../query.js';
import { type Call, type Route, route } from '../route.js';

const noQuery = z.strictObject({});
const acceptQuery = z.strictObject({ dry_run: flag });

export function driftRoutes({ pipeline, config: { schema } }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/schema/drift',
      access: 'auditor',
      query: noQuery,
      async handle() {
        const look = async (client: pg.ClientBase, { state, head }: Point) => ({
          drift: await findDrift(client, state, schema),
          position: head.position,
        });
        const { drift, position } = await pipeline.underLock(look, { readOnly: true });
        return { ...jsonAnswer(200, { position, ...drift }), position };
      },
    }),
    route({
      method: 'post',
      path: '/schema/drift/accept',
      access: 'admin',
      query: acceptQuery,
      body: 'json',
      handle(call) {
        const { request } = unwrap(operations['accept-drift'].parse({ body: call.body }));
        const work = accepting(request, schema);
        if (call.query.dry_run) return rehearsed(pipeline, call, work);
        return change(pipeline, call, {
          name: 'accept-drift',
          command: work.command,
          render: ({ position }) => ({ ...jsonAnswer(200, work.report()), position }),
        });
      },
    }),
  ];
}

/** What would be accepted, with the events that would say so. */
async function rehearsed(pipeline: HttpDeps['pipeline'], call: Call<unknown>, work: Accepting): Promise<Answer> {
  // Nothing is kept: neither the change nor, under its key, the answer.
  const { idempotency: _, ...context } = await contextOf('accept-drift', call, () => noContent());
  const run = await pipeline.dryRun('accept-drift', work.command, context);
  if (run.kind === 'refused') return refusal(run.problems);
  const events = run.events.map(({ type, version, collection, field, data }) => ({
    type,
    version,
    collection,
    field,
    data,
  }));
  return { ...jsonAnswer(200, { dry_run: true, ...work.report(), events }), position: run.before.position };
}
