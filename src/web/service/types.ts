import type { z } from 'zod';
import type * as accounts from '../../features/accounts/routes-answers.js';
import type { errors } from '../../http/openapi/answers/envelopes.js';
import type * as changes from '../../features/change-requests/routes-answers.js';
import type * as history from '../../http/openapi/answers/history.js';
import type * as operating from '../../http/openapi/answers/operating.js';
import type * as schema from '../../http/openapi/answers/schema.js';
import type { trashEntry } from '../../features/trash/routes-answers.js';
import type * as environments from '../../features/environments/routes-answers.js';
import type * as webhooks from '../../features/webhooks/routes-answers.js';
import type { CollectionDocument } from '../../http/deps.js';
import type { Schemas } from '../../client/api.js';
import type { Role } from '../../features/accounts/caller.js';

export type { CollectionDocument } from '../../http/deps.js';
export type { FieldDocument, RelationDocument } from '../../schema/snapshot/documents.js';
export type { Role } from '../../features/accounts/caller.js';

export type User = z.output<typeof accounts.user>;
export type Token = z.output<typeof accounts.token>;
export type SignInOutcome = z.output<typeof accounts.signInOutcome>;
export type { NewScope } from '../../features/accounts/scope.js';
export type Grant = z.output<typeof accounts.grant>;
export type Batch = z.output<typeof history.batch>;
export type LogEvent = z.output<typeof history.event>;
export type CollectionEvent = z.output<typeof history.lifeEvent>;
export type Info = z.output<typeof operating.info>;

/** One problem of an error response. */
export type Problem = z.output<typeof errors>['errors'][number];

/** A collection in the tree, without its SQL. */
export type ListedCollection = Pick<CollectionDocument, 'collection' | 'meta'> & {
  schema: { name: string } | null;
};

/** The difference between two points in time. */
export type SchemaDiff = CollectionEvent['diff'];
export type Entry = SchemaDiff['collections'][number]['diff'][number];

export type Projection = z.output<typeof operating.projection>;
export type Drift = z.output<typeof operating.drift>;
export type Verification = z.output<typeof operating.verification>;
export type LogVerification = z.output<typeof history.verification>;

/** A finding of a change or an import. */
export type Finding = z.output<typeof schema.finding>;
/** The response to a dry run or an explanation. */
export type Plan = Schemas['Plan'];
export type ChangeRequest = z.output<typeof changes.changeRequest>;
/** A change of a request, by its names in the diff. */
export type ChangePlace = NonNullable<NonNullable<ChangeRequest['proposal']>['comments'][number]['place']>;
export type ChangeSummary = z.output<typeof changes.changeSummary>;

/** A batch with the changed documents before and after. */
export type ChangedBatch = z.output<typeof history.changedBatch>;
export type DocumentChanges = NonNullable<ChangedBatch['changes']>;
export type Examination = z.output<typeof operating.examination>;
export type Adoption = z.output<typeof operating.adoption>;
export type LiveSession = z.output<typeof accounts.session>;
export type TrashEntry = z.output<typeof trashEntry>;
/** The policy and all configurable codes. */
export type PolicyAt = z.output<typeof operating.policyAt>;
export type DatabaseTable = z.output<typeof schema.databaseTable>;
export type Sample = z.output<typeof schema.sample>;
export type Environment = z.output<typeof environments.environment>;
export type EnvironmentComparison = z.output<typeof environments.comparison>;

export type Webhook = z.output<typeof webhooks.webhook>;
export type WebhookDelivery = z.output<typeof webhooks.delivery>;
/** A rule by which pipelines exchange ID tokens for API tokens. */
export type TrustRule = Schemas['Trust']['rules'][number];
/** A rule that an admin sets. */
export type NewTrustRule = Schemas['TrustSettings']['rules'][number];
export type WebhookSettings = Pick<Webhook, 'name' | 'url' | 'format' | 'types' | 'collections'>;

/* Features by role. The service enforces permissions; a test keeps both consistent. */

export const MAY = {
  /** Edit, review and propose drafts, and manage one's own change requests. */
  propose: ['admin', 'author'],
  /** Read change requests and past schemas. */
  readRequests: ['admin', 'auditor', 'author'],
  /** Apply, approve and reject. */
  carryOut: ['admin'],
  /** Read actors and times. */
  readHistory: ['admin', 'auditor'],
  /** Read database facts, drift, the trash, the policy and the service status. */
  readOperations: ['admin', 'auditor'],
  /** Manage users, adopt, repair. */
  administer: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

export type Capability = keyof typeof MAY;

/** Controls visibility only; the service enforces permissions. */
export const hasAbility = (role: Role, ability: Capability): boolean =>
  (MAY[ability] as readonly Role[]).includes(role);
