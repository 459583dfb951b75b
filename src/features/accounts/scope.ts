/* Scopes of API tokens. A scope limits what a token may do, and never allows more than the role of its user. */
import { z } from 'zod';
import { type NetworkList, isNetwork, networkList } from '../../kernel/networks.js';
import { COLLECTIONS_MISSING } from '../../schema/collection-scope.js';
import { TOKEN_ACTIONS, type TokenAction, type TokenScope } from '../../schema/model/token-scope.js';
import { type Access, type Caller, type Role, ROLES } from './caller.js';

/**
 * The action that a route requires. Null means that every token may use the route. `unscoped` means that no token with
 * a scope may use it, because the request creates credentials or sends data elsewhere. `personal` means `operate`, but
 * not for pipelines, because the request decides what other users may do or what the log proves.
 */
export type RouteAction = TokenAction | 'unscoped' | 'personal' | null;

/** Returns the action of a route that does not define one. */
export function defaultAction(method: string, access: Access): RouteAction {
  if (access === 'anyone') return null;
  if (method !== 'get') return access === 'admin' ? 'apply' : access === 'author' ? 'propose' : 'read';
  return access === 'admin' ? 'operate' : access === 'auditor' ? 'history' : 'read';
}

/**
 * How a route honours a scope with collections. `none`: it neither reads nor changes collections. `filtered`: its
 * response leaves out other collections. `evaluated`: it also changes collections, and the pipeline evaluates the batch. Null:
 * it rejects tokens with such a scope, which is the default.
 */
export type RouteCollections = 'none' | 'filtered' | 'judged' | null;

const MOST = 100;

const list = <T extends z.ZodType<string>>(item: T) =>
  z
    .array(item)
    .min(1)
    .max(MOST)
    .refine((all) => new Set(all).size === all.length, 'must not contain an entry twice');

const limits = {
  actions: list(z.enum(TOKEN_ACTIONS)).describe('Default: all'),
  collections: list(z.string().min(1).max(200)).describe('Names of collections, or patterns with `*`. Default: all'),
  networks: list(z.string().max(50).refine(isNetwork, 'must be an address or a network such as 10.0.0.0/8')).describe(
    'Addresses and networks from which the token is accepted. Default: all',
  ),
};

/**
 * The scope in a request. It must not be empty, because an empty scope would look like a limit without limiting
 * anything.
 */
export const newScope = z
  .strictObject(limits)
  .partial()
  .refine(
    (scope) => Object.values(scope).some((limit) => limit !== undefined),
    'must limit at least one of its members',
  )
  .meta({ id: 'NewTokenScope' });

export type NewScope = z.infer<typeof newScope>;

/** The scope of a token in responses. */
export const tokenScope = z
  .strictObject({
    role: z
      .enum(ROLES)
      .describe('The role of the user when the token was created. A later, higher role does not widen the token'),
    ...z.strictObject(limits).partial().shape,
  })
  .meta({ id: 'TokenScope' });

/** The actions that the caller's role and token allow. */
export function actionsOf({ role, credential }: Caller): TokenAction[] {
  const limit = credential.scope?.actions;
  return TOKEN_ACTIONS.filter((action) => ROLE_ACTIONS[role].includes(action) && (limit?.includes(action) ?? true));
}

/** The actions that each role needs for at least one of its requests. */
const ROLE_ACTIONS: Readonly<Record<Role, readonly TokenAction[]>> = {
  admin: TOKEN_ACTIONS,
  auditor: ['read', 'history', 'operate'],
  author: ['read', 'propose', 'history'],
  reader: ['read'],
};

/** Describes what a request needs and the scope lacks. */
interface MissingScope {
  message: string;
  /** The missing action, `collections`, `networks`, or `unscoped`. */
  missing: string;
}

interface ScopedRequest {
  action: RouteAction;
  collections: RouteCollections;
  address: string | null;
}

/** Returns what the scope of the caller's token lacks for the request. Null if it covers the request. */
export function missingScope(
  { credential }: Pick<Caller, 'credential'>,
  { collections, address, action }: ScopedRequest,
): MissingScope | null {
  const { scope } = credential;
  if (scope === undefined) return null;
  if (scope.networks !== undefined && !isWithin(scope.networks, address))
    return {
      message: `This token is not accepted from the address ${address ?? 'of this client'}.`,
      missing: 'networks',
    };
  const lack =
    action === 'personal'
      ? (missingPerson(credential) ?? missingAction(scope, 'operate'))
      : missingAction(scope, action);
  if (lack !== null || scope.collections === undefined || collections !== null) return lack;
  return {
    message: 'This request is not limited to the collections in the scope of this token.',
    missing: COLLECTIONS_MISSING,
  };
}

/** Returns what the API token of a pipeline lacks for a request that only people may send. */
export const missingPerson = ({ rule }: Caller['credential']): MissingScope | null =>
  rule === undefined ? null : { message: PERSON_REQUIRED, missing: 'unscoped' };

const PERSON_REQUIRED =
  'A pipeline cannot change users, credentials, sessions, webhooks, environments, signing keys or the policy, and cannot acknowledge a fork of the log. An admin must sign in and send this request.';

function missingAction({ actions }: TokenScope, action: Exclude<RouteAction, 'personal'>): MissingScope | null {
  if (action === null) return null;
  if (action === 'unscoped')
    return {
      message: 'This request requires a token without a scope, because it creates credentials or sends data elsewhere.',
      missing: action,
    };
  if (actions === undefined || actions.includes(action)) return null;
  return {
    message: `This request requires the action "${action}", which the scope of this token lacks.`,
    missing: action,
  };
}

const lists = new WeakMap<readonly string[], NetworkList>();

function isWithin(networks: readonly string[], address: string | null): boolean {
  if (address === null) return false;
  const found = lists.get(networks) ?? networkList(networks);
  lists.set(networks, found);
  return found.check(address);
}

export const scopeOf = (role: Role, { actions, collections, networks }: NewScope): TokenScope => ({
  role,
  ...(actions !== undefined && { actions }),
  ...(collections !== undefined && { collections }),
  ...(networks !== undefined && { networks }),
});
