/** POST /schema/adopt: tables that exist become collections. */
import { z } from 'zod';
import { type Adopting, adopting } from '../../pipeline/adopt.js';
import { operations } from '../../schema/operations/index.js';
import { type Answer, jsonAnswer, noContent, refusal, unwrap } from '../answer.js';
import { change, contextOf } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { flag } from '../query.js';
import { type Call, type Route, route } from '../route.js';

const query = z.strictObject({ dry_run: flag.describe('Answers what would happen, and keeps nothing') });

export function adoptRoutes({ pipeline, config: { schema } }: HttpDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/schema/adopt',
      access: 'admin',
      query,
      body: 'json',
      handle(call) {
        const { wish } = unwrap(operations['adopt-tables'].parse({ body: call.body }));
        const work = adopting(wish, schema);
        if (call.query.dry_run) return rehearsed(pipeline, call, work);
        return change(pipeline, call, {
          name: 'adopt-tables',
          command: work.command,
          render: ({ position }) => ({ ...jsonAnswer(200, work.report()), position }),
        });
      },
    }),
  ];
}

/** What would be adopted, with the events that would say so. */
async function rehearsed(pipeline: HttpDeps['pipeline'], call: Call<unknown>, work: Adopting): Promise<Answer> {
  // Nothing is kept: neither the change nor, under its key, the answer.
  const { idempotency: _, ...context } = await contextOf('adopt-tables', call, () => noContent());
  const run = await pipeline.dryRun('adopt-tables', work.command, context);
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
