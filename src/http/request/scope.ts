import type { Request } from 'express';
import type { Caller } from '../../features/accounts/caller.js';
import { type RouteAction, type RouteCollections, missingPerson, missingScope } from '../../features/accounts/scope.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { Problem } from '../../kernel/problem.js';
import type { Plan } from '../../pipeline/types.js';
import { lockTimeout } from '../../postgres/errors.js';
import { sql } from '../../projector/ddl/sql.js';
import {
  COLLECTIONS_MISSING,
  type CollectionScope,
  OUT_OF_SCOPE,
  findNameOutside,
  isInScope,
  isNamedObjectInScope,
  visibleState,
  withoutRenamedOutside,
} from '../../schema/collection-scope.js';
import type { Finding } from '../../schema/findings/model.js';
import { changesObjects } from '../../schema/fold/event-schemas.js';
import type { State } from '../../schema/model/state.js';
import { RejectedError } from '../errors.js';
import { addressOf } from './headers.js';

export const CHALLENGE = 'Bearer realm="data-platform-service"';

/** The scope that a route requires of a token. */
export interface RequiredScope {
  action: RouteAction;
  collections: RouteCollections;
}

/** @throws RejectedError FORBIDDEN if the scope of the caller's token does not cover the request (RFC 6750, section 3.1) */
export function requireScope(req: Pick<Request, 'ip' | 'socket'>, caller: Caller, required: RequiredScope): void {
  const lack = missingScope(caller, { ...required, address: addressOf(req) });
  if (lack !== null) throw scopeRefused(lack.message, lack.missing);
}

/** @throws RejectedError FORBIDDEN if the caller is a pipeline */
export function requirePerson({ credential }: Caller): void {
  const lack = missingPerson(credential);
  if (lack !== null) throw scopeRefused(lack.message, lack.missing);
}

const scopeRefused = (message: string, missing: string): RejectedError =>
  new RejectedError(
    [{ code: 'FORBIDDEN', message, details: { missing_scope: missing } }],
    ['WWW-Authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${missing}"`],
  );

/** Returns the collections to which the caller's token is limited. Undefined if there is no such limit. */
export const collectionScopeOf = ({ credential }: Pick<Caller, 'credential'>): CollectionScope | undefined =>
  credential.scope?.collections;

/**
 * The part of the schema that the caller may read.
 * @param now the current state, if `state` is a past one
 */
export function visibleTo(caller: Pick<Caller, 'credential'>, state: State, now = state): State {
  const scope = collectionScopeOf(caller);
  if (scope === undefined) return state;
  return visibleState(now === state ? state : withoutRenamedOutside(state, now, scope), scope);
}

/** Checks whether the caller may read a collection. */
export function isVisibleTo(caller: Pick<Caller, 'credential'>, collection: string): boolean {
  const scope = collectionScopeOf(caller);
  return scope === undefined || isInScope(scope, collection);
}

type Named = Pick<Problem, 'collection' | 'object'>;

/** Checks whether the caller may read the name of what a problem or a lock is about. */
export function isNameVisible(caller: Pick<Caller, 'credential'>, { collection, object }: Named): boolean {
  const scope = collectionScopeOf(caller);
  if (scope === undefined) return true;
  return (
    (collection === undefined || isInScope(scope, collection)) &&
    (object === undefined || isNamedObjectInScope(scope, object))
  );
}

/**
 * Replaces a problem with a collection or object that the caller may not read. A lock on it is temporary, so its problem
 * keeps the code that allows a retry.
 */
export function visibleProblem(caller: Pick<Caller, 'credential'>, problem: Problem): Problem {
  const isVisible = (each: Named): boolean => isNameVisible(caller, each);
  if (problem.code !== 'LOCK_TIMEOUT') return isVisible(problem) ? problem : OUT_OF_SCOPE;
  const { blocked_by: holders } = problem.details ?? {};
  const shown = isVisible(problem) ? problem : lockTimeout();
  if (!Array.isArray(holders)) return shown;
  return { ...shown, details: { ...problem.details, blocked_by: (holders as Named[]).filter(isVisible) } };
}

/** The part of a plan that decides which of its statements a caller may read. */
type LimitedPlan = Pick<Plan, 'before' | 'after' | 'events' | 'statements' | 'refusal'>;

/**
 * Replaces what the caller's token may not read: statements about objects that belong to no collection, such as a view
 * that the change recreates, and an error about them. The statements keep their places, to which findings refer.
 */
export function visiblePlan<P extends LimitedPlan>(caller: Pick<Caller, 'credential'>, plan: P): P {
  const scope = collectionScopeOf(caller);
  if (scope === undefined) return plan;
  const { before, after, events, refusal: problem } = plan;
  const statements = plan.statements.map((statement) => {
    const { source } = statement;
    const isCollection = before.collections.has(source.collection) || after.collections.has(source.collection);
    const event = events[source.event];
    if (isCollection && isInScope(scope, source.collection)) return statement;
    // The caller may read the event of a trigger, and therefore also the statement.
    if (event !== undefined && changesObjects(event) && isNamedObjectInScope(scope, event.subject)) return statement;
    return {
      ...statement,
      ...HIDDEN_STATEMENT,
      source: { ...source, collection: event?.collection ?? '', field: null },
    };
  });
  return { ...plan, statements, ...(problem && { refusal: visibleProblem(caller, problem) }) };
}

/** Returns the findings that are not about other collections. A finding can be about dependents of the changed ones. */
export const visibleFindings = <F extends Pick<Finding, 'collection'>>(
  caller: Pick<Caller, 'credential'>,
  findings: readonly F[],
): F[] => findings.filter(({ collection }) => collection === undefined || isVisibleTo(caller, collection));

const HIDDEN_STATEMENT = {
  sql: sql`-- The scope of this token does not allow reading this statement.`,
  summary: 'change an object outside the scope of this token',
};

/**
 * Rejects a path or a body that contains the name of a collection outside the scope of the caller's token, even if no
 * such collection exists.
 * @throws RejectedError FORBIDDEN
 */
export async function requireNamesInScope(caller: Pick<Caller, 'credential'>, document: unknown): Promise<void> {
  const name = await nameOutside(caller, document);
  if (name !== undefined) throw outsideScope(`The scope of this token does not contain ${name}.`);
}

/** Checks whether a document of another user contains only names within the scope of the caller's token. */
export const hasNamesInScope = async (caller: Pick<Caller, 'credential'>, document: unknown): Promise<boolean> =>
  (await nameOutside(caller, document)) === undefined;

async function nameOutside(caller: Pick<Caller, 'credential'>, document: unknown): Promise<string | undefined> {
  const scope = collectionScopeOf(caller);
  return scope && runYielding(findNameOutside(document, scope));
}

/** @param message must not name a collection, unless the caller did */
export const outsideScope = (message: string): RejectedError => scopeRefused(message, COLLECTIONS_MISSING);

/**
 * Rejects a token with a scope of collections. Used for changes that the service carries out later, when they can
 * concern further collections.
 * @param subject the kind of change, in the plural
 * @throws RejectedError FORBIDDEN
 */
export function requireUnlimited(caller: Pick<Caller, 'credential'>, subject: string): void {
  if (collectionScopeOf(caller) === undefined) return;
  throw outsideScope(`${subject} require a token that is not limited to collections.`);
}
