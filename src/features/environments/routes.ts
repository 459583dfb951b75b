/** Routes of /environments, for admins. */
import { z } from 'zod';
import { type Answer, jsonAnswer, noContent, unwrap } from '../../http/answer/answer.js';
import { runRecording } from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { createMergeAnswer } from '../../http/diff-answer.js';
import { refused } from '../../http/errors.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { diff } from '../../http/openapi/answers/schema.js';
import { noQuery } from '../../http/request/query.js';
import { type Call, type Route, jsonBody, route } from '../../http/route.js';
import { mergeRequest } from '../../http/routes/schema.js';
import { name } from '../webhooks/routes.js';
import type { EnvironmentChange } from './index.js';
import * as answers from './routes-answers.js';
import {
  type Comparer,
  EnvironmentError,
  OPTIONS,
  type Remotes,
  createBaseReader,
  createComparer,
  createRemotes,
} from './routes-compare.js';
import type { EnvironmentRow } from './rows.js';

const settings = {
  name,
  url: z.string().max(2_048).describe('Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS'),
  token: z
    .string()
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/, 'must be an API token without spaces')
    .describe('An API token of an admin or author of the other instance. No response contains it'),
};
const newEnvironment = z.strictObject(settings);
const environmentChanges = z
  .strictObject({
    ...settings,
    base: z
      .int()
      .min(1)
      .nullable()
      .describe('A position of the log of this service at which both schemas were equal. Null if unknown'),
  })
  .partial();
const merge = mergeRequest.pick({ resolve: true });

const admin = { access: 'admin', query: noQuery, headers: ['X-Reason'] } as const;

/** Options of routes that send a token or the request to another address. */
const unscoped = { ...admin, action: 'unscoped' } as const;

const LIST = '/environments';
const ONE = '/environments/:id';

const idOf = ({ params }: Call<unknown>): string => params['id'] ?? '';

export function environmentRoutes(deps: HttpDeps): Route[] {
  const remotes = createRemotes(deps);
  const comparer = createComparer(deps, remotes);
  return [...readingRoutes(deps, comparer), ...changingRoutes(deps, comparer), mergeRoute(deps, remotes)];
}

function shown(environment: EnvironmentRow, comparer: Comparer) {
  const { revision: _, base, ...row } = environment;
  return { ...row, base: base && { log: base.log, position: base.position }, comparison: comparer.latest(environment) };
}

/** Commits a change to an environment together with its event. */
function record<T>(
  { pipeline }: Pick<HttpDeps, 'pipeline'>,
  call: Call<unknown>,
  { command, change, render }: { command: string; change: EnvironmentChange<T>; render: (value: T) => Answer },
): Promise<Answer> {
  return runRecording(call, command, {
    run: (context) => pipeline.apply('record', change, context),
    render: ({ command: { value }, position }) => ({ ...render(value), position }),
  });
}

const answerData = (value: unknown): Answer => jsonAnswer(200, { data: value });

function readingRoutes({ environments }: HttpDeps, comparer: Comparer): Route[] {
  return [
    route({
      method: 'get',
      path: LIST,
      operationId: 'listEnvironments',
      summary: 'List environments with their last comparison, and start those that are due',
      description:
        'The response never waits for an environment. If you repeat the request, results are at most 10 seconds old.',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(z.array(answers.environment)) },
      handle: async ({ head }) => ({
        ...answerData((await environments.list()).map((row) => shown(row, comparer))),
        position: head,
      }),
    }),
    route({
      method: 'get',
      path: ONE,
      operationId: 'getEnvironment',
      summary: 'Retrieve an environment',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(answers.environment) },
      handle: async (call) => ({
        ...answerData(shown(unwrap(await environments.get(idOf(call))), comparer)),
        position: call.head,
      }),
    }),
    route({
      ...admin,
      action: 'operate',
      headers: [],
      method: 'post',
      path: `${ONE}/test`,
      operationId: 'testEnvironment',
      summary: 'Connect to an environment and compare the schemas now',
      answers: { 200: data(answers.comparison) },
      handle: async (call) => answerData(await comparer.compare(unwrap(await environments.get(idOf(call))))),
    }),
  ];
}

function changingRoutes(deps: HttpDeps, comparer: Comparer): Route[] {
  const { environments } = deps;
  const render = (row: EnvironmentRow): Answer => answerData(shown(row, comparer));
  return [
    route({
      ...unscoped,
      method: 'post',
      path: LIST,
      operationId: 'createEnvironment',
      summary: 'Connect another instance of the service',
      description: 'The service compares both schemas. It only reads from the other instance.',
      body: jsonBody(newEnvironment, {
        example: { name: 'staging', url: 'https://staging.example.com', token: 'dps_0123456789abcdef' },
      }),
      answers: { 200: data(answers.environment) },
      errors: ['ALREADY_EXISTS', 'INVALID_STATE'],
      handle: (call) =>
        record(deps, call, { command: 'create-environment', change: environments.create(call.body), render }),
    }),
    route({
      ...unscoped,
      method: 'patch',
      path: ONE,
      operationId: 'updateEnvironment',
      summary: 'Update an environment',
      description: 'A new address requires the token, because the stored token must not be sent to another server.',
      body: jsonBody(environmentChanges, { example: { base: 42 } }),
      answers: { 200: data(answers.environment) },
      errors: ['ALREADY_EXISTS'],
      handle: (call) =>
        record(deps, call, {
          command: 'update-environment',
          change: environments.update(idOf(call), call.body),
          render,
        }),
    }),
    route({
      ...admin,
      action: 'personal',
      method: 'delete',
      path: ONE,
      operationId: 'deleteEnvironment',
      summary: 'Delete an environment. The other instance does not change',
      answers: { 204: null },
      handle: (call) =>
        record(deps, call, {
          command: 'delete-environment',
          change: environments.remove(idOf(call)),
          render: () => noContent(),
        }),
    }),
  ];
}

function mergeRoute(deps: HttpDeps, remotes: Remotes): Route {
  const { environments, store } = deps;
  const baseOf = createBaseReader(deps, remotes);
  const answer = createMergeAnswer(deps);
  return route({
    ...admin,
    action: 'operate',
    headers: [],
    method: 'post',
    path: `${ONE}/merge`,
    operationId: 'mergeEnvironment',
    summary: 'Compute the changes in an environment since the last common schema, as a diff from the current schema',
    description:
      'The response is that of `/schema/merge`. The request changes nothing. You can send the response to `/schema/apply`.',
    body: jsonBody(merge, { optional: true, example: { resolve: [] } }),
    answers: { 200: diff },
    errors: ['NOT_FOUND', 'INVALID_STATE', 'MERGE_CONFLICT', 'IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
    needsPrimary: false,
    async handle(call) {
      const environment = unwrap(await environments.get(idOf(call)));
      const ours = await store.atHead(call.head);
      try {
        // The release must be equal. A token that is limited to collections is rejected: it would get only part of the schema.
        await remotes.info(environment);
        const { document } = await remotes.current(environment, ours.position);
        const base = await baseOf(environment, ours);
        return await answer({ base, ours, whole: ours, theirs: document, resolve: call.body.resolve }, OPTIONS);
      } catch (error) {
        if (error instanceof EnvironmentError) throw refused('INVALID_STATE', error.message);
        throw error;
      }
    },
  });
}
