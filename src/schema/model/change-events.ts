/** Payloads of events about change requests. The subject is the request: `{ kind: 'change', id: uuid }`. */
import type { Warning } from '../../kernel/warning.js';

export interface ChangeEventData {
  'change.opened': ChangeOpened;
  /** Changes the title, the reason or the requested change. */
  'change.updated': ChangeUpdated;
  /** `comment`: the hash of a document, here and below. */
  'change.commented': { comment: string };
  /** Approves exactly this plan. `complete`: the number of approvals that the policy requires is reached. */
  'change.approved': { plan: string; complete: boolean; comment?: string } & ApprovedView;
  'change.rejected': { comment?: string };
  /** Schedules the change for this time (ISO 8601, UTC) by the database's clock. The actor of this event applies it. */
  'change.scheduled': { at: string };
  /**
   * From now on only this request may change the tables of `collections`, until it ends. `apply`: the actor of this
   * event wants it applied once it is prepared.
   */
  'change.preparing': { collections: string[]; steps: ChangeStep[]; warnings?: Warning[]; apply?: boolean };
  'change.prepared': { steps: { key: string; milliseconds: number }[] };
  /** The last event of the batch that changes the schema. */
  'change.applied': Record<string, never>;
  /** The document contains the reasons. `code`: the code of the first problem. */
  'change.failed': { code: string; document: string };
  'change.withdrawn': Record<string, never>;
}

/** The view of the plan that the approver had, and how the approver was signed in. */
export interface ApprovedView {
  /** True if the request was to be prepared online. */
  online: boolean;
  credential: 'password' | 'token';
  /** Locations of the findings by code: `{ "LOSES_DATA": ["articles.body"] }`. */
  findings: Record<string, string[]>;
  /** Locations of deleted objects that the trash would keep. */
  kept: string[];
}

/** The requested change. */
interface ChangeOpened {
  /** The name of the operation: `update-fields`. */
  operation: string;
  /** Hex sha256 of the document with the requested change, which is stored outside the log. */
  document: string;
  /** Slow work is prepared first. Without a proposal the change is then applied without review. */
  online: boolean;
  /** Names of the collections that it changed when it was opened. */
  collections: string[];
  /** Set if it needs review. */
  proposal?: ChangeProposal;
  /** The change request that it reverts. */
  reverts?: string;
}

interface ChangeProposal {
  title: string;
  /** The hash of its plan. */
  plan: string;
  /** Position of the schema that it was decided for. */
  base: number;
}

/** Absent members are unchanged. */
export interface ChangeUpdated extends Partial<ChangeProposal> {
  reason?: string | null;
  document?: string;
  online?: boolean;
  collections?: string[];
}

/** Work that is done before a change is applied, outside its transaction. */
export interface ChangeStep {
  key: string;
  kind: string;
  collection: string;
  field: string | null;
  summary: string;
}
