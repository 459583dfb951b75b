import { z } from 'zod';
import { TOKEN_ACTIONS } from '../../schema/model/token-scope.js';
import { ROLES, USER_STATUSES } from './caller.js';
import { tokenScope } from './scope.js';

const time = z.iso.datetime();

export const user = z
  .strictObject({
    id: z.uuid(),
    email: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    status: z.enum(USER_STATUSES),
    created_at: time,
    invitation_expires_at: time
      .nullable()
      .describe('When the invitation expires. Null if the user was not invited, or has chosen a password'),
  })
  .meta({ id: 'User' });

const scope = tokenScope.nullable().describe('Null if the token may do everything that its user may do');

const rule = z
  .string()
  .nullable()
  .describe('The trust rule under which a pipeline exchanged its ID token for the token. Null for other credentials');

/** The current user, and what the credential of the request may do. */
export const currentUser = user
  .extend({
    access: z.strictObject({
      credential: z.enum(['password', 'token', 'identity']),
      role: z
        .enum(ROLES)
        .describe('The role that applies: the lower of the role of the user and the role in the scope'),
      actions: z.array(z.enum(TOKEN_ACTIONS)).describe('The actions that the role and the scope allow'),
      expires_at: time.nullable().describe('When the API token expires'),
      scope,
      rule,
    }),
  })
  .meta({ id: 'CurrentUser' });

/** Far larger than any drawing. Larger numbers are invalid. */
const coordinate = z.number().min(-1e7).max(1e7);

export const diagram = z
  .strictObject({
    depth: z.enum(['names', 'keys', 'columns']).describe('How much of each table the view shows'),
    folder: z
      .string()
      .min(1)
      .max(200)
      .nullable()
      .describe('The folder that the view is limited to. Null if there is none'),
    places: z
      .array(z.strictObject({ collection: z.string().max(200), x: coordinate, y: coordinate }))
      .max(1_000)
      .describe('The top left corner of each table, in pixels'),
  })
  .meta({ id: 'Diagram' });

export const erasure = z
  .strictObject({
    user: z.uuid(),
    deleted: z.boolean().describe('True if the request also deleted the account'),
    erased: z.int().min(0).describe('Number of events whose personal data was erased. 0 if none remained'),
  })
  .meta({ id: 'Erasure' });

export const token = z
  .strictObject({ id: z.uuid(), name: z.string(), created_at: time, expires_at: time.nullable(), scope, rule })
  .meta({ id: 'Token' });

export const newToken = token.extend({ token: z.string().describe('Returned only once') }).meta({ id: 'NewToken' });

export const grant = z
  .strictObject({
    access_token: z.string(),
    expires: z.int().describe('Milliseconds until the access token expires'),
    refresh_token: z.string().optional().describe('Can be used once. Absent if it is sent as a cookie'),
  })
  .meta({ id: 'Grant' });

export const session = z
  .strictObject({
    id: z.uuid(),
    user: z.strictObject({ id: z.uuid(), name: z.string(), email: z.string() }),
    created_at: time,
    used_at: time.describe('When it was started or last refreshed'),
    expires_at: time,
    network: z.string().nullable().describe('The IPv4 address or IPv6 network from which it was started'),
    user_agent: z.string().nullable().describe('The user agent that the client sent'),
  })
  .meta({ id: 'Session' });

export const identity = z
  .strictObject({
    id: z.uuid(),
    issuer: z.string().describe('The address of the provider'),
    subject: z.string().describe('The id of the user at the provider'),
    created_at: time,
  })
  .meta({ id: 'Identity' });

/**
 * The result of a sign-in with the OpenID provider, as the query parameter `sign_in`. `no-access`: no claim has a role.
 * `link`: the e-mail address belongs to an account that the identity must be linked to first.
 */
export const signInOutcome = z.enum([
  'done',
  'failed',
  'unavailable',
  'denied',
  'no-access',
  'no-email',
  'suspended',
  'last-admin',
  'link',
]);
