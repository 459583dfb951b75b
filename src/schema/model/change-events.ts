/** What events about change requests carry. The request is their subject: `{ kind: 'change', id: uuid }`. */
import type { Warning } from '../../kernel/warning.js';

/** Payload per type, newest version. */
export interface ChangeEventData {
  'change.opened': ChangeOpened;
  /** What it is called, why, or what it asks for is another now. */
  'change.updated': ChangeUpdated;
  /** `comment`: the hash of a document, here and below. */
  'change.commented': { comment: string };
  /** For this plan and no other. `complete`: as often as the policy asks for. */
  'change.approved': { plan: string; complete: boolean; comment?: string } & ApprovedView;
  'change.rejected': { comment?: string };
  /** Is applied at this time (ISO 8601, in UTC), by the database's clock, by whoever this event is from. */
  'change.scheduled': { at: string };
  /**
   * From here on the tables of `collections` change in no other way, until it is over. `apply`: whoever this event is from
   * wants it applied once it is prepared.
   */
  'change.preparing': { collections: string[]; steps: ChangeStep[]; warnings?: Warning[]; apply?: boolean };
  'change.prepared': { steps: { key: string; milliseconds: number }[] };
  /** The last event of the batch that changes the schema. */
  'change.applied': Record<string, never>;
  /** Why is said in a document. `code`: of the first problem. */
  'change.failed': { code: string; document: string };
  'change.withdrawn': Record<string, never>;
}

/** What the person who approved has seen of the plan, and how they had signed in. */
export interface ApprovedView {
  /** The request was to be prepared online. */
  online: boolean;
  credential: 'password' | 'token';
  /** Locations of the findings, by their codes: `{ "LOSES_DATA": ["articles.body"] }`. */
  findings: Record<string, string[]>;
  /** Locations of deleted objects that the trash would keep. */
  kept: string[];
}

/** What a change request asks for. */
export interface ChangeOpened {
  /** The operation that it wants: `update-fields`. */
  operation: string;
  /** sha256 of the document that says what it wants, in hex: the document itself stands beside the log. */
  document: string;
  /** What takes long of it is prepared first. Without a proposal it is applied then, without anybody's word. */
  online: boolean;
  /** Names of the collections that it changes, as it was decided when it was opened. */
  collections: string[];
  /** It waits for people. */
  proposal?: ChangeProposal;
  /** The change request whose change it takes back. */
  reverts?: string;
}

export interface ChangeProposal {
  title: string;
  /** The hash of its plan. */
  plan: string;
  /** Position of the schema that it was decided for. */
  base: number;
}

/** What is absent stays. */
export interface ChangeUpdated extends Partial<ChangeProposal> {
  reason?: string | null;
  document?: string;
  online?: boolean;
  collections?: string[];
}

/** Something that is done before a change is applied, outside its transaction. */
export interface ChangeStep {
  key: string;
  kind: string;
  collection: string;
  field: string | null;
  summary: string;
}
