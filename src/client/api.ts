/* Generated from the routes by "npm run docs -- api". Do not edit. */

/** The codes of errors. */
export type ErrorCode = 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'NOT_ACCEPTABLE' | 'REQUEST_TIMEOUT' | 'ALREADY_EXISTS' | 'SCHEMA_CHANGED' | 'IN_USE' | 'INVALID_STATE' | 'PLAN_CHANGED' | 'IDEMPOTENCY_MISMATCH' | 'MERGE_CONFLICT' | 'PRECONDITION_FAILED' | 'CONTENT_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'EXPECTATION_FAILED' | 'DATABASE_REFUSED' | 'ONLINE_NOT_POSSIBLE' | 'POLICY_REFUSED' | 'TOO_MANY_REQUESTS' | 'HEADERS_TOO_LARGE' | 'INTERNAL' | 'DIVERGED' | 'LOCK_TIMEOUT' | 'LOG_DIVERGED' | 'LOG_UNREADABLE' | 'OVERLOADED' | 'READ_ONLY' | 'UNAVAILABLE';

/** The members that every event has. */
interface LoggedEvent { position: number;
  id: string;
  batch: string;
  version: number;
  collection: string | null;
  field: string | null;
  actor: Schemas['Actor'];
  command: string;
  reason: string | null;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
  /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null;
  /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string;
  context?: { [member: string]: unknown };
  subject?: { kind: string; id: string };
  occurred_at: string;
  hash: string;
  previous_hash: string }

/** The documents in requests and responses. */
export interface Schemas {
  Acceptance: { dry_run?: true;
    changed: (string)[];
    deleted: (string)[];
    renamed: ({ from: string; to: string })[];
    renamed_fields: ({ collection: string; from: string; to: string })[];
    not_accepted: ({ collection: string; field?: string; object?: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string }; code: string; message: string })[];
    not_represented: ({ table: string | null; kind: string; name: string; code: string; message: string })[];
    /** Only with `OBJECTS=on`. */ objects?: { changed: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[]; deleted: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[] };
    /** With `dry_run` or `explain`. */ events?: (Schemas['PlannedEvent'])[];
    /** With `dry_run` or `explain`: findings that the policy rejects. */ warnings?: (Schemas['Finding'])[] };
  AccountCreatedEvent: LoggedEvent & {
    type: 'account.created';
    data: { role: string; status: string; password_set_by: string | null } };
  AccountDeletedEvent: LoggedEvent & {
    type: 'account.deleted';
    data: Record<string, never> };
  AccountUpdatedEvent: LoggedEvent & {
    type: 'account.updated';
    data: { role?: string; status?: string; password_set_by?: string | null; email?: 'changed'; name?: 'changed'; password?: 'set' | 'removed' } };
  Actor: { /** The id of the account, even after its deletion. `dps` for the command, `service` for the service. */ id: string;
    /** The name at that time. Null if it was erased. */ name: string | null };
  AddedField: { special?: (string)[] | null;
    interface?: string | null;
    options?: { [member: string]: unknown } | null;
    display?: string | null;
    display_options?: { [member: string]: unknown } | null;
    readonly?: boolean;
    hidden?: boolean;
    sort?: number | null;
    width?: ('half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill') | null;
    translations?: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    note?: string | null;
    conditions?: ((unknown)[] | { [member: string]: unknown }) | null;
    group?: string | null;
    required?: boolean;
    validation?: ((unknown)[] | { [member: string]: unknown }) | null;
    validation_message?: string | null;
    collection?: string;
    field: string;
    type: Schemas['FieldType'];
    meta?: Schemas['FieldMetaInput'] | null;
    schema?: Schemas['ColumnInput'] | null;
    backfill?: Schemas['Backfill'] };
  Adoption: { dry_run?: true;
    adopted: (string)[];
    relations: number;
    refused: ({ table: string; object?: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string }; code: string; message: string })[];
    not_represented: ({ table: string | null; kind: string; name: string; code: string; message: string })[];
    /** Only with `OBJECTS=on`. */ objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[];
    /** With `dry_run` or `explain`. */ events?: (Schemas['PlannedEvent'])[];
    /** With `dry_run` or `explain`: findings that the policy rejects. */ warnings?: (Schemas['Finding'])[] };
  /** Fills the rows in which the field is null, before NOT NULL and unique are set. */ Backfill: { /** A literal of the type of the field, not null. */ value: unknown } | { /** Another field of the row. */ field: string } | ({ expression: 'now' | 'gen_random_uuid' | 'lower' | 'upper' | 'trim'; field?: string });
  Batch: { batch: string;
    actor: Schemas['Actor'];
    command: string;
    reason: string | null;
    request_id: string | null;
    ip: string | null;
    user_agent: string | null;
    context?: { [member: string]: unknown };
    occurred_at: string;
    first_position: number;
    last_position: number;
    events: number;
    summary: string;
    /** Number of events by type. */ types: { [member: string]: number } };
  Change: ({ kind: 'N'; path?: (string | number)[]; rhs: unknown }) | ({ kind: 'D'; path?: (string | number)[]; lhs: unknown }) | ({ kind: 'E'; path: (string | number)[]; lhs: unknown; rhs: unknown }) | ({ kind: 'A'; path: (string | number)[]; index: number; item: { kind: 'N'; rhs: unknown } | { kind: 'D'; lhs: unknown } });
  ChangeActedOn: { id: string;
    /** `open`, `approved`, `rejected`: in review. `scheduled`: applied at its time. `queued`: waiting for another request on the same tables. `applied`, `failed` and `withdrawn` are final. A proposed request that failed can be applied again. */ state: 'open' | 'approved' | 'rejected' | 'scheduled' | 'queued' | 'preparing' | 'prepared' | 'applied' | 'failed' | 'withdrawn';
    /** Null if nobody proposed it, and it is applied as soon as it is prepared. */ title: string | null;
    /** The command, by its name in the log. */ operation: string;
    /** True if slow steps are executed first. */ online: boolean;
    /** The collections that it changes. */ collections: (string)[];
    /** The hash of its plan, which approvals refer to. */ plan: string | null;
    author: Schemas['Actor'];
    reason: string | null;
    opened_at: string;
    /** Position of the event that opened it. */ opened_position: number;
    changed_at: string;
    /** When it is applied. Null if it is not scheduled. */ scheduled_at: string | null;
    /** The change request that it reverts. */ reverts: string | null;
    /** The batch of its change. */ result: { batch: string; position: number } | null;
    /** The code of the first error. Null if it did not fail. */ error: string | null;
    /** Actions that are allowed now, for users with the required role. */ allowed: ('update' | 'rebase' | 'comment' | 'approve' | 'reject' | 'prepare' | 'apply' | 'withdraw' | 'revert')[] };
  ChangeAppliedEvent: LoggedEvent & {
    type: 'change.applied';
    data: { findings?: { [member: string]: (string)[] }; purge?: boolean; acknowledge?: ({ code: string; place: string })[] } };
  ChangeApprovedEvent: LoggedEvent & {
    type: 'change.approved';
    data: { plan: string; complete: boolean; comment?: string; online: boolean; credential: 'password' | 'token' | 'identity'; token?: string; findings: { [member: string]: (string)[] }; kept: (string)[] } };
  ChangeCommentedEvent: LoggedEvent & {
    type: 'change.commented';
    data: { comment: string } };
  ChangeFailedEvent: LoggedEvent & {
    type: 'change.failed';
    data: { code: string; document: string } };
  ChangeOpenedEvent: LoggedEvent & {
    type: 'change.opened';
    data: { operation: string; document: string; online: boolean; collections: (string)[]; proposal?: { title: string; plan: string; base: number }; reverts?: string; proposed_with?: { credential: 'password' | 'token' | 'identity'; token?: string; issued_by?: string } } };
  ChangePreparedEvent: LoggedEvent & {
    type: 'change.prepared';
    data: { steps: ({ key: string; milliseconds: number })[] } };
  ChangePreparingEvent: LoggedEvent & {
    type: 'change.preparing';
    data: { collections: (string)[]; steps: ({ key: string; kind: string; collection: string; field: string | null; summary: string })[]; warnings?: ({ code: string; collection?: string; field?: string; message: string })[]; apply?: boolean } };
  ChangeRejectedEvent: LoggedEvent & {
    type: 'change.rejected';
    data: { comment?: string } };
  ChangeRequest: { id: string;
    /** `open`, `approved`, `rejected`: in review. `scheduled`: applied at its time. `queued`: waiting for another request on the same tables. `applied`, `failed` and `withdrawn` are final. A proposed request that failed can be applied again. */ state: 'open' | 'approved' | 'rejected' | 'scheduled' | 'queued' | 'preparing' | 'prepared' | 'applied' | 'failed' | 'withdrawn';
    /** Null if nobody proposed it, and it is applied as soon as it is prepared. */ title: string | null;
    /** The command, by its name in the log. */ operation: string;
    /** True if slow steps are executed first. */ online: boolean;
    /** The collections that it changes. */ collections: (string)[];
    /** The hash of its plan, which approvals refer to. */ plan: string | null;
    author: Schemas['Actor'];
    reason: string | null;
    opened_at: string;
    /** Position of the event that opened it. */ opened_position: number;
    changed_at: string;
    /** When it is applied. Null if it is not scheduled. */ scheduled_at: string | null;
    /** The change request that it reverts. */ reverts: string | null;
    /** The batch of its change. */ result: { batch: string; position: number } | null;
    /** The code of the first error. Null if it did not fail. */ error: string | null;
    document: { /** The sha256 hash of the content as canonical JSON, as stored in the event. */ hash: string; /** The proposed change. Null if erased. */ content: unknown };
    steps: ({ key: string; kind: string; collection: string; field: string | null; summary: string; state: 'waiting' | 'running' | 'done'; /** Progress. Null if unknown. */ done: number | null; /** The current step. */ phase: string | null; /** The size of the work, as estimated by the PostgreSQL statistics. */ rows: number | null; bytes: number | null; started_at: string | null; /** Duration including waits. Null if not finished. */ milliseconds: number | null })[];
    /** Collections whose tables no other change can alter until it has ended. */ holds: (string)[];
    queued_behind: (string)[];
    /** Sessions whose transactions it waits for. */ waiting_for: ({ /** Process id in PostgreSQL. Null for a prepared transaction. */ pid: number | null; application_name: string; age_seconds: number | null; collection?: string; /** Present instead of `collection` if the lock is on another kind of object. */ object?: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string } })[];
    /** It has ended, and the service is still removing its prepared objects. */ cleaning: boolean;
    warnings: (Schemas['Finding'])[];
    /** The errors with which it failed. Null if it did not fail, or the errors were erased. */ errors: (({ /** The problem, and how to solve it. */ message: string; extensions: { code: 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'NOT_ACCEPTABLE' | 'REQUEST_TIMEOUT' | 'ALREADY_EXISTS' | 'SCHEMA_CHANGED' | 'IN_USE' | 'INVALID_STATE' | 'PLAN_CHANGED' | 'IDEMPOTENCY_MISMATCH' | 'MERGE_CONFLICT' | 'PRECONDITION_FAILED' | 'CONTENT_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'EXPECTATION_FAILED' | 'DATABASE_REFUSED' | 'ONLINE_NOT_POSSIBLE' | 'POLICY_REFUSED' | 'TOO_MANY_REQUESTS' | 'HEADERS_TOO_LARGE' | 'INTERNAL' | 'DIVERGED' | 'LOCK_TIMEOUT' | 'LOG_DIVERGED' | 'LOG_UNREADABLE' | 'OVERLOADED' | 'READ_ONLY' | 'UNAVAILABLE'; /** Location in the request: `fields[2].type`. */ path?: string; collection?: string; field?: string; /** The subject of the problem, with its names. */ subject?: { [member: string]: unknown }; [member: string]: unknown } })[]) | null;
    /** Actions that are allowed now, for users with the required role. */ allowed: ('update' | 'rebase' | 'comment' | 'approve' | 'reject' | 'prepare' | 'apply' | 'withdraw' | 'revert')[];
    proposal: ({ /** Position of the schema that it was created for. */ base: number; /** Places for which the policy requires an approval. */ approvals_needed: number; approvals_counted: number; author_may_approve: boolean; /** The user who opened it, everyone who changed its plan, and other users who issued the tokens or set the passwords that they used. */ authors: (Schemas['Actor'])[]; /** When its title or reason was last changed. Null if never changed. */ described_at: string | null; approvals: ({ by: Schemas['Actor']; at: string; position: number; /** Null if there is none, or if it was erased. */ text: string | null; plan: string; /** True if the request was an online change at that time. */ online: boolean; /** How the user was authenticated. */ credential: 'password' | 'token' | 'identity'; counts: boolean; /** `another way`: `online` has been changed since. `an issued credential`: according to the log, another user issued the token or set the password. */ why_not: ('another plan' | 'another way' | 'no longer an admin' | 'an issued credential' | 'the author') | null })[]; rejection: ({ by: Schemas['Actor']; at: string; position: number; /** Null if there is none, or if it was erased. */ text: string | null }) | null; comments: ({ by: Schemas['Actor']; at: string; position: number; /** Null if there is none, or if it was erased. */ text: string | null; /** The change that the comment is about. An update may have removed it. Null for the whole request. */ place: ({ part: 'collections'; collection: string } | ({ part: 'fields' | 'relations'; collection: string; field: string }) | ({ part: 'objects'; kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })) | null })[] }) | null;
    /** The plan against the current schema. Null if the request has ended. */ planned?: ({ /** False if the request is stale, because its effect on the current schema has changed. */ fresh: boolean; /** The hash of the current plan. Null if it no longer fits the schema. */ hash: string | null; errors: (({ /** The problem, and how to solve it. */ message: string; extensions: { code: 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'NOT_ACCEPTABLE' | 'REQUEST_TIMEOUT' | 'ALREADY_EXISTS' | 'SCHEMA_CHANGED' | 'IN_USE' | 'INVALID_STATE' | 'PLAN_CHANGED' | 'IDEMPOTENCY_MISMATCH' | 'MERGE_CONFLICT' | 'PRECONDITION_FAILED' | 'CONTENT_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'EXPECTATION_FAILED' | 'DATABASE_REFUSED' | 'ONLINE_NOT_POSSIBLE' | 'POLICY_REFUSED' | 'TOO_MANY_REQUESTS' | 'HEADERS_TOO_LARGE' | 'INTERNAL' | 'DIVERGED' | 'LOCK_TIMEOUT' | 'LOG_DIVERGED' | 'LOG_UNREADABLE' | 'OVERLOADED' | 'READ_ONLY' | 'UNAVAILABLE'; /** Location in the request: `fields[2].type`. */ path?: string; collection?: string; field?: string; /** The subject of the problem, with its names. */ subject?: { [member: string]: unknown }; [member: string]: unknown } })[]) | null; diff: Schemas['SchemaChanges'] | null; /** The current policy and the proposed one. Null if it changes the schema. */ policy: { from: Schemas['Policy']; to: Schemas['Policy'] } | null; statements: ({ sql: string; summary: string; /** The strongest lock level, by its name in PostgreSQL. */ lock: string; loses_data: boolean; rewrites_table: boolean; may_fail: boolean; /** Index of its event. */ event: number; collection: string; field: string | null })[]; /** Existing tables that are locked. */ tables: ({ table: string; /** The strongest lock level on the table, by its name in PostgreSQL. */ lock: string; /** Estimated from the PostgreSQL statistics. Null if not yet known. */ rows: number | null; /** From the same statistics, without indexes. */ bytes: number | null; /** The change deletes the table or values in it, and the table has no rows. */ empty?: true })[]; findings: (Schemas['Finding'])[]; /** Objects that are deleted. */ loses: ({ collection: string; field: string | null; /** The trash keeps it for a limited time. */ kept: boolean; /** The reason why the trash cannot keep it. Null if the trash keeps it. */ why_not: string | null })[]; /** The hash of `online`, the findings and what is kept, for `view` of an approval. */ view: string | null; /** Objects that are restored from the trash with their rows. */ returns: ({ collection: string; /** Null for the table itself. */ field: string | null; /** Position of the deletion. */ position: number; /** The trash keeps it at least until then. Null if no longer known. */ kept_until: string | null })[] }) | null };
  ChangeReverting: { id: string;
    /** `open`, `approved`, `rejected`: in review. `scheduled`: applied at its time. `queued`: waiting for another request on the same tables. `applied`, `failed` and `withdrawn` are final. A proposed request that failed can be applied again. */ state: 'open' | 'approved' | 'rejected' | 'scheduled' | 'queued' | 'preparing' | 'prepared' | 'applied' | 'failed' | 'withdrawn';
    /** Null if nobody proposed it, and it is applied as soon as it is prepared. */ title: string | null;
    /** The command, by its name in the log. */ operation: string;
    /** True if slow steps are executed first. */ online: boolean;
    /** The collections that it changes. */ collections: (string)[];
    /** The hash of its plan, which approvals refer to. */ plan: string | null;
    author: Schemas['Actor'];
    reason: string | null;
    opened_at: string;
    /** Position of the event that opened it. */ opened_position: number;
    changed_at: string;
    /** When it is applied. Null if it is not scheduled. */ scheduled_at: string | null;
    /** The change request that it reverts. */ reverts: string | null;
    /** The batch of its change. */ result: { batch: string; position: number } | null;
    /** The code of the first error. Null if it did not fail. */ error: string | null;
    /** Actions that are allowed now, for users with the required role. */ allowed: ('update' | 'rebase' | 'comment' | 'approve' | 'reject' | 'prepare' | 'apply' | 'withdraw' | 'revert')[];
    /** Objects that are restored from the trash with their rows. */ returns: ({ collection: string; /** Null for the table itself. */ field: string | null; /** Position of the deletion. */ position: number; /** The trash keeps it at least until then. Null if no longer known. */ kept_until: string | null })[] };
  ChangeScheduledEvent: LoggedEvent & {
    type: 'change.scheduled';
    data: { at: string } };
  ChangeSummary: { id: string;
    /** `open`, `approved`, `rejected`: in review. `scheduled`: applied at its time. `queued`: waiting for another request on the same tables. `applied`, `failed` and `withdrawn` are final. A proposed request that failed can be applied again. */ state: 'open' | 'approved' | 'rejected' | 'scheduled' | 'queued' | 'preparing' | 'prepared' | 'applied' | 'failed' | 'withdrawn';
    /** Null if nobody proposed it, and it is applied as soon as it is prepared. */ title: string | null;
    /** The command, by its name in the log. */ operation: string;
    /** True if slow steps are executed first. */ online: boolean;
    /** The collections that it changes. */ collections: (string)[];
    /** The hash of its plan, which approvals refer to. */ plan: string | null;
    author: Schemas['Actor'];
    reason: string | null;
    opened_at: string;
    /** Position of the event that opened it. */ opened_position: number;
    changed_at: string;
    /** When it is applied. Null if it is not scheduled. */ scheduled_at: string | null;
    /** The change request that it reverts. */ reverts: string | null;
    /** The batch of its change. */ result: { batch: string; position: number } | null;
    /** The code of the first error. Null if it did not fail. */ error: string | null };
  ChangeUpdatedEvent: LoggedEvent & {
    type: 'change.updated';
    data: { title?: string; plan?: string; base?: number; reason?: string | null; document?: string; online?: boolean; collections?: (string)[]; proposed_with?: { credential: 'password' | 'token' | 'identity'; token?: string; issued_by?: string } } };
  ChangeWithdrawnEvent: LoggedEvent & {
    type: 'change.withdrawn';
    data: Record<string, never> };
  ChangedBatch: { batch: string;
    actor: Schemas['Actor'];
    command: string;
    reason: string | null;
    request_id: string | null;
    ip: string | null;
    user_agent: string | null;
    context?: { [member: string]: unknown };
    occurred_at: string;
    first_position: number;
    last_position: number;
    events: number;
    summary: string;
    /** Number of events by type. */ types: { [member: string]: number };
    /** Null if there are too many to list. */ changes: Schemas['DocumentChanges'] | null };
  CheckpointKey: { /** The public key in the format of signed notes: name+id+key. */ key: string;
    /** The end of the log when the key was created. */ from_position: number;
    created_at: string;
    /** Where the private key is stored. */ kept: 'file' | 'database' | 'replaced' };
  Collection: { collection: string;
    meta: Schemas['ShownCollectionMeta'];
    /** Null for a folder. */ schema: ({ name: string; schema?: string; comment: string | null; sql: string }) | null };
  CollectionAdoptedEvent: LoggedEvent & {
    type: 'collection.adopted';
    data: { collection: { collection: string; meta: { icon: string | null; note: string | null; display_template: string | null; hidden: boolean; singleton: boolean; translations: unknown; archive_field: string | null; archive_app_filter: boolean; archive_value: string | null; unarchive_value: string | null; sort_field: string | null; accountability: ('all' | 'activity') | null; color: string | null; item_duplication_fields: unknown; sort: number | null; group: string | null; collapse: 'open' | 'closed' | 'locked'; preview_url: string | null; versioning: boolean }; schema: ({ schema?: string; name?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }; fields: ({ collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null })[] } };
  CollectionCreatedEvent: LoggedEvent & {
    type: 'collection.created';
    data: { collection: { collection: string; meta: { icon: string | null; note: string | null; display_template: string | null; hidden: boolean; singleton: boolean; translations: unknown; archive_field: string | null; archive_app_filter: boolean; archive_value: string | null; unarchive_value: string | null; sort_field: string | null; accountability: ('all' | 'activity') | null; color: string | null; item_duplication_fields: unknown; sort: number | null; group: string | null; collapse: 'open' | 'closed' | 'locked'; preview_url: string | null; versioning: boolean }; schema: ({ schema?: string; name?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }; fields: ({ collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null })[]; concurrent_indexes?: boolean; restored?: { position: number; identity: string; empty?: boolean; name: string; fields: (string)[]; kept_in?: number } } };
  CollectionDeletedEvent: LoggedEvent & {
    type: 'collection.deleted';
    data: { adopted?: boolean; kept_until?: string; kept_in?: number; publications?: (string)[]; foreign_keys?: ({ name: string; definition: string })[] } };
  CollectionEvent: ({ position: number; id: string; batch: string; type: 'collection.created'; version: number; collection: string | null; field: string | null; data: { collection: { collection: string; meta: { icon: string | null; note: string | null; display_template: string | null; hidden: boolean; singleton: boolean; translations: unknown; archive_field: string | null; archive_app_filter: boolean; archive_value: string | null; unarchive_value: string | null; sort_field: string | null; accountability: ('all' | 'activity') | null; color: string | null; item_duplication_fields: unknown; sort: number | null; group: string | null; collapse: 'open' | 'closed' | 'locked'; preview_url: string | null; versioning: boolean }; schema: ({ schema?: string; name?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }; fields: ({ collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null })[]; concurrent_indexes?: boolean; restored?: { position: number; identity: string; empty?: boolean; name: string; fields: (string)[]; kept_in?: number } }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'collection.adopted'; version: number; collection: string | null; field: string | null; data: { collection: { collection: string; meta: { icon: string | null; note: string | null; display_template: string | null; hidden: boolean; singleton: boolean; translations: unknown; archive_field: string | null; archive_app_filter: boolean; archive_value: string | null; unarchive_value: string | null; sort_field: string | null; accountability: ('all' | 'activity') | null; color: string | null; item_duplication_fields: unknown; sort: number | null; group: string | null; collapse: 'open' | 'closed' | 'locked'; preview_url: string | null; versioning: boolean }; schema: ({ schema?: string; name?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }; fields: ({ collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'collection.updated'; version: number; collection: string | null; field: string | null; data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'collection.deleted'; version: number; collection: string | null; field: string | null; data: { adopted?: boolean; kept_until?: string; kept_in?: number; publications?: (string)[]; foreign_keys?: ({ name: string; definition: string })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'collection.renamed'; version: number; collection: string | null; field: string | null; data: { to: string; touches?: (string)[]; patches?: ({ collection: string; field?: string; relation?: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] })[]; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'field.created'; version: number; collection: string | null; field: string | null; data: { field: { collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null }; concurrent_indexes?: boolean; adopted?: boolean; restored?: { position: number; identity: string; empty?: boolean }; backfill?: { value: unknown } | { field: string } | ({ expression: 'now' | 'gen_random_uuid' }) | ({ expression: 'lower' | 'upper' | 'trim'; field: string }) }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'field.updated'; version: number; collection: string | null; field: string | null; data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; concurrent_indexes?: boolean; adopted?: boolean; backfill?: { value: unknown } | { field: string } | ({ expression: 'now' | 'gen_random_uuid' }) | ({ expression: 'lower' | 'upper' | 'trim'; field: string }) }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'field.deleted'; version: number; collection: string | null; field: string | null; data: { adopted?: boolean; kept_until?: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'field.renamed'; version: number; collection: string | null; field: string | null; data: { to: string; touches?: (string)[]; patches?: ({ collection: string; field?: string; relation?: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] })[]; adopted?: boolean; inherited?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'relation.created'; version: number; collection: string | null; field: string | null; data: { relation: { many_collection: string; many_field: string; one_collection: string | null; one_field: string | null; one_collection_field: string | null; one_allowed_collections: (string)[] | null; junction_field: string | null; sort_field: string | null; one_deselect_action: 'nullify' | 'delete'; schema: ({ constraint_name: string; on_update: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; on_delete: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; deferrable?: 'INITIALLY IMMEDIATE' | 'INITIALLY DEFERRED' }) | null }; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'relation.updated'; version: number; collection: string | null; field: string | null; data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'relation.deleted'; version: number; collection: string | null; field: string | null; data: { adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'object.created'; version: number; collection: string | null; field: string | null; data: { object: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; definition: string | ({ name: string; columns?: (string)[]; grantable?: true })[]; comment: string | null; indexes?: ({ name: string; unique?: true; definition: string })[]; enabled?: 'origin' | 'disabled' | 'replica' | 'always' }; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'object.updated'; version: number; collection: string | null; field: string | null; data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; caused_by?: number; adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'object.renamed'; version: number; collection: string | null; field: string | null; data: { to: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'object.deleted'; version: number; collection: string | null; field: string | null; data: { adopted?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'log.acknowledged'; version: number; collection: string | null; field: string | null; data: { divergences: ({ seen: { position: number; hash: string | null }; found: { position: number; hash: string | null }; fork?: number | null; noticed_at: string })[]; previous_origin?: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'log.erased'; version: number; collection: string | null; field: string | null; data: { positions: ([number, number])[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'trash.purged'; version: number; collection: string | null; field: string | null; data: { position: number; expired?: boolean; kept_in?: number }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.opened'; version: number; collection: string | null; field: string | null; data: { operation: string; document: string; online: boolean; collections: (string)[]; proposal?: { title: string; plan: string; base: number }; reverts?: string; proposed_with?: { credential: 'password' | 'token' | 'identity'; token?: string; issued_by?: string } }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.updated'; version: number; collection: string | null; field: string | null; data: { title?: string; plan?: string; base?: number; reason?: string | null; document?: string; online?: boolean; collections?: (string)[]; proposed_with?: { credential: 'password' | 'token' | 'identity'; token?: string; issued_by?: string } }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.commented'; version: number; collection: string | null; field: string | null; data: { comment: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.approved'; version: number; collection: string | null; field: string | null; data: { plan: string; complete: boolean; comment?: string; online: boolean; credential: 'password' | 'token' | 'identity'; token?: string; findings: { [member: string]: (string)[] }; kept: (string)[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.rejected'; version: number; collection: string | null; field: string | null; data: { comment?: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.scheduled'; version: number; collection: string | null; field: string | null; data: { at: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.preparing'; version: number; collection: string | null; field: string | null; data: { collections: (string)[]; steps: ({ key: string; kind: string; collection: string; field: string | null; summary: string })[]; warnings?: ({ code: string; collection?: string; field?: string; message: string })[]; apply?: boolean }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.prepared'; version: number; collection: string | null; field: string | null; data: { steps: ({ key: string; milliseconds: number })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.applied'; version: number; collection: string | null; field: string | null; data: { findings?: { [member: string]: (string)[] }; purge?: boolean; acknowledge?: ({ code: string; place: string })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.failed'; version: number; collection: string | null; field: string | null; data: { code: string; document: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'change.withdrawn'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'policy.updated'; version: number; collection: string | null; field: string | null; data: { policy: { findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' }; collections: ({ pattern: string; findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' } })[]; online_above_rows: number | null; approvals: number; author_may_approve: boolean; requires_reason?: boolean; policy_changes: 'free' | 'acknowledge' | 'approve' } }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'trust.updated'; version: number; collection: string | null; field: string | null; data: { rules: ({ name: string; user: string; set_by: string; issuer: string; audience: string; claims: { [member: string]: string }; scope: { role: string; actions?: (string)[]; collections?: (string)[]; networks?: (string)[] }; minutes: number })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'account.created'; version: number; collection: string | null; field: string | null; data: { role: string; status: string; password_set_by: string | null }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'account.updated'; version: number; collection: string | null; field: string | null; data: { role?: string; status?: string; password_set_by?: string | null; email?: 'changed'; name?: 'changed'; password?: 'set' | 'removed' }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'account.deleted'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'token.created'; version: number; collection: string | null; field: string | null; data: { token: string; issued_by: string | null; expires_at: string | null; scope?: { role: string; actions?: (string)[]; collections?: (string)[]; networks?: (string)[] }; rule?: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'token.revoked'; version: number; collection: string | null; field: string | null; data: { token: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'identity.linked'; version: number; collection: string | null; field: string | null; data: { identity: string; issuer: string; issued_by: string | null }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'identity.unlinked'; version: number; collection: string | null; field: string | null; data: { identity: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'webhook.created'; version: number; collection: string | null; field: string | null; data: { name: string; origin: string; format: string; types: (string)[]; collections: (string)[] | null }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'webhook.updated'; version: number; collection: string | null; field: string | null; data: { name?: string; origin?: string; format?: string; types?: (string)[]; collections?: (string)[] | null; secret?: 'rotated'; replayed_from?: number }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'webhook.enabled'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'webhook.disabled'; version: number; collection: string | null; field: string | null; data: { because: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'webhook.deleted'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'environment.created'; version: number; collection: string | null; field: string | null; data: { name: string; origin: string }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'environment.updated'; version: number; collection: string | null; field: string | null; data: { name?: string; origin?: string; token?: 'replaced'; base?: number | null }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'environment.deleted'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'drift.found'; version: number; collection: string | null; field: string | null; data: { differences: number; tables: (string)[]; objects?: ({ kind: string; id: string })[] }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'drift.resolved'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'verification.failed'; version: number; collection: string | null; field: string | null; data: { faults: { [member: string]: number } }; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] }) | ({ position: number; id: string; batch: string; type: 'verification.passed'; version: number; collection: string | null; field: string | null; data: Record<string, never>; actor: Schemas['Actor']; command: string; reason: string | null; request_id: string | null; ip: string | null; user_agent: string | null; /** 128 random bits, hex. Null if the personal data was erased. */ salt: string | null; /** SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself. */ commitment: string; context?: { [member: string]: unknown }; subject?: { kind: string; id: string }; occurred_at: string; hash: string; previous_hash: string; diff: Schemas['SchemaChanges'] });
  CollectionLife: { /** Identity of the collection, which stays the same when it is renamed. */ identity: string;
    names: ({ name: string; /** Position of the event that set the name. */ from: number; since: string; /** Position of the event that ended it. */ to: number | null; until: string | null })[] };
  CollectionMeta: { collection: string;
    icon: string | null;
    note: string | null;
    display_template: string | null;
    hidden: boolean;
    singleton: boolean;
    translations: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    archive_field: string | null;
    archive_app_filter: boolean;
    archive_value: string | null;
    unarchive_value: string | null;
    sort_field: string | null;
    accountability: ('all' | 'activity') | null;
    color: string | null;
    item_duplication_fields: (unknown)[] | null;
    sort: number | null;
    group: string | null;
    collapse: 'open' | 'closed' | 'locked';
    preview_url: string | null;
    versioning: boolean };
  CollectionMetaInput: { collection?: string;
    icon?: string | null;
    note?: string | null;
    display_template?: string | null;
    hidden?: boolean;
    singleton?: boolean;
    translations?: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    archive_field?: string | null;
    archive_app_filter?: boolean | ('true' | 'false');
    archive_value?: string | null;
    unarchive_value?: string | null;
    sort_field?: string | null;
    accountability?: ('all' | 'activity') | null;
    color?: string | null;
    item_duplication_fields?: (unknown)[] | null;
    sort?: number | null;
    group?: string | null;
    collapse?: 'open' | 'closed' | 'locked';
    preview_url?: string | null;
    versioning?: boolean;
    system?: false };
  CollectionRename: { to: string;
    /** Moves the table. `schema` is a schema of DB_SCHEMAS, by default the first. */ schema?: { schema?: string; name?: string } };
  CollectionRenamedEvent: LoggedEvent & {
    type: 'collection.renamed';
    data: { to: string; touches?: (string)[]; patches?: ({ collection: string; field?: string; relation?: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] })[]; adopted?: boolean } };
  CollectionUpdate: { collection?: string;
    meta?: Schemas['CollectionMetaInput'];
    schema?: ({ name?: string; schema?: string; sql?: string; comment?: string | null }) | null };
  CollectionUpdatedEvent: LoggedEvent & {
    type: 'collection.updated';
    data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; adopted?: boolean } };
  Column: { name: string;
    table: string;
    data_type: string;
    default_value: unknown;
    max_length: number | null;
    numeric_precision: number | null;
    numeric_scale: number | null;
    is_nullable: boolean;
    is_unique: boolean;
    is_indexed: boolean;
    is_primary_key: boolean;
    is_generated: boolean;
    generation_expression: string | null;
    has_auto_increment: boolean;
    comment: string | null;
    foreign_key_table: string | null;
    foreign_key_column: string | null;
    extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } };
  ColumnInput: { name?: string;
    table?: string;
    data_type?: string;
    default_value?: unknown;
    max_length?: number | null;
    numeric_precision?: number | null;
    numeric_scale?: number | null;
    is_nullable?: boolean;
    is_unique?: boolean;
    is_indexed?: boolean;
    is_primary_key?: boolean;
    is_generated?: boolean;
    generation_expression?: string | null;
    has_auto_increment?: boolean;
    comment?: string | null;
    foreign_key_table?: string | null;
    foreign_key_column?: string | null;
    extras?: ({ precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string }) | null;
    schema?: string | null;
    length?: number | null;
    foreign_key_schema?: string | null };
  CurrentUser: { id: string;
    email: string;
    name: string;
    role: 'admin' | 'auditor' | 'author' | 'reader';
    status: 'active' | 'suspended';
    created_at: string;
    /** When the invitation expires. Null if the user was not invited, or has chosen a password. */ invitation_expires_at: string | null;
    access: { credential: 'password' | 'token' | 'identity'; /** The role that applies: the lower of the role of the user and the role in the scope. */ role: 'admin' | 'auditor' | 'author' | 'reader'; /** The actions that the role and the scope allow. */ actions: ('read' | 'propose' | 'apply' | 'history' | 'operate')[]; /** When the API token expires. */ expires_at: string | null; /** Null if the token may do everything that its user may do. */ scope: Schemas['TokenScope'] | null; /** The trust rule under which a pipeline exchanged its ID token for the token. Null for other credentials. */ rule: string | null } };
  DatabaseTable: { /** Estimated from the PostgreSQL statistics. Null if there are none yet. */ rows: number | null;
    /** Size on disk, with all partitions. It is estimated by the statistics if another session has locked the table, and null if there are none yet. */ bytes: { table: number | null; indexes: number | null; total: number | null };
    /** When the statistics were collected. */ analyzed_at: string | null;
    indexes: ({ name: string; /** Null if another session has locked the table. */ definition: string | null; bytes: number | null; /** Number of uses since the statistics were last reset. */ scans: number | null; primary: boolean; unique: boolean; /** True if it is complete and PostgreSQL uses it. */ valid: boolean })[];
    constraints: ({ name: string; kind: 'primary key' | 'unique' | 'foreign key' | 'check' | 'exclusion' | 'not null' | 'trigger'; /** Null if another session has locked the table. */ definition: string | null; /** False if rows that existed before it were not checked. */ valid: boolean })[];
    /** Objects that depend on it and that no snapshot contains. */ dependents: (Schemas['Dependent'])[] };
  Dependent: { /** `view`, `function`, `trigger`, `policy`, `foreign key` of an unmanaged table …. */ kind: string;
    name: string;
    /** `text`: a function whose body contains the name. */ by: 'catalog' | 'text' };
  Diagram: { /** How much of each table the view shows. */ depth: 'names' | 'keys' | 'columns';
    /** The folder that the view is limited to. Null if there is none. */ folder: string | null;
    /** The top left corner of each table, in pixels. */ places: ({ collection: string; x: number; y: number })[] };
  Diff: { hash: string;
    diff: Schemas['SchemaChanges'];
    warnings?: (Schemas['Finding'])[] };
  DocumentChanges: { collections: ({ /** Null if it is created. */ before: ({ collection: string; meta: Schemas['CollectionMeta']; schema: ({ name: string; schema?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }) | null; /** Null if it is deleted. */ after: ({ collection: string; meta: Schemas['CollectionMeta']; schema: ({ name: string; schema?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null }) | null })[];
    fields: ({ /** Null if it is created. */ before: Schemas['Field'] | null; /** Null if it is deleted. */ after: Schemas['Field'] | null })[];
    relations: ({ /** Null if it is created. */ before: Schemas['Relation'] | null; /** Null if it is deleted. */ after: Schemas['Relation'] | null })[] };
  Drift: { position: number;
    ok: boolean;
    tables: ({ table: string; kind: 'missing' | 'different' | 'not wanted'; renamed_to?: string; differences: ({ field?: string; member: string; /** The value in the log. Null if the object does not exist there. */ expected: unknown; /** The value in the database. Null if the object does not exist there. */ found: unknown; renamed_to?: string; repair: { database: ({ sql: string; summary: string; drops: boolean; /** The tables that inherit the dropped column, and lose it too. */ inherited_by?: (string)[] })[]; log: ({ type: 'collection.created' | 'collection.adopted' | 'collection.updated' | 'collection.deleted' | 'collection.renamed' | 'field.created' | 'field.updated' | 'field.deleted' | 'field.renamed' | 'relation.created' | 'relation.updated' | 'relation.deleted' | 'object.created' | 'object.updated' | 'object.renamed' | 'object.deleted' | 'log.acknowledged' | 'log.erased' | 'trash.purged' | 'change.opened' | 'change.updated' | 'change.commented' | 'change.approved' | 'change.rejected' | 'change.scheduled' | 'change.preparing' | 'change.prepared' | 'change.applied' | 'change.failed' | 'change.withdrawn' | 'policy.updated' | 'trust.updated' | 'account.created' | 'account.updated' | 'account.deleted' | 'token.created' | 'token.revoked' | 'identity.linked' | 'identity.unlinked' | 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.deleted' | 'environment.created' | 'environment.updated' | 'environment.deleted' | 'drift.found' | 'drift.resolved' | 'verification.failed' | 'verification.passed'; collection: string | null; field: string | null; data: { [member: string]: unknown }; subject?: { kind: string; id: string } })[] } })[] })[];
    /** Unmanaged tables. */ unmanaged: (string)[];
    /** Unmanaged tables in managed schemas. */ unmanaged_tables: ({ table: string; /** Estimated from the PostgreSQL statistics, with the partitions. */ rows: number | null; partition_of?: string })[];
    /** Views, functions and other objects that differ. Only with `OBJECTS=on`. */ objects?: ({ object: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string }; kind: 'missing' | 'different'; differences: ({ member: string; /** The value in the log. Null if the object does not exist there. */ expected: unknown; /** The value in the database. Null if the object does not exist there. */ found: unknown })[]; repair: { database: ({ sql: string; summary: string; drops: boolean; /** The tables that inherit the dropped column, and lose it too. */ inherited_by?: (string)[] })[]; log: ({ type: 'collection.created' | 'collection.adopted' | 'collection.updated' | 'collection.deleted' | 'collection.renamed' | 'field.created' | 'field.updated' | 'field.deleted' | 'field.renamed' | 'relation.created' | 'relation.updated' | 'relation.deleted' | 'object.created' | 'object.updated' | 'object.renamed' | 'object.deleted' | 'log.acknowledged' | 'log.erased' | 'trash.purged' | 'change.opened' | 'change.updated' | 'change.commented' | 'change.approved' | 'change.rejected' | 'change.scheduled' | 'change.preparing' | 'change.prepared' | 'change.applied' | 'change.failed' | 'change.withdrawn' | 'policy.updated' | 'trust.updated' | 'account.created' | 'account.updated' | 'account.deleted' | 'token.created' | 'token.revoked' | 'identity.linked' | 'identity.unlinked' | 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.deleted' | 'environment.created' | 'environment.updated' | 'environment.deleted' | 'drift.found' | 'drift.resolved' | 'verification.failed' | 'verification.passed'; collection: string | null; field: string | null; data: { [member: string]: unknown }; subject?: { kind: string; id: string } })[] } })[];
    /** Unmanaged views, functions and other objects. Only with `OBJECTS=on`. */ unmanaged_objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[] };
  DriftFoundEvent: LoggedEvent & {
    type: 'drift.found';
    data: { differences: number; tables: (string)[]; objects?: ({ kind: string; id: string })[] } };
  DriftResolvedEvent: LoggedEvent & {
    type: 'drift.resolved';
    data: Record<string, never> };
  Environment: { id: string;
    name: string;
    /** The address of the other instance. */ url: string;
    /** False after a restore from a backup, which contains no tokens. */ has_token: boolean;
    /** The last schema that both had in common: a position of the log of this service or of the environment. */ base: ({ log: 'own' | 'environment'; position: number }) | null;
    /** The last result. Null until the first comparison has ended. */ comparison: Schemas['EnvironmentComparison'] | null;
    created_at: string };
  EnvironmentComparison: { /** Changes in this service that the environment lacks, without conflicts. Null if unknown. */ ahead: number | null;
    /** Changes in the environment that this service lacks, without conflicts. Null if unknown. */ behind: number | null;
    /** Conflicting changes. */ conflicts: number;
    /** Why the schemas cannot be compared. Null if they were compared. */ error: ({ code: 'unreachable' | 'token_rejected' | 'not_this_service' | 'other_release' | 'same_instance' | 'not_comparable' | 'failed'; message: string }) | null;
    checked_at: string };
  EnvironmentCreatedEvent: LoggedEvent & {
    type: 'environment.created';
    data: { name: string; origin: string } };
  EnvironmentDeletedEvent: LoggedEvent & {
    type: 'environment.deleted';
    data: Record<string, never> };
  EnvironmentUpdatedEvent: LoggedEvent & {
    type: 'environment.updated';
    data: { name?: string; origin?: string; token?: 'replaced'; base?: number | null } };
  Erasure: { user: string;
    /** True if the request also deleted the account. */ deleted: boolean;
    /** Number of events whose personal data was erased. 0 if none remained. */ erased: number };
  Errors: { errors: ({ /** The problem, and how to solve it. */ message: string; extensions: { code: 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'NOT_ACCEPTABLE' | 'REQUEST_TIMEOUT' | 'ALREADY_EXISTS' | 'SCHEMA_CHANGED' | 'IN_USE' | 'INVALID_STATE' | 'PLAN_CHANGED' | 'IDEMPOTENCY_MISMATCH' | 'MERGE_CONFLICT' | 'PRECONDITION_FAILED' | 'CONTENT_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'EXPECTATION_FAILED' | 'DATABASE_REFUSED' | 'ONLINE_NOT_POSSIBLE' | 'POLICY_REFUSED' | 'TOO_MANY_REQUESTS' | 'HEADERS_TOO_LARGE' | 'INTERNAL' | 'DIVERGED' | 'LOCK_TIMEOUT' | 'LOG_DIVERGED' | 'LOG_UNREADABLE' | 'OVERLOADED' | 'READ_ONLY' | 'UNAVAILABLE'; /** Location in the request: `fields[2].type`. */ path?: string; collection?: string; field?: string; /** The subject of the problem, with its names. */ subject?: { [member: string]: unknown }; [member: string]: unknown } })[] };
  Event: Schemas['CollectionCreatedEvent'] | Schemas['CollectionAdoptedEvent'] | Schemas['CollectionUpdatedEvent'] | Schemas['CollectionDeletedEvent'] | Schemas['CollectionRenamedEvent'] | Schemas['FieldCreatedEvent'] | Schemas['FieldUpdatedEvent'] | Schemas['FieldDeletedEvent'] | Schemas['FieldRenamedEvent'] | Schemas['RelationCreatedEvent'] | Schemas['RelationUpdatedEvent'] | Schemas['RelationDeletedEvent'] | Schemas['ObjectCreatedEvent'] | Schemas['ObjectUpdatedEvent'] | Schemas['ObjectRenamedEvent'] | Schemas['ObjectDeletedEvent'] | Schemas['LogAcknowledgedEvent'] | Schemas['LogErasedEvent'] | Schemas['TrashPurgedEvent'] | Schemas['ChangeOpenedEvent'] | Schemas['ChangeUpdatedEvent'] | Schemas['ChangeCommentedEvent'] | Schemas['ChangeApprovedEvent'] | Schemas['ChangeRejectedEvent'] | Schemas['ChangeScheduledEvent'] | Schemas['ChangePreparingEvent'] | Schemas['ChangePreparedEvent'] | Schemas['ChangeAppliedEvent'] | Schemas['ChangeFailedEvent'] | Schemas['ChangeWithdrawnEvent'] | Schemas['PolicyUpdatedEvent'] | Schemas['TrustUpdatedEvent'] | Schemas['AccountCreatedEvent'] | Schemas['AccountUpdatedEvent'] | Schemas['AccountDeletedEvent'] | Schemas['TokenCreatedEvent'] | Schemas['TokenRevokedEvent'] | Schemas['IdentityLinkedEvent'] | Schemas['IdentityUnlinkedEvent'] | Schemas['WebhookCreatedEvent'] | Schemas['WebhookUpdatedEvent'] | Schemas['WebhookEnabledEvent'] | Schemas['WebhookDisabledEvent'] | Schemas['WebhookDeletedEvent'] | Schemas['EnvironmentCreatedEvent'] | Schemas['EnvironmentUpdatedEvent'] | Schemas['EnvironmentDeletedEvent'] | Schemas['DriftFoundEvent'] | Schemas['DriftResolvedEvent'] | Schemas['VerificationFailedEvent'] | Schemas['VerificationPassedEvent'] | Schemas['LaterEvent'];
  Examination: { /** No check failed. There may be warnings. */ ok: boolean;
    checks: ({ name: string; /** `skipped`: an earlier finding prevents the check, or it needs a primary. */ result: 'ok' | 'warning' | 'error' | 'skipped'; findings: ({ code: string; severity: 'error' | 'warning'; message: string; fix: string })[] })[] };
  Field: { collection: string;
    field: string;
    type: Schemas['FieldType'];
    meta: Schemas['FieldMeta'];
    /** Null for an alias field, which has no column. */ schema: Schemas['Column'] | null };
  FieldCreatedEvent: LoggedEvent & {
    type: 'field.created';
    data: { field: { collection: string; field: string; type: string; meta: { special: (string)[] | null; interface: string | null; options: unknown; display: string | null; display_options: unknown; readonly: boolean; hidden: boolean; sort: number | null; width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill'; translations: unknown; note: string | null; conditions: unknown; group: string | null; required: boolean; validation: unknown; validation_message: string | null }; schema: ({ data_type: string; default_value: unknown; max_length: number | null; numeric_precision: number | null; numeric_scale: number | null; is_nullable: boolean; is_unique: boolean; is_indexed: boolean; is_primary_key: boolean; generation_expression: string | null; has_auto_increment: boolean; comment: string | null; extras?: { precision?: number; collation?: string; default?: string; identity?: 'always'; virtual?: true; sequence?: { name?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }; primary_key_name?: string; unique_name?: string; index_name?: string; not_null_name?: string } }) | null }; concurrent_indexes?: boolean; adopted?: boolean; restored?: { position: number; identity: string; empty?: boolean }; backfill?: { value: unknown } | { field: string } | ({ expression: 'now' | 'gen_random_uuid' }) | ({ expression: 'lower' | 'upper' | 'trim'; field: string }) } };
  FieldDeletedEvent: LoggedEvent & {
    type: 'field.deleted';
    data: { adopted?: boolean; kept_until?: string } };
  FieldMeta: { collection: string;
    field: string;
    special: (string)[] | null;
    interface: string | null;
    options: { [member: string]: unknown } | null;
    display: string | null;
    display_options: { [member: string]: unknown } | null;
    readonly: boolean;
    hidden: boolean;
    sort: number | null;
    width: 'half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill';
    translations: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    note: string | null;
    conditions: ((unknown)[] | { [member: string]: unknown }) | null;
    group: string | null;
    required: boolean;
    validation: ((unknown)[] | { [member: string]: unknown }) | null;
    validation_message: string | null };
  FieldMetaInput: { collection?: string;
    field?: string;
    special?: (string)[] | null;
    interface?: string | null;
    options?: { [member: string]: unknown } | null;
    display?: string | null;
    display_options?: { [member: string]: unknown } | null;
    readonly?: boolean;
    hidden?: boolean;
    sort?: number | null;
    width?: ('half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill') | null;
    translations?: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    note?: string | null;
    conditions?: ((unknown)[] | { [member: string]: unknown }) | null;
    group?: string | null;
    required?: boolean;
    validation?: ((unknown)[] | { [member: string]: unknown }) | null;
    validation_message?: string | null;
    system?: false;
    searchable?: boolean;
    id?: number | null };
  FieldRenamedEvent: LoggedEvent & {
    type: 'field.renamed';
    data: { to: string; touches?: (string)[]; patches?: ({ collection: string; field?: string; relation?: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] })[]; adopted?: boolean; inherited?: boolean } };
  FieldType: 'string' | 'text' | 'boolean' | 'integer' | 'bigInteger' | 'float' | 'decimal' | 'date' | 'time' | 'dateTime' | 'timestamp' | 'json' | 'csv' | 'uuid' | 'hash' | 'binary' | 'geometry' | 'geometry.Point' | 'geometry.LineString' | 'geometry.Polygon' | 'geometry.MultiPoint' | 'geometry.MultiLineString' | 'geometry.MultiPolygon' | 'alias' | 'unknown';
  FieldUpdate: { collection?: string;
    field?: string;
    type?: Schemas['FieldType'];
    meta?: Schemas['FieldMetaInput'] | null;
    schema?: Schemas['ColumnInput'] | null;
    backfill?: Schemas['Backfill'] };
  FieldUpdatedEvent: LoggedEvent & {
    type: 'field.updated';
    data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; concurrent_indexes?: boolean; adopted?: boolean; backfill?: { value: unknown } | { field: string } | ({ expression: 'now' | 'gen_random_uuid' }) | ({ expression: 'lower' | 'upper' | 'trim'; field: string }) } };
  Finding: { /** Stable. docs/findings has a page for each. */ code: string;
    level: 'note' | 'warn' | 'danger';
    /** The action of the policy. Absent if the policy was evaluated earlier, for example for a change request. */ action?: 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse';
    collection?: string;
    field?: string;
    /** A constraint or an index. */ object?: { kind: string; name: string };
    message: string;
    /** Index in the events of the plan. */ event?: number;
    /** Index in the statements of the plan. */ statement?: number;
    why: string;
    safer?: { text: string; /** The request to send instead. Absent if it takes more than one. */ request?: { method: string; path: string; body?: unknown } };
    /** The name of the rule in other tools: `squawk:ban-char-field`. */ aliases: (string)[];
    /** The statistics that the level is based on. Null if there are none. */ statistics?: ({ bytes: number | null; /** An estimate. Null if unknown. */ rows: number | null; /** Seconds since the last ANALYZE. Null if the rows were counted since the statistics began. */ age: number | null; /** Number of scans and written rows, if counted. */ uses?: number | null }) | null;
    /** All objects that it applies to, if there are several. */ places?: ({ collection: string; field?: string })[] };
  ForeignKey: { constraint_name: string;
    table: string;
    column: string;
    foreign_key_table: string;
    foreign_key_column: string | null;
    on_update: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT';
    on_delete: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT';
    deferrable?: 'INITIALLY IMMEDIATE' | 'INITIALLY DEFERRED' };
  ForeignKeyInput: { constraint_name?: string;
    table?: string;
    column?: string;
    foreign_key_table?: string | null;
    foreign_key_column?: string | null;
    on_update?: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT';
    on_delete?: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT';
    deferrable?: ('INITIALLY IMMEDIATE' | 'INITIALLY DEFERRED') | null;
    foreign_key_schema?: string | null };
  Grant: { access_token: string;
    /** Milliseconds until the access token expires. */ expires: number;
    /** Can be used once. Absent if it is sent as a cookie. */ refresh_token?: string };
  Health: { status: 'ok' | 'error';
    checks: { database: { ok: boolean; message?: string }; log: { ok: boolean; message?: string }; projections: { ok: boolean; message?: string } };
    /** Does not affect the status. */ load: { /** Requests were rejected with `OVERLOADED` in the last 10 seconds. */ overloaded: boolean; /** Number of queued tasks. */ waiting: number; /** Size of responses that are complete and not yet sent. */ answer_bytes: number } };
  Identity: { id: string;
    /** The address of the provider. */ issuer: string;
    /** The id of the user at the provider. */ subject: string;
    created_at: string };
  IdentityLinkedEvent: LoggedEvent & {
    type: 'identity.linked';
    data: { identity: string; issuer: string; issued_by: string | null } };
  IdentityUnlinkedEvent: LoggedEvent & {
    type: 'identity.unlinked';
    data: { identity: string } };
  Info: { release: string;
    vendor: string;
    database_version: string;
    position: number;
    hash: string;
    /** Only with `OBJECTS=on`. */ objects?: true };
  /** An event of a type that this release does not know. */ LaterEvent: LoggedEvent & {
    type: string;
    data: unknown };
  LogAcknowledgedEvent: LoggedEvent & {
    type: 'log.acknowledged';
    data: { divergences: ({ seen: { position: number; hash: string | null }; found: { position: number; hash: string | null }; fork?: number | null; noticed_at: string })[]; previous_origin?: string } };
  LogAcknowledgement: { position: number;
    divergences: ({ seen: { position: number; hash: string | null }; found: { position: number; hash: string | null }; fork?: number | null; noticed_at: string })[] };
  LogErasedEvent: LoggedEvent & {
    type: 'log.erased';
    data: { positions: ([number, number])[] } };
  LogVerification: { ok: boolean;
    /** Number of events. */ checked: number;
    /** Number of events whose personal data was erased. */ erased: number;
    /** The last valid event. */ head: { position: number; hash: string; occurred_at: string | null };
    /** The first position where the chain is broken, or where personal data is missing and no event records its erasure. */ broken: { position: number; reason: string } | null;
    /** Changes that the policy, the approvals or the trust rules at their position did not allow, or that differ from the plan of their change request, at most 100. */ disallowed: ({ position: number; reason: string })[];
    /** Ways in which PostgreSQL would allow changes to accepted events. */ unprotected: (string)[];
    /** Each time that the log differed from an earlier read. */ divergences: ({ seen: { position: number; hash: string | null }; found: { position: number; hash: string | null }; fork?: number | null; noticed_at: string; acknowledged: number | null })[] };
  /** A message of JSON-RPC. Batches are not supported. */ McpMessage: { jsonrpc: '2.0';
    id?: string | number;
    method?: string;
    params?: { [member: string]: unknown };
    [member: string]: unknown };
  Merge: { /** The base of theirs. */ base: (number | string) | Schemas['SnapshotInput'];
    /** Default: the current schema. */ ours?: number | string;
    theirs: Schemas['SnapshotInput'];
    /** Resolutions of the conflicts in an earlier response. */ resolve?: ({ place: Schemas['MergePlace']; take: 'ours' | 'theirs' })[] };
  MergePlace: ({ part: 'collections' | 'fields' | 'relations'; collection: string; field?: string; /** The member. Absent for the whole object. */ path?: (string | number)[] }) | ({ part: 'objects'; kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; /** The member. Absent for the whole object. */ path?: (string | number)[] });
  NamedCollectionUpdate: { collection: string;
    meta?: Schemas['CollectionMetaInput'];
    schema?: ({ name?: string; schema?: string; sql?: string; comment?: string | null }) | null };
  NamedFieldUpdate: { collection?: string;
    field: string;
    type?: Schemas['FieldType'];
    meta?: Schemas['FieldMetaInput'] | null;
    schema?: Schemas['ColumnInput'] | null;
    backfill?: Schemas['Backfill'] };
  NewCollection: { collection?: string;
    schema: ({ name?: string; schema?: string; sql?: string; comment?: string | null; extras?: ({ primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] }) | null }) | null;
    meta?: Schemas['CollectionMetaInput'] | null;
    fields?: (Schemas['NewField'])[];
    icon?: string | null;
    note?: string | null;
    display_template?: string | null;
    hidden?: boolean;
    singleton?: boolean;
    versioning?: boolean;
    archive_field?: string | null;
    archive_app_filter?: boolean | ('true' | 'false');
    archive_value?: string | null;
    unarchive_value?: string | null;
    sort_field?: string | null;
    translation?: unknown };
  NewField: { special?: (string)[] | null;
    interface?: string | null;
    options?: { [member: string]: unknown } | null;
    display?: string | null;
    display_options?: { [member: string]: unknown } | null;
    readonly?: boolean;
    hidden?: boolean;
    sort?: number | null;
    width?: ('half' | 'half-left' | 'half-right' | 'half-space' | 'full' | 'fill') | null;
    translations?: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    note?: string | null;
    conditions?: ((unknown)[] | { [member: string]: unknown }) | null;
    group?: string | null;
    required?: boolean;
    validation?: ((unknown)[] | { [member: string]: unknown }) | null;
    validation_message?: string | null;
    collection?: string;
    field: string;
    type: Schemas['FieldType'];
    meta?: Schemas['FieldMetaInput'] | null;
    schema?: Schemas['ColumnInput'] | null };
  NewObject: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type';
    /** Derived from the definition, unless that is a list of privileges. */ id?: string;
    /** One statement in SQL. For privileges, a list, or GRANT statements. */ definition: string | (({ name: 'CREATE' | 'DELETE' | 'EXECUTE' | 'INSERT' | 'MAINTAIN' | 'REFERENCES' | 'SELECT' | 'TRIGGER' | 'TRUNCATE' | 'UPDATE' | 'USAGE'; columns?: (string)[]; grantable?: true })[]);
    comment?: string | null;
    /** Only for materialized views. */ indexes?: ({ name: string; unique?: true; definition: string })[];
    /** Only for triggers and rules: the sessions in which it fires, as in ALTER TABLE … ENABLE TRIGGER. */ enabled?: 'origin' | 'disabled' | 'replica' | 'always' };
  NewToken: { id: string;
    name: string;
    created_at: string;
    expires_at: string | null;
    /** Null if the token may do everything that its user may do. */ scope: Schemas['TokenScope'] | null;
    /** The trust rule under which a pipeline exchanged its ID token for the token. Null for other credentials. */ rule: string | null;
    /** Returned only once. */ token: string };
  NewTokenScope: { /** Default: all. */ actions?: ('read' | 'propose' | 'apply' | 'history' | 'operate')[];
    /** Names of collections, or patterns with `*`. Default: all. */ collections?: (string)[];
    /** Addresses and networks from which the token is accepted. Default: all. */ networks?: (string)[] };
  Object: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type';
    id: string;
    definition: string | (({ name: 'CREATE' | 'DELETE' | 'EXECUTE' | 'INSERT' | 'MAINTAIN' | 'REFERENCES' | 'SELECT' | 'TRIGGER' | 'TRUNCATE' | 'UPDATE' | 'USAGE'; columns?: (string)[]; grantable?: true })[]);
    comment: string | null;
    indexes?: ({ name: string; unique?: true; definition: string })[];
    enabled?: 'origin' | 'disabled' | 'replica' | 'always' };
  ObjectCreatedEvent: LoggedEvent & {
    type: 'object.created';
    data: { object: { kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; definition: string | ({ name: string; columns?: (string)[]; grantable?: true })[]; comment: string | null; indexes?: ({ name: string; unique?: true; definition: string })[]; enabled?: 'origin' | 'disabled' | 'replica' | 'always' }; adopted?: boolean } };
  ObjectDeletedEvent: LoggedEvent & {
    type: 'object.deleted';
    data: { adopted?: boolean } };
  ObjectRenamedEvent: LoggedEvent & {
    type: 'object.renamed';
    data: { to: string; patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[] } };
  ObjectUpdate: { kind?: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type';
    /** Derived from the definition, unless that is a list of privileges. */ id?: string;
    /** One statement in SQL. For privileges, a list, or GRANT statements. */ definition?: string | (({ name: 'CREATE' | 'DELETE' | 'EXECUTE' | 'INSERT' | 'MAINTAIN' | 'REFERENCES' | 'SELECT' | 'TRIGGER' | 'TRUNCATE' | 'UPDATE' | 'USAGE'; columns?: (string)[]; grantable?: true })[]);
    comment?: string | null;
    /** Only for materialized views. */ indexes?: ({ name: string; unique?: true; definition: string })[];
    /** Only for triggers and rules: the sessions in which it fires, as in ALTER TABLE … ENABLE TRIGGER. */ enabled?: 'origin' | 'disabled' | 'replica' | 'always' };
  ObjectUpdatedEvent: LoggedEvent & {
    type: 'object.updated';
    data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; caused_by?: number; adopted?: boolean } };
  PastDocuments: { collections?: ({ collection: string; meta: Schemas['CollectionMeta']; schema: ({ name: string; schema?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null })[];
    fields?: (Schemas['Field'])[];
    relations?: (Schemas['Relation'])[] };
  Plan: { /** True if PostgreSQL accepted it. Null if it was not executed. */ accepted: boolean | null;
    errors?: ({ /** The problem, and how to solve it. */ message: string; extensions: { code: 'INVALID_PAYLOAD' | 'INVALID_QUERY' | 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'ROUTE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'NOT_ACCEPTABLE' | 'REQUEST_TIMEOUT' | 'ALREADY_EXISTS' | 'SCHEMA_CHANGED' | 'IN_USE' | 'INVALID_STATE' | 'PLAN_CHANGED' | 'IDEMPOTENCY_MISMATCH' | 'MERGE_CONFLICT' | 'PRECONDITION_FAILED' | 'CONTENT_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'EXPECTATION_FAILED' | 'DATABASE_REFUSED' | 'ONLINE_NOT_POSSIBLE' | 'POLICY_REFUSED' | 'TOO_MANY_REQUESTS' | 'HEADERS_TOO_LARGE' | 'INTERNAL' | 'DIVERGED' | 'LOCK_TIMEOUT' | 'LOG_DIVERGED' | 'LOG_UNREADABLE' | 'OVERLOADED' | 'READ_ONLY' | 'UNAVAILABLE'; /** Location in the request: `fields[2].type`. */ path?: string; collection?: string; field?: string; /** The subject of the problem, with its names. */ subject?: { [member: string]: unknown }; [member: string]: unknown } })[];
    events: (Schemas['PlannedEvent'])[];
    statements: ({ sql: string; summary: string; /** The strongest lock level, by its name in PostgreSQL. */ lock: string; loses_data: boolean; rewrites_table: boolean; may_fail: boolean; /** Index of its event. */ event: number; collection: string; field: string | null })[];
    warnings: (Schemas['Finding'])[];
    /** Existing tables that are locked. */ tables?: ({ table: string; /** The strongest lock level on the table, by its name in PostgreSQL. */ lock: string; /** Estimated from the PostgreSQL statistics. Null if not yet known. */ rows: number | null; /** From the same statistics, without indexes. */ bytes: number | null; /** The change deletes the table or values in it, and the table has no rows. */ empty?: true })[];
    /** For a restore: the constraints, indexes and privileges that `without` may name. */ optional?: (string)[];
    /** Steps that are executed first, while the tables stay in use. PostgreSQL has then executed nothing yet. */ online?: { /** Collections whose tables no other change can alter until it has ended. */ collections: (string)[]; steps: ({ kind: string; collection: string; field: string | null; summary: string; rows: number | null; bytes: number | null })[] };
    /** With `prove`, if PostgreSQL accepted the change. */ proof?: { /** Differences between the log and the database that did not exist before. */ differences: ({ where: 'metadata' | 'catalog' | 'trash' | 'changes' | 'accounts'; collection: string; field?: string; /** A view, function or other object. */ object?: { kind: string; id: string }; member: string; /** The value in the log. Null if the object does not exist there. */ expected: unknown; /** The value in the database. Null if the object does not exist there. */ found: unknown })[]; /** Properties that the log does not describe, and that the change altered. */ properties: ({ /** The type and the name of the object in PostgreSQL. */ object: string; property: string; /** Null if the object did not have the property. */ before: string | null; /** Null if the object no longer has the property. */ after: string | null })[] } };
  PlannedEvent: { type: 'collection.created' | 'collection.adopted' | 'collection.updated' | 'collection.deleted' | 'collection.renamed' | 'field.created' | 'field.updated' | 'field.deleted' | 'field.renamed' | 'relation.created' | 'relation.updated' | 'relation.deleted' | 'object.created' | 'object.updated' | 'object.renamed' | 'object.deleted' | 'log.acknowledged' | 'log.erased' | 'trash.purged' | 'change.opened' | 'change.updated' | 'change.commented' | 'change.approved' | 'change.rejected' | 'change.scheduled' | 'change.preparing' | 'change.prepared' | 'change.applied' | 'change.failed' | 'change.withdrawn' | 'policy.updated' | 'trust.updated' | 'account.created' | 'account.updated' | 'account.deleted' | 'token.created' | 'token.revoked' | 'identity.linked' | 'identity.unlinked' | 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.deleted' | 'environment.created' | 'environment.updated' | 'environment.deleted' | 'drift.found' | 'drift.resolved' | 'verification.failed' | 'verification.passed';
    version: number;
    collection: string | null;
    field: string | null;
    data: { [member: string]: unknown };
    subject?: { kind: string; id: string } };
  Policy: { /** By code of a finding. 66 codes allow all actions, the others off, note and warn. */ findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' };
    /** The first entry whose pattern matches and that has the code takes precedence over `findings`. */ collections: ({ /** A name pattern: `*` matches any characters. */ pattern: string; /** By code of a finding. 66 codes allow all actions, the others off, note and warn. */ findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' } })[];
    /** Tables with more rows require an online change if possible. Null for no limit. */ online_above_rows: number | null;
    /** Number of required approvals before a change request is applied. */ approvals: number;
    /** True if the author may approve. */ author_may_approve: boolean;
    /** True if every change needs a reason: X-Reason, or the reason of the change request. */ requires_reason: boolean;
    /** The requirement for changes to the policy: nothing, an acknowledgement (LOOSENS_POLICY) if it loosens the policy, or an approved change request. */ policy_changes: 'free' | 'acknowledge' | 'approve' };
  PolicySettings: { /** By code of a finding. 66 codes allow all actions, the others off, note and warn. */ findings?: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' };
    /** The first entry whose pattern matches and that has the code takes precedence over `findings`. */ collections?: ({ /** A name pattern: `*` matches any characters. */ pattern: string; /** By code of a finding. 66 codes allow all actions, the others off, note and warn. */ findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' } })[];
    /** Tables with more rows require an online change if possible. Null for no limit. */ online_above_rows?: number | null;
    /** Number of required approvals before a change request is applied. */ approvals?: number;
    /** True if the author may approve. */ author_may_approve?: boolean;
    /** True if every change needs a reason: X-Reason, or the reason of the change request. */ requires_reason?: boolean;
    /** The requirement for changes to the policy: nothing, an acknowledgement (LOOSENS_POLICY) if it loosens the policy, or an approved change request. */ policy_changes?: 'free' | 'acknowledge' | 'approve' };
  PolicyTest: { /** The strictest action that a finding requires. */ outcome: 'allowed' | 'acknowledge' | 'approve' | 'refuse';
    /** Number of required approvals, if any. */ approvals: number | null;
    findings: (Schemas['Finding'])[] };
  PolicyUpdatedEvent: LoggedEvent & {
    type: 'policy.updated';
    data: { policy: { findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' }; collections: ({ pattern: string; findings: { [member: string]: 'off' | 'note' | 'warn' | 'acknowledge' | 'approve' | 'refuse' } })[]; online_above_rows: number | null; approvals: number; author_may_approve: boolean; requires_reason?: boolean; policy_changes: 'free' | 'acknowledge' | 'approve' } } };
  Projection: { name: 'tables' | 'metadata' | 'trash' | 'change-requests' | 'indexes';
    kind: 'transactional' | 'after-commit';
    position: number;
    lag: number;
    status: 'running' | 'failed';
    last_error: ({ position: number; event: ({ type: string; occurred_at: string; actor: string | null }) | null; collection: string; field: string | null; sqlstate: string | null; message: string; attempts: number; /** The next step. */ next: string }) | null;
    updated_at: string | null;
    /** A rebuild that runs in this process. */ rebuilding: ({ since: string; /** Progress. Null if unknown. */ done: number | null }) | null };
  Rebuilt: { name: 'tables' | 'metadata' | 'trash' | 'change-requests' | 'indexes';
    position: number;
    collections?: number;
    fields?: number;
    relations?: number;
    changes?: number;
    entries?: number;
    replaced?: number;
    milliseconds?: number;
    locked_milliseconds?: number;
    made?: (string)[];
    left?: ({ statement: string; reason: string })[];
    differences?: ({ where: 'metadata' | 'catalog' | 'trash' | 'changes' | 'accounts'; collection: string; field?: string; /** A view, function or other object. */ object?: { kind: string; id: string }; member: string; /** The value in the log. Null if the object does not exist there. */ expected: unknown; /** The value in the database. Null if the object does not exist there. */ found: unknown })[];
    lag?: number };
  Relation: { id: number;
    many_collection: string;
    many_field: string;
    one_collection: string | null;
    one_field: string | null;
    one_collection_field: string | null;
    one_allowed_collections: (string)[] | null;
    junction_field: string | null;
    sort_field: string | null;
    one_deselect_action: 'nullify' | 'delete';
    schema: Schemas['ForeignKey'] | null;
    collection: string;
    field: string;
    related_collection: string | null;
    meta: { id: number; many_collection: string; many_field: string; one_collection: string | null; one_field: string | null; one_collection_field: string | null; one_allowed_collections: (string)[] | null; junction_field: string | null; sort_field: string | null; one_deselect_action: 'nullify' | 'delete' } };
  RelationCreatedEvent: LoggedEvent & {
    type: 'relation.created';
    data: { relation: { many_collection: string; many_field: string; one_collection: string | null; one_field: string | null; one_collection_field: string | null; one_allowed_collections: (string)[] | null; junction_field: string | null; sort_field: string | null; one_deselect_action: 'nullify' | 'delete'; schema: ({ constraint_name: string; on_update: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; on_delete: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; deferrable?: 'INITIALLY IMMEDIATE' | 'INITIALLY DEFERRED' }) | null }; adopted?: boolean } };
  RelationDeletedEvent: LoggedEvent & {
    type: 'relation.deleted';
    data: { adopted?: boolean } };
  RelationInput: { id?: unknown;
    many_collection?: string;
    many_field?: string;
    one_collection?: string | null;
    one_field?: string | null;
    one_collection_field?: string | null;
    one_allowed_collections?: (string)[] | null;
    junction_field?: string | null;
    sort_field?: string | null;
    one_deselect_action?: 'nullify' | 'delete';
    collection?: string;
    field?: string;
    related_collection?: string | null;
    meta?: ({ id?: unknown; many_collection?: string; many_field?: string; one_collection?: string | null; one_field?: string | null; one_collection_field?: string | null; one_allowed_collections?: (string)[] | null; junction_field?: string | null; sort_field?: string | null; one_deselect_action?: 'nullify' | 'delete' }) | null;
    schema?: Schemas['ForeignKeyInput'] | null };
  RelationUpdatedEvent: LoggedEvent & {
    type: 'relation.updated';
    data: { patch: ({ op: 'add'; path: string; value: unknown } | { op: 'replace'; path: string; value: unknown } | { op: 'remove'; path: string })[]; adopted?: boolean } };
  Rename: { to: string };
  RestoreRequest: { /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[];
    /** A new name. */ as?: string;
    /** Names of objects that are not restored: foreign keys and ids of privileges. For a field, also its NOT NULL and unique constraints, its index and its checks. */ without?: (string)[] };
  Sample: { /** Values by field. Null if the table is locked or missing, or the database role cannot read all of its rows. */ rows: (({ [member: string]: string | null })[]) | null;
    /** Fields whose values are not shown. */ hidden: (string)[] };
  SchemaChanges: { collections: ({ collection: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number })[];
    fields: ({ collection: string; field: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number; backfill?: Schemas['Backfill'] })[];
    relations: ({ collection: string; field: string; diff: (Schemas['Change'])[]; related_collection?: string | null })[];
    /** Only with OBJECTS=on. Absent if no object differs. */ objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; diff: (Schemas['Change'])[] })[] };
  Session: { id: string;
    user: { id: string; name: string; email: string };
    created_at: string;
    /** When it was started or last refreshed. */ used_at: string;
    expires_at: string;
    /** The IPv4 address or IPv6 network from which it was started. */ network: string | null;
    /** The user agent that the client sent. */ user_agent: string | null };
  ShownCollectionMeta: { collection: string;
    icon: string | null;
    note: string | null;
    display_template: string | null;
    hidden: boolean;
    singleton: boolean;
    translations: (({ [member: string]: unknown })[] | { [member: string]: unknown }) | null;
    archive_field: string | null;
    archive_app_filter: boolean;
    archive_value: string | null;
    unarchive_value: string | null;
    sort_field: string | null;
    accountability: ('all' | 'activity') | null;
    color: string | null;
    item_duplication_fields: (unknown)[] | null;
    sort: number | null;
    group: string | null;
    collapse: 'open' | 'closed' | 'locked';
    preview_url: string | null;
    versioning: boolean;
    /** Only for tables of the service. */ system?: true };
  Snapshot: { version: 1;
    service: string;
    vendor: 'postgres';
    collections: ({ collection: string; meta: Schemas['CollectionMeta']; schema: ({ name: string; schema?: string; comment: string | null; extras?: { primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] } }) | null })[];
    fields: (Schemas['Field'])[];
    relations: ({ id: number; many_collection: string; many_field: string; one_collection: string | null; one_field: string | null; one_collection_field: string | null; one_allowed_collections: (string)[] | null; junction_field: string | null; sort_field: string | null; one_deselect_action: 'nullify' | 'delete'; schema: ({ constraint_name: string; on_update: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; on_delete: 'NO ACTION' | 'SET NULL' | 'SET DEFAULT' | 'CASCADE' | 'RESTRICT'; deferrable?: 'INITIALLY IMMEDIATE' | 'INITIALLY DEFERRED' }) | null })[];
    /** Only with OBJECTS=on. */ objects?: (Schemas['Object'])[] };
  SnapshotInput: { version: 1;
    service?: string;
    vendor?: string;
    collections?: ({ collection: string; /** The former name. The object is renamed and keeps its data. */ renamed_from?: string; meta?: Schemas['CollectionMetaInput'] | null; schema?: ({ name?: string; schema?: string | null; sql?: string; comment?: string | null; extras?: ({ primary_key?: { name: string; columns: (string)[]; definition?: string }; constraints?: ({ name: string; definition: string; references?: string })[]; indexes?: ({ name: string; definition: string; unique?: true })[]; partition_by?: string; partition_of?: { table: string; bound: string }; needs?: ({ kind: 'extension'; name: string } | ({ kind: 'collation'; schema?: string; name: string; provider: 'libc' | 'icu' | 'builtin'; locale?: string; lc_collate?: string; lc_ctype?: string; deterministic?: false; rules?: string }) | { kind: 'enum'; schema?: string; name: string; labels: (string)[] } | { kind: 'domain'; schema?: string; name: string; type: string; collation?: string; not_null?: true; default?: string; checks?: ({ name: string; definition: string })[] } | ({ kind: 'sequence'; schema?: string; name: string; owned_by?: string; type?: 'smallint' | 'integer' | 'bigint'; start?: string; increment?: string; min?: string; max?: string; cache?: string; cycle?: true }))[]; unmanaged?: ({ kind: 'constraint' | 'index' | 'default' | 'generated'; name: string })[] }) | null }) | null })[];
    fields?: ({ collection: string; field: string; type?: Schemas['FieldType']; meta?: Schemas['FieldMetaInput'] | null; schema?: Schemas['ColumnInput'] | null; /** The former name. The object is renamed and keeps its data. */ renamed_from?: string })[];
    relations?: (Schemas['RelationInput'])[];
    /** Only with OBJECTS=on. */ objects?: (Schemas['NewObject'])[] };
  Token: { id: string;
    name: string;
    created_at: string;
    expires_at: string | null;
    /** Null if the token may do everything that its user may do. */ scope: Schemas['TokenScope'] | null;
    /** The trust rule under which a pipeline exchanged its ID token for the token. Null for other credentials. */ rule: string | null };
  TokenCreatedEvent: LoggedEvent & {
    type: 'token.created';
    data: { token: string; issued_by: string | null; expires_at: string | null; scope?: { role: string; actions?: (string)[]; collections?: (string)[]; networks?: (string)[] }; rule?: string } };
  TokenRevokedEvent: LoggedEvent & {
    type: 'token.revoked';
    data: { token: string } };
  TokenScope: { /** The role of the user when the token was created. A later, higher role does not widen the token. */ role: 'admin' | 'auditor' | 'author' | 'reader';
    /** Default: all. */ actions?: ('read' | 'propose' | 'apply' | 'history' | 'operate')[];
    /** Names of collections, or patterns with `*`. Default: all. */ collections?: (string)[];
    /** Addresses and networks from which the token is accepted. Default: all. */ networks?: (string)[] };
  TrashEntry: { /** Position of the event that deleted it, which identifies it. */ position: number;
    kind: 'collection' | 'field';
    /** Its former name. */ collection: string;
    field: string | null;
    /** Stays the same when it is renamed, deleted or restored. */ identity: string;
    batch: string;
    deleted_at: string;
    /** It may be purged after that time. */ kept_until: string;
    /** Number of rows when it was deleted, as estimated by the PostgreSQL statistics. Null if there were none. */ rows: number | null;
    /** Size on disk when it was deleted. */ bytes: number | null;
    /** Publications that contained the table. The deletion removed it from them, and a restore does not add it again. */ publications: (string)[];
    /** Foreign keys of the table that were created outside the service. A restore does not recreate them. */ foreign_keys: ({ name: string; definition: string })[];
    /** Number of the shared PostgreSQL schema `<SERVICE_SCHEMA>_trash_s<number>` that contains the table. Null if it is in `<SERVICE_SCHEMA>_trash_<position>`. */ kept_in: number | null;
    deleted_by: Schemas['Actor'] | null };
  TrashPurgedEvent: LoggedEvent & {
    type: 'trash.purged';
    data: { position: number; expired?: boolean; kept_in?: number } };
  Trust: { rules: ({ /** Shown in the log. */ name: string; /** Compared exactly with the claim `iss`. */ issuer: string; /** A value of the claim `aud`. */ audience: string; /** Required values by claim, or patterns with `*`. `sub` is required. */ claims: { [member: string]: string }; scope: { /** The role of the user when the token was created. A later, higher role does not widen the token. */ role: 'admin' | 'auditor' | 'author' | 'reader'; /** Default: all. */ actions: ('read' | 'propose' | 'apply' | 'history' | 'operate')[]; /** Names of collections, or patterns with `*`. Default: all. */ collections?: (string)[]; /** Addresses and networks from which the token is accepted. Default: all. */ networks?: (string)[] }; user: string; /** The user who set it. */ set_by: string; minutes: number })[] };
  TrustSettings: { /** The first rule that accepts an ID token determines the scope. */ rules: ({ /** Shown in the log. */ name: string; /** Compared exactly with the claim `iss`. */ issuer: string; /** A value of the claim `aud`. */ audience: string; /** Required values by claim, or patterns with `*`. `sub` is required. */ claims: { [member: string]: string }; scope: { /** The role of the user when the token was created. A later, higher role does not widen the token. */ role: 'admin' | 'auditor' | 'author' | 'reader'; /** Default: all. */ actions: ('read' | 'propose' | 'apply' | 'history' | 'operate')[]; /** Names of collections, or patterns with `*`. Default: all. */ collections?: (string)[]; /** Addresses and networks from which the token is accepted. Default: all. */ networks?: (string)[] }; /** Id of the user whose API tokens it issues. Default: you. */ user?: string; /** Ignored. The member is accepted so that you can send back the rules that you read. */ set_by?: string; /** Lifetime of its API tokens. */ minutes?: number })[] };
  TrustUpdatedEvent: LoggedEvent & {
    type: 'trust.updated';
    data: { rules: ({ name: string; user: string; set_by: string; issuer: string; audience: string; claims: { [member: string]: string }; scope: { role: string; actions?: (string)[]; collections?: (string)[]; networks?: (string)[] }; minutes: number })[] } };
  User: { id: string;
    email: string;
    name: string;
    role: 'admin' | 'auditor' | 'author' | 'reader';
    status: 'active' | 'suspended';
    created_at: string;
    /** When the invitation expires. Null if the user was not invited, or has chosen a password. */ invitation_expires_at: string | null };
  Verification: { ok: boolean;
    position: number;
    differences: ({ where: 'metadata' | 'catalog' | 'trash' | 'changes' | 'accounts'; collection: string; field?: string; /** A view, function or other object. */ object?: { kind: string; id: string }; member: string; /** The value in the log. Null if the object does not exist there. */ expected: unknown; /** The value in the database. Null if the object does not exist there. */ found: unknown })[] };
  VerificationFailedEvent: LoggedEvent & {
    type: 'verification.failed';
    data: { faults: { [member: string]: number } } };
  VerificationPassedEvent: LoggedEvent & {
    type: 'verification.passed';
    data: Record<string, never> };
  Webhook: { id: string;
    name: string;
    /** The address of the receiver. */ url: string;
    format: 'cloudevents' | 'slack' | 'teams';
    /** Patterns of event types. */ types: (string)[];
    /** Patterns of collection names. Null if events are not filtered by collection. */ collections: (string)[] | null;
    /** `failing`: enabled, and the last attempt failed. */ state: 'enabled' | 'failing' | 'disabled';
    /** `requested`, `gone` (410), `failing` (for three days), `restored` or `copied` (the database). */ disabled_because: string | null;
    /** The last position that was delivered or that the filter does not match. Null if never enabled. */ position: number | null;
    /** Number of later events in the log. */ behind: number;
    /** Failed attempts since the last delivery. */ failures: number;
    failing_since: string | null;
    next_attempt_at: string | null;
    last_error: string | null;
    /** Until then, requests are also signed with the former secret. */ old_secret_until: string | null;
    created_at: string };
  WebhookCreatedEvent: LoggedEvent & {
    type: 'webhook.created';
    data: { name: string; origin: string; format: string; types: (string)[]; collections: (string)[] | null } };
  WebhookDeletedEvent: LoggedEvent & {
    type: 'webhook.deleted';
    data: Record<string, never> };
  WebhookDelivery: { /** `webhook-id` of the request: the id of the event. */ message: string;
    type: string;
    /** The position of the event. Null for a test. */ position: number | null;
    attempted_at: string;
    milliseconds: number;
    /** The status of the response. Null if there was no response. */ status: number | null;
    /** The reason why the attempt failed. Null if it succeeded. */ error: string | null };
  WebhookDisabledEvent: LoggedEvent & {
    type: 'webhook.disabled';
    data: { because: string } };
  WebhookEnabledEvent: LoggedEvent & {
    type: 'webhook.enabled';
    data: Record<string, never> };
  WebhookUpdatedEvent: LoggedEvent & {
    type: 'webhook.updated';
    data: { name?: string; origin?: string; format?: string; types?: (string)[]; collections?: (string)[] | null; secret?: 'rotated'; replayed_from?: number } };
  WebhookWithSecret: { id: string;
    name: string;
    /** The address of the receiver. */ url: string;
    format: 'cloudevents' | 'slack' | 'teams';
    /** Patterns of event types. */ types: (string)[];
    /** Patterns of collection names. Null if events are not filtered by collection. */ collections: (string)[] | null;
    /** `failing`: enabled, and the last attempt failed. */ state: 'enabled' | 'failing' | 'disabled';
    /** `requested`, `gone` (410), `failing` (for three days), `restored` or `copied` (the database). */ disabled_because: string | null;
    /** The last position that was delivered or that the filter does not match. Null if never enabled. */ position: number | null;
    /** Number of later events in the log. */ behind: number;
    /** Failed attempts since the last delivery. */ failures: number;
    failing_since: string | null;
    next_attempt_at: string | null;
    last_error: string | null;
    /** Until then, requests are also signed with the former secret. */ old_secret_until: string | null;
    created_at: string;
    /** Returned only once. */ secret: string };
}

/** An event of GET /history/stream. */
export type StreamMessage = { event: 'message'; id: string; data: Schemas['Event'] }
  | { event: 'diverged'; id: string; data: unknown };

/** Headers of requests. */
export interface RequestHeaders {
  /** The position that the response must reflect, optionally with the hash of its event (`42-3f9a…`). The service waits for it. 503 if that takes too long, 409 `DIVERGED` if the log has another event there. */ 'X-Log-Position-At-Least'?: string;
  /** A repeated request from the same user within 24 hours gets the first response and is not executed again. */ 'Idempotency-Key'?: string;
  /** The hash that the schema must have (for the policy: the ETag of GET /policy). 412 if it has changed. */ 'If-Match'?: string;
  /** Acknowledged findings, if the policy requires acknowledgements: `LOSES_DATA:articles.title`, separated by commas. In a name, write `%2E` for a dot, `%2C` for a comma, `%25` for a percent sign. The events record them. 400 if there is no such finding. */ 'X-Acknowledge'?: string;
  /** The reason for the change. The events record it. */ 'X-Reason'?: string;
}

/** The defaults of the members of an operation. */
interface Plain {
  params: object;
  query: object;
  headers: object;
  body: never;
  planned: never;
  online: never;
}

type Operation<T> = Omit<Plain, keyof T> & T;

/** Parameters, bodies and responses of every operation. */
export interface Operations {
  /** List collections. */ listCollections: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Collection'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve a collection. */ getCollection: Operation<{
    params: { /** The name of a collection. */ id: string };
    query: { /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined; id?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Collection'] } };
  }>;
  /** Retrieve what PostgreSQL knows about its table: rows, bytes, indexes, constraints, dependents. */ getTable: Operation<{
    params: { /** The name of a collection. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['DatabaseTable'] } };
  }>;
  /** Retrieve 20 rows of its table, with the values as text. */ getSample: Operation<{
    params: { /** The name of a collection. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Sample'] } };
  }>;
  /** Update several collections. */ updateCollections: Operation<{
    query: { /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: (Schemas['NamedCollectionUpdate'])[];
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Collection'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Create one or several collections. */ createCollections: Operation<{
    query: { /** Builds indexes after the commit. */ concurrentIndexCreation?: boolean | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['NewCollection'] | (Schemas['NewCollection'])[];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Collection'] | (Schemas['Collection'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Update the metadata of a collection. */ updateCollection: Operation<{
    params: { /** The name of a collection. */ id: string };
    query: { /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined; id?: string | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['CollectionUpdate'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Collection'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Rename a collection, or move its table. It keeps its items, fields and relations. */ renameCollection: Operation<{
    params: { /** The name of a collection. */ id: string };
    query: { /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'meta' | 'schema')[] | undefined; id?: string | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['CollectionRename'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Collection']; warnings?: (Schemas['Finding'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Delete a collection with its items, fields and relations. */ deleteCollection: Operation<{
    params: { /** The name of a collection. */ id: string };
    query: { id?: string | undefined; /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** List fields. */ listFields: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Field'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** List the fields of a collection. */ listFieldsOfCollection: Operation<{
    params: { /** The name of a collection. */ collection: string };
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Field'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve a field. */ getField: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Field'] } };
  }>;
  /** Create a field. */ createField: Operation<{
    params: { /** The name of a collection. */ collection: string };
    query: { /** Builds indexes after the commit. */ concurrentIndexCreation?: boolean | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['AddedField'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Field'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Update several fields. */ updateFields: Operation<{
    params: { /** The name of a collection. */ collection: string };
    query: { /** Builds indexes after the commit. */ concurrentIndexCreation?: boolean | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: (Schemas['NamedFieldUpdate'])[];
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Field'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Update a field. */ updateField: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** Builds indexes after the commit. */ concurrentIndexCreation?: boolean | undefined; /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['FieldUpdate'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Field'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Rename a field. It keeps its values. */ renameField: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('collection' | 'field' | 'type' | 'meta' | 'schema')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['Rename'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Field']; warnings?: (Schemas['Finding'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Delete a field with its column. */ deleteField: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** List relations. */ listRelations: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('id' | 'many_collection' | 'many_field' | 'one_collection' | 'one_field' | 'one_collection_field' | 'one_allowed_collections' | 'junction_field' | 'sort_field' | 'one_deselect_action' | 'schema' | 'collection' | 'field' | 'related_collection' | 'meta')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Relation'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** List the relations of a collection. */ listRelationsOfCollection: Operation<{
    params: { /** The name of a collection. */ collection: string };
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('id' | 'many_collection' | 'many_field' | 'one_collection' | 'one_field' | 'one_collection_field' | 'one_allowed_collections' | 'junction_field' | 'sort_field' | 'one_deselect_action' | 'schema' | 'collection' | 'field' | 'related_collection' | 'meta')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Relation'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve a relation. */ getRelation: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'many_collection' | 'many_field' | 'one_collection' | 'one_field' | 'one_collection_field' | 'one_allowed_collections' | 'junction_field' | 'sort_field' | 'one_deselect_action' | 'schema' | 'collection' | 'field' | 'related_collection' | 'meta')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Relation'] } };
  }>;
  /** Create a relation. */ createRelation: Operation<{
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'many_collection' | 'many_field' | 'one_collection' | 'one_field' | 'one_collection_field' | 'one_allowed_collections' | 'junction_field' | 'sort_field' | 'one_deselect_action' | 'schema' | 'collection' | 'field' | 'related_collection' | 'meta')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['RelationInput'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Relation'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Update a relation. */ updateRelation: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'many_collection' | 'many_field' | 'one_collection' | 'one_field' | 'one_collection_field' | 'one_allowed_collections' | 'junction_field' | 'sort_field' | 'one_deselect_action' | 'schema' | 'collection' | 'field' | 'related_collection' | 'meta')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['RelationInput'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Relation'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Delete a relation. */ deleteRelation: Operation<{
    params: { /** The name of a collection. */ collection: string; /** The name of a field. */ field: string };
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** List objects. */ listObjects: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('kind' | 'id' | 'definition' | 'comment' | 'indexes' | 'enabled')[] | undefined; /** Only objects of this kind. */ kind?: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type' | undefined; /** Only objects with this name. Functions with different argument types can share a name. */ name?: string | undefined; /** Only objects of this PostgreSQL schema. */ schema?: string | undefined; /** Only objects that use this collection. */ collection?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Object'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve an object. */ getObject: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('kind' | 'id' | 'definition' | 'comment' | 'indexes' | 'enabled')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Object'] } };
  }>;
  /** List what depends on an object in PostgreSQL: views, functions, columns, triggers. */ listDependents: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Dependent'])[] } };
  }>;
  /** Create an object. */ createObject: Operation<{
    query: { /** The top-level members to return. `*`: all. */ fields?: ('kind' | 'id' | 'definition' | 'comment' | 'indexes' | 'enabled')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['NewObject'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Object'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Update an object. */ updateObject: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('kind' | 'id' | 'definition' | 'comment' | 'indexes' | 'enabled')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['ObjectUpdate'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Object'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Rename an object. */ renameObject: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('kind' | 'id' | 'definition' | 'comment' | 'indexes' | 'enabled')[] | undefined; /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['Rename'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Object'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Delete an object. */ deleteObject: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Retrieve the schema as a snapshot. */ getSnapshot: Operation<{
    query: { /** Sends it as a file. */ export?: 'csv' | 'csv_utf8' | 'json' | 'xml' | 'yaml' | undefined; /** A comma-separated list of names. Enclose a name that contains a comma in double quotes, as in CSV. */ includeCollections?: (string)[] | undefined; /** A comma-separated list of names. Enclose a name that contains a comma in double quotes, as in CSV. */ excludeCollections?: (string)[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: Schemas['Snapshot'] | string };
  }>;
  /** Compute the diff from the schema to a snapshot. */ diffSnapshot: Operation<{
    query: { /** Accepts documents from other releases, vendors and services. */ force?: boolean | undefined; /** `mirror`: objects that are missing from the snapshot are deleted. `merge`: nothing is deleted. */ mode?: 'mirror' | 'merge' | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: Schemas['SnapshotInput'] | { data: Schemas['SnapshotInput'] };
    answer: { status: 200; headers: Headers; body: Schemas['Diff'] };
  }>;
  /** Apply a diff, as a whole or not at all. */ applyDiff: Operation<{
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined; /** Executes slow steps first, while the tables stay in use. Returns 202 and a change request. A change that does not benefit from this is applied directly. */ online?: boolean | undefined; /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean | undefined; /** Rejects the change with 409 if it deletes rows or values of a table that is not empty. */ lossless?: boolean | undefined; /** Executes the change, reports effects that the plan does not contain as `proof`, and rolls everything back. */ prove?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: ({ hash: string; diff: { collections?: ({ collection: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number })[]; fields?: ({ collection: string; field: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number; backfill?: Schemas['Backfill'] })[]; relations?: ({ collection: string; field: string; diff: (Schemas['Change'])[]; related_collection?: string | null })[]; /** Only with OBJECTS=on. Absent if no object differs. */ objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; diff: (Schemas['Change'])[] })[] }; warnings?: unknown; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] }) | ({ data: { hash: string; diff: { collections?: ({ collection: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number })[]; fields?: ({ collection: string; field: string; diff: (Schemas['Change'])[]; /** The identity of an object that existed before. */ identity?: string; /** The position of its deletion. The object is restored from the trash. */ restores?: number; backfill?: Schemas['Backfill'] })[]; relations?: ({ collection: string; field: string; diff: (Schemas['Change'])[]; related_collection?: string | null })[]; /** Only with OBJECTS=on. Absent if no object differs. */ objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string; diff: (Schemas['Change'])[] })[] }; warnings?: unknown; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] } });
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Compute the changes in a snapshot since its base, as a diff from the current schema. */ mergeSnapshot: Operation<{
    query: { /** Accepts documents from other releases, vendors and services. */ force?: boolean | undefined; /** `mirror`: objects that are missing from the snapshot are deleted. `merge`: nothing is deleted. */ mode?: 'mirror' | 'merge' | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: Schemas['Merge'] | { data: Schemas['Merge'] };
    answer: { status: 200; headers: Headers; body: Schemas['Diff'] };
  }>;
  /** Generate type definitions for the schema. */ getTypes: Operation<{
    query: { /** `ts`: the schema type of `@directus/sdk`. `zod`: Zod schemas. `json-schema`: JSON Schema 2020-12. */ lang?: 'ts' | 'zod' | 'json-schema' | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ at?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: string };
  }>;
  /** List change requests, newest first. */ listChanges: Operation<{
    query: { state?: 'open' | 'approved' | 'rejected' | 'scheduled' | 'queued' | 'preparing' | 'prepared' | 'applied' | 'failed' | 'withdrawn' | undefined; /** Only requests that change this collection. */ collection?: string | undefined; /** Only requests of this user, by id. */ author?: string | undefined; /** Only requests that wait for an approval of the current user. */ to_approve?: boolean | undefined; /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['ChangeSummary'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve a change request with its plan, comments, progress and result. */ getChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Withdraw a change request and remove its prepared objects. */ withdrawChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Open a change request with a diff, a snapshot of the intended schema, or a policy. */ openChange: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: { title: string; reason?: string | null; /** A diff with its hash, as returned by /schema/diff. */ diff?: unknown; /** Instead of a diff: the intended schema. */ snapshot?: unknown; /** Instead of a diff: the new policy, as for PUT /policy. Admins only. */ policy?: unknown; /** The point in time that the snapshot is based on. Later changes by others are kept. */ base?: unknown; /** For a snapshot. */ mode?: 'mirror' | 'merge'; /** For a snapshot: accept another release, vendor or service. */ force?: boolean; /** Executes slow steps first, while the tables stay in use. */ online?: boolean; /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean; acknowledge?: ({ code: string; place: string })[] };
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } } | { status: 201; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Update the title, reason or content of a change request. */ updateChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: { title?: string; reason?: string | null; /** A diff with its hash, as returned by /schema/diff. */ diff?: unknown; /** Instead of a diff: the intended schema. */ snapshot?: unknown; /** Instead of a diff: the new policy, as for PUT /policy. Admins only. */ policy?: unknown; /** The point in time that the snapshot is based on. Later changes by others are kept. */ base?: unknown; /** For a snapshot. */ mode?: 'mirror' | 'merge'; /** For a snapshot: accept another release, vendor or service. */ force?: boolean; /** Executes slow steps first, while the tables stay in use. */ online?: boolean; /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean; acknowledge?: ({ code: string; place: string })[] };
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Comment on a change request, or on one of its changes. */ commentChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { comment: string; /** The change that the comment is about, by its names in the diff. Default: the whole request. */ place?: { part: 'collections'; collection: string } | ({ part: 'fields' | 'relations'; collection: string; field: string }) | ({ part: 'objects'; kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string }) };
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Approve exactly the reviewed plan. */ approveChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { /** The reviewed plan: the value of `plan` in the request. */ plan: string; /** The reviewed findings: the value of `planned.view` in the request. Default: the current findings. */ view?: string; comment?: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Reject a change request and revoke its approvals. */ rejectChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { comment?: string } | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Execute the slow steps of a change request without applying it. */ prepareChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } } | { status: 202; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Apply a change request, now or at a given time. An online change is prepared first. */ applyChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { /** When to apply it, by the clock of the database. Default: now. */ at?: string } | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } } | { status: 202; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
  }>;
  /** Rebase a change request onto the current schema. */ rebaseChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { /** Resolutions of conflicts: a list of `{ place, take }`, with `take` ours or theirs. */ resolve?: unknown } | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeActedOn'] } };
  }>;
  /** Open a change request that reverts an applied one. */ revertChange: Operation<{
    params: { /** The id of a change request. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: { title?: string; reason?: string | null; /** Executes slow steps first, while the tables stay in use. */ online?: boolean; /** Drops deleted objects immediately instead of moving them to the trash. */ purge?: boolean; /** Resolutions of conflicts: a list of `{ place, take }`, with `take` ours or theirs. */ resolve?: unknown } | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['ChangeReverting'] } } | { status: 201; headers: Headers; body: { data: Schemas['ChangeReverting'] } };
  }>;
  /** Retrieve the policy, now or at a point in time. */ getPolicy: Operation<{
    query: { /** A point in time. Default: now. */ at?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Policy']; meta: { /** Position of the event that set it. 0 for the default policy. */ position: number; updated_at: string | null; /** All codes that a policy may contain. `shown_only`: off, note or warn. */ codes: ({ code: string; title: string; level: 'note' | 'warn' | 'danger'; shown_only: boolean })[] } } };
  }>;
  /** Replace the policy. Omitted members get their default. */ setPolicy: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['PolicySettings'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Policy'] } };
  }>;
  /** Evaluate a change against the current policy or a given one, without executing it. */ testPolicy: Operation<{
    query: { /** Accepts documents from other releases, vendors and services. */ force?: boolean | undefined; /** `mirror`: objects that are missing from the snapshot are deleted. `merge`: nothing is deleted. */ mode?: 'mirror' | 'merge' | undefined; /** Evaluate an online change. */ online?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: { /** With its hash, as returned by /schema/diff. */ diff?: { [member: string]: unknown }; /** Instead of a diff. */ snapshot?: { [member: string]: unknown }; /** A policy to test instead of the current one. */ policy?: Schemas['PolicySettings']; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] };
    answer: { status: 200; headers: Headers; body: { data: Schemas['PolicyTest'] } };
    online: { status: 202; headers: Headers; body: { data: Schemas['ChangeRequest'] } };
  }>;
  /** Adopt existing tables without changing them. */ adoptTables: Operation<{
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: ({ tables: (string)[]; objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[]; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] }) | ({ objects: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[]; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] }) | { all: true; /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[] };
    answer: { status: 200; headers: Headers; body: Schemas['Adoption'] };
    planned: { status: 200; headers: Headers; body: Schemas['Adoption'] };
  }>;
  /** List drift between the database and the log, and how to resolve it. */ getDrift: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: Schemas['Drift'] };
  }>;
  /** Accept drift: append events so that the log matches the database. */ acceptDrift: Operation<{
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: { /** Like X-Acknowledge, in the body. */ acknowledge?: ({ code: string; place: string })[]; collections?: (string)[]; fields?: ({ collection: string; field: string })[]; objects?: ({ kind: 'view' | 'materialized_view' | 'function' | 'procedure' | 'aggregate' | 'trigger' | 'policy' | 'row_security' | 'statistics' | 'rule' | 'privileges' | 'table_options' | 'sequence' | 'type'; id: string })[] };
    answer: { status: 200; headers: Headers; body: Schemas['Acceptance'] };
    planned: { status: 200; headers: Headers; body: Schemas['Acceptance'] };
  }>;
  /** List deleted objects that can be restored, newest first. */ listTrash: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['TrashEntry'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Retrieve a deleted object from the trash. */ getTrash: Operation<{
    params: { /** A position of the log. */ position: string | number };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['TrashEntry'] } };
  }>;
  /** Restore a deleted object with its rows. */ restoreTrash: Operation<{
    params: { /** A position of the log. */ position: string | number };
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    body: Schemas['RestoreRequest'] | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Collection'] | Schemas['Field']; warnings?: (Schemas['Finding'])[] } };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
  }>;
  /** Purge a deleted object permanently. */ purgeTrash: Operation<{
    params: { /** A position of the log. */ position: string | number };
    query: { /** Executes the change, rolls it back and returns the plan. */ dry_run?: boolean | undefined; /** Returns the plan without executing anything. No table is locked or read, and PostgreSQL does not check the statements. */ explain?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Acknowledge' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
    planned: { status: 200; headers: Headers; body: Schemas['Plan'] };
  }>;
  /** Log in with a password. */ login: Operation<{
    body: { email: string; password: string; mode?: 'json' | 'cookie' };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Grant'] } };
  }>;
  /** Refresh a session. */ refresh: Operation<{
    body: { refresh_token?: string; mode?: 'json' | 'cookie' };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Grant'] } };
  }>;
  /** Log out. */ logout: Operation<{
    body: { refresh_token?: string; mode?: 'json' | 'cookie' };
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** List the ways to log in. */ listProviders: Operation<{
    answer: { status: 200; headers: Headers; body: { data: { /** Users can log in with a password. */ password: boolean; oidc: ({ label: string; /** The e-mail address of the account to link in this browser. */ linking: string | null }) | null } } };
  }>;
  /** Sign in with the OpenID provider. Redirects the browser to it. */ startSignIn: Operation<{
    query: { /** The page of the app to return to. */ to?: string | undefined; /** For command lines: a loopback port. */ port?: number | undefined; /** For command lines: the SHA-256 of a secret that only the command line knows. */ challenge?: string | undefined };
    answer: { status: 302; headers: Headers; body: undefined };
  }>;
  /** Handle the redirect from the OpenID provider. Redirects the browser to the app or the command line. */ finishSignIn: Operation<{
    query: { /** From the provider. */ code?: string | undefined; /** From the provider. */ state?: string | undefined; /** From the provider. */ error?: string | undefined };
    answer: { status: 302; headers: Headers; body: undefined };
  }>;
  /** Exchange a sign-in from a command line for a session. */ exchangeSignIn: Operation<{
    body: { code: string; verifier: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Grant'] } };
  }>;
  /** End sessions that have ended at the OpenID provider. The provider sends this request. */ backChannelLogout: Operation<{
    body: { logout_token: string; [member: string]: unknown };
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** Link the identity of this browser to an account, and log in. */ linkIdentity: Operation<{
    body: { email: string; password: string; mode?: 'json' | 'cookie' };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Grant'] } };
  }>;
  /** List the OpenID provider identities that can sign in as a user. */ listIdentities: Operation<{
    params: { /** The id of a user. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Identity'])[] } };
  }>;
  /** Unlink an identity and end its sessions. */ unlinkIdentity: Operation<{
    params: { /** The id of a user. */ id: string; /** The name of a collection. */ identity: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** Start a sign-in that the user confirms on another device. For command lines. */ startDeviceSignIn: Operation<{
    answer: { status: 200; headers: Headers; body: { data: { /** Identifies the sign-in. Only the command line knows it. */ device: string; /** Seconds to wait before the next request. */ interval: number; /** The code that the user enters. */ user_code: string; /** The page where the user enters the code. */ verification_uri: string; /** The same page with the code. */ verification_uri_complete: string | null; /** Seconds until the code expires. */ expires_in: number } } };
  }>;
  /** Exchange a confirmed sign-in on another device for a session. */ finishDeviceSignIn: Operation<{
    body: { device: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Grant'] } } | { status: 202; headers: Headers; body: { data: { /** Identifies the sign-in. Only the command line knows it. */ device: string; /** Seconds to wait before the next request. */ interval: number } } };
  }>;
  /** Retrieve the trust rules, now or at a point in time. */ getTrust: Operation<{
    query: { /** A point in time. Default: now. */ at?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Trust']; meta: { /** Position of the event that set the rules. 0 if no event did. */ position: number; updated_at: string | null } } };
  }>;
  /** Replace the trust rules. Tokens of removed and changed rules stop working immediately. */ setTrust: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'Idempotency-Key' | 'If-Match' | 'X-Reason'>;
    body: Schemas['TrustSettings'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Trust'] } };
  }>;
  /** Exchange the ID token of a pipeline for an API token, under a trust rule. */ exchangeToken: Operation<{
    body: { /** The ID token of the pipeline. */ token: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['NewToken'] } };
  }>;
  /** List users. */ listUsers: Operation<{
    query: { /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined; /** The top-level members to return. `*`: all. */ fields?: ('id' | 'email' | 'name' | 'role' | 'status' | 'created_at' | 'invitation_expires_at')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['User'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** Create a user. */ createUser: Operation<{
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'email' | 'name' | 'role' | 'status' | 'created_at' | 'invitation_expires_at')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { email: string; name?: string; password?: string | null; /** The password belongs to an invitation: logins with it are rejected after 7 days, unless the user has chosen another password. Default: false. */ invitation?: boolean; role: 'admin' | 'auditor' | 'author' | 'reader'; status?: 'active' | 'suspended' };
    answer: { status: 200; headers: Headers; body: { data: Schemas['User'] } };
  }>;
  /** Retrieve the current user. */ getMe: Operation<{
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'email' | 'name' | 'role' | 'status' | 'created_at' | 'invitation_expires_at' | 'access')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['CurrentUser'] } };
  }>;
  /** Change your own password. */ changeOwnPassword: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { /** The new password. */ password: string; /** Protects the account if someone else briefly uses the session. */ current_password: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['User'] } };
  }>;
  /** List your arrangements of the diagram in the admin app. */ listDiagrams: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Diagram'])[] } };
  }>;
  /** Save your arrangement of one view of the diagram. Without places, the view is arranged automatically. */ saveDiagram: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: Schemas['Diagram'];
    answer: { status: 200; headers: Headers; body: { data: Schemas['Diagram'] } };
  }>;
  /** Retrieve a user. */ getUser: Operation<{
    params: { /** The id of a user. */ id: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'email' | 'name' | 'role' | 'status' | 'created_at' | 'invitation_expires_at')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['User'] } };
  }>;
  /** Update a user. */ updateUser: Operation<{
    params: { /** The id of a user. */ id: string };
    query: { /** The top-level members to return. `*`: all. */ fields?: ('id' | 'email' | 'name' | 'role' | 'status' | 'created_at' | 'invitation_expires_at')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { email?: string; name?: string; password?: string | null; /** The password belongs to an invitation: logins with it are rejected after 7 days, unless the user has chosen another password. Default: false. */ invitation?: boolean; role?: 'admin' | 'auditor' | 'author' | 'reader'; status?: 'active' | 'suspended' };
    answer: { status: 200; headers: Headers; body: { data: Schemas['User'] } };
  }>;
  /** Delete a user with its API tokens and sessions, and optionally erase its personal data from the log. */ deleteUser: Operation<{
    params: { /** The id of a user. */ id: string };
    query: { /** Also erases the personal data of the user from the log. This cannot be undone. */ erase?: boolean | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Erasure'] } } | { status: 204; headers: Headers; body: undefined };
  }>;
  /** List the API tokens of a user. */ listTokens: Operation<{
    params: { /** The id of a user. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Token'])[] } };
  }>;
  /** Create an API token. Only this response contains it. */ createToken: Operation<{
    params: { /** The id of a user. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { name?: string; expires_at?: string | null; /** Limits the token. Default: it may do everything that its user may do. */ scope?: Schemas['NewTokenScope'] | null };
    answer: { status: 200; headers: Headers; body: { data: Schemas['NewToken'] } };
  }>;
  /** Revoke an API token. */ revokeToken: Operation<{
    params: { /** The id of a user. */ id: string; /** The id of a token. */ token: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** List active sessions, most recently used first. */ listSessions: Operation<{
    query: { /** Only sessions of this user, by id. */ user?: string | undefined; /** Number of items to skip. */ offset?: number | undefined; /** Maximum number of items. */ limit?: number | undefined; /** Counts in the response: `total_count`, `filter_count`, both, or `*`. */ meta?: ('total_count' | 'filter_count')[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Session'])[]; meta?: { total_count?: number; filter_count?: number } } };
  }>;
  /** End a session and revoke its access tokens. */ endSession: Operation<{
    params: { /** The id of a session. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** End all sessions of a user. API tokens stay valid. */ endSessions: Operation<{
    params: { /** The id of a user. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: { ended: number } } };
  }>;
  /** List webhooks. */ listWebhooks: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Webhook'])[] } };
  }>;
  /** Retrieve a webhook. */ getWebhook: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Webhook'] } };
  }>;
  /** List the last 100 attempts of a webhook, newest first. */ listWebhookDeliveries: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['WebhookDelivery'])[] } };
  }>;
  /** Create a webhook. Only this response contains its secret. */ createWebhook: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { name: string; /** Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS. */ url: string; format?: 'cloudevents' | 'slack' | 'teams'; /** Event types, or patterns with `*`. */ types?: (string)[]; /** Names of collections, or patterns with `*`. */ collections?: (string)[] | null };
    answer: { status: 200; headers: Headers; body: { data: Schemas['WebhookWithSecret'] } };
  }>;
  /** Update, enable or disable a webhook. */ updateWebhook: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { name?: string; /** Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS. */ url?: string; format?: 'cloudevents' | 'slack' | 'teams'; /** Event types, or patterns with `*`. */ types?: (string)[]; /** Names of collections, or patterns with `*`. */ collections?: (string)[] | null; enabled?: boolean };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Webhook'] } };
  }>;
  /** Delete a webhook with its deliveries. */ deleteWebhook: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** Replace the secret of a webhook. Only this response contains the new one. */ rotateWebhookSecret: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { /** Hours during which requests are also signed with the former secret. */ overlap_hours?: number } | undefined;
    answer: { status: 200; headers: Headers; body: { data: Schemas['WebhookWithSecret'] } };
  }>;
  /** Deliver events again from a position. */ replayWebhook: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { /** The first position to deliver. */ position: number };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Webhook'] } };
  }>;
  /** Send a test message to a webhook, and return the result. */ testWebhook: Operation<{
    params: { /** The id of a webhook. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['WebhookDelivery'] } };
  }>;
  /** List environments with their last comparison, and start those that are due. */ listEnvironments: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Environment'])[] } };
  }>;
  /** Retrieve an environment. */ getEnvironment: Operation<{
    params: { /** The id of an environment. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Environment'] } };
  }>;
  /** Connect to an environment and compare the schemas now. */ testEnvironment: Operation<{
    params: { /** The id of an environment. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['EnvironmentComparison'] } };
  }>;
  /** Connect another instance of the service. */ createEnvironment: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { name: string; /** Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS. */ url: string; /** An API token of an admin or author of the other instance. No response contains it. */ token: string };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Environment'] } };
  }>;
  /** Update an environment. */ updateEnvironment: Operation<{
    params: { /** The id of an environment. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    body: { name?: string; /** Must use https. http is allowed only for networks in WEBHOOK_PRIVATE_NETWORKS. */ url?: string; /** An API token of an admin or author of the other instance. No response contains it. */ token?: string; /** A position of the log of this service at which both schemas were equal. Null if unknown. */ base?: number | null };
    answer: { status: 200; headers: Headers; body: { data: Schemas['Environment'] } };
  }>;
  /** Delete an environment. The other instance does not change. */ deleteEnvironment: Operation<{
    params: { /** The id of an environment. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 204; headers: Headers; body: undefined };
  }>;
  /** Compute the changes in an environment since the last common schema, as a diff from the current schema. */ mergeEnvironment: Operation<{
    params: { /** The id of an environment. */ id: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: { /** Resolutions of the conflicts in an earlier response. */ resolve?: ({ place: Schemas['MergePlace']; take: 'ours' | 'theirs' })[] } | undefined;
    answer: { status: 200; headers: Headers; body: Schemas['Diff'] };
  }>;
  /** Exchange a Model Context Protocol message. For agents. */ callAgentTools: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    body: Schemas['McpMessage'];
    answer: { status: 200; headers: Headers; body: Schemas['McpMessage'] } | { status: 202; headers: Headers; body: undefined };
  }>;
  /** Check that the service responds. */ ping: Operation<{
    answer: { status: 200; headers: Headers; body: string };
  }>;
  /** Check that the process responds, even while it starts or its database is unavailable. For liveness probes. */ getLive: Operation<{
    answer: { status: 200; headers: Headers; body: { status: 'ok' } };
  }>;
  /** Check that the service is ready to serve requests, or reads on a standby. Responds with 503 if not. For readiness probes and load balancers. */ getReady: Operation<{
    answer: { status: 200; headers: Headers; body: Schemas['Health'] } | { status: 503; headers: Headers; body: Schemas['Health'] };
  }>;
  /** Same as /server/ready. */ getHealth: Operation<{
    answer: { status: 200; headers: Headers; body: Schemas['Health'] } | { status: 503; headers: Headers; body: Schemas['Health'] };
  }>;
  /** Run the checks of `dps doctor`: settings, privileges, the log and the projections. Each finding says how to fix it. */ examine: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Examination'] } };
  }>;
  /** Retrieve the version of the service and the state of the schema. */ getInfo: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Info'] } };
  }>;
  /** List the events in the log. */ listEvents: Operation<{
    query: { collection?: string | undefined; actor?: string | undefined; command?: string | undefined; subject?: string | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ since?: string | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ until?: string | undefined; after?: string | undefined; /** Maximum number of items. */ limit?: number | undefined; order?: 'asc' | 'desc' | undefined; field?: string | undefined; type?: 'collection.created' | 'collection.adopted' | 'collection.updated' | 'collection.deleted' | 'collection.renamed' | 'field.created' | 'field.updated' | 'field.deleted' | 'field.renamed' | 'relation.created' | 'relation.updated' | 'relation.deleted' | 'object.created' | 'object.updated' | 'object.renamed' | 'object.deleted' | 'log.acknowledged' | 'log.erased' | 'trash.purged' | 'change.opened' | 'change.updated' | 'change.commented' | 'change.approved' | 'change.rejected' | 'change.scheduled' | 'change.preparing' | 'change.prepared' | 'change.applied' | 'change.failed' | 'change.withdrawn' | 'policy.updated' | 'trust.updated' | 'account.created' | 'account.updated' | 'account.deleted' | 'token.created' | 'token.revoked' | 'identity.linked' | 'identity.unlinked' | 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.deleted' | 'environment.created' | 'environment.updated' | 'environment.deleted' | 'drift.found' | 'drift.resolved' | 'verification.failed' | 'verification.passed' | undefined; batch?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Event'])[]; meta: { next: number | null } } };
  }>;
  /** Retrieve an event. */ getEvent: Operation<{
    params: { /** A position of the log. */ position: string | number };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Event'] } };
  }>;
  /** List accepted commands. */ listBatches: Operation<{
    query: { collection?: string | undefined; actor?: string | undefined; command?: string | undefined; subject?: string | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ since?: string | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ until?: string | undefined; after?: string | undefined; /** Maximum number of items. */ limit?: number | undefined; order?: 'asc' | 'desc' | undefined; field?: string | undefined; type?: 'collection.created' | 'collection.adopted' | 'collection.updated' | 'collection.deleted' | 'collection.renamed' | 'field.created' | 'field.updated' | 'field.deleted' | 'field.renamed' | 'relation.created' | 'relation.updated' | 'relation.deleted' | 'object.created' | 'object.updated' | 'object.renamed' | 'object.deleted' | 'log.acknowledged' | 'log.erased' | 'trash.purged' | 'change.opened' | 'change.updated' | 'change.commented' | 'change.approved' | 'change.rejected' | 'change.scheduled' | 'change.preparing' | 'change.prepared' | 'change.applied' | 'change.failed' | 'change.withdrawn' | 'policy.updated' | 'trust.updated' | 'account.created' | 'account.updated' | 'account.deleted' | 'token.created' | 'token.revoked' | 'identity.linked' | 'identity.unlinked' | 'webhook.created' | 'webhook.updated' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.deleted' | 'environment.created' | 'environment.updated' | 'environment.deleted' | 'drift.found' | 'drift.resolved' | 'verification.failed' | 'verification.passed' | undefined; /** Text that a reason or a name contains. */ q?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Batch'])[]; meta: { next: number | null } } };
  }>;
  /** List accepted commands, each with the documents that it changed, before and after. */ listBatchChanges: Operation<{
    query: { after?: string | undefined; order?: 'asc' | 'desc' | undefined; /** Maximum number of batches. */ limit?: number | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['ChangedBatch'])[]; meta: { next: number | null } } };
  }>;
  /** Retrieve the history of a collection under all its names, even if it was deleted: its events with their changes. */ getCollectionHistory: Operation<{
    params: { /** The name of a collection. */ id: string };
    query: { after?: string | undefined; /** Maximum number of items. */ limit?: number | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['CollectionEvent'])[]; meta: { next: number | null; /** All collections or objects that ever had the name. */ lives: (Schemas['CollectionLife'])[] } } };
  }>;
  /** Retrieve the history of a view, a function or another object under all its names, even if it was deleted: its events with their changes. */ getObjectHistory: Operation<{
    params: { /** The name of a collection. */ kind: string; /** The name of a collection. */ id: string };
    query: { after?: string | undefined; /** Maximum number of items. */ limit?: number | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['CollectionEvent'])[]; meta: { next: number | null; /** All collections or objects that ever had the name. */ lives: (Schemas['CollectionLife'])[] } } };
  }>;
  /** Retrieve the schema at a point in time. */ getPastSnapshot: Operation<{
    query: { /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ at?: string | undefined; export?: 'csv' | 'csv_utf8' | 'json' | 'xml' | 'yaml' | 'sql' | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: Schemas['Snapshot'] | string };
  }>;
  /** Compute the changes between two points in time. If `from` is `now`, the response can be applied to go back. */ diffMoments: Operation<{
    query: { /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ from?: string | undefined; /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ to?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: Schemas['Diff'] };
  }>;
  /** Retrieve collections, fields and relations at a point in time. */ getPastDocuments: Operation<{
    query: { /** A position of the log, an ISO 8601 time with its time zone, a day, or `now`. */ at?: string | undefined; /** A comma-separated list of the documents to return: `collections`, `fields`, `relations`. */ parts?: ('collections' | 'fields' | 'relations')[] | undefined; /** A comma-separated list of names. Enclose a name that contains a comma in double quotes, as in CSV. */ collections?: (string)[] | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['PastDocuments']; meta: { position: number; occurred_at: string | null } } };
  }>;
  /** Verify the hash chain of the log. */ verifyLog: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['LogVerification'] } };
  }>;
  /** Acknowledge a fork of the log. */ acknowledgeLog: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least' | 'X-Reason'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['LogAcknowledgement'] } };
  }>;
  /** Export the whole log, one event per line. */ exportLog: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: AsyncIterable<Schemas['Event']> };
  }>;
  /** Retrieve a checkpoint: position, hash, time and origin of the log as a signed note, to be stored elsewhere. */ getCheckpoint: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: string };
  }>;
  /** List all public checkpoint keys, including former ones. */ listCheckpointKeys: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['CheckpointKey'])[] } };
  }>;
  /** Create a new signing key in the database. The former public key stays valid for its checkpoints. */ rotateCheckpointKey: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['CheckpointKey'] } };
  }>;
  /** Stream accepted events as server-sent events. */ streamEvents: Operation<{
    query: { after?: string | undefined; subject?: string | undefined };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: AsyncIterable<StreamMessage> };
  }>;
  /** Retrieve the progress of each projection. */ listProjections: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: (Schemas['Projection'])[] } };
  }>;
  /** Compare the log, the metadata rows and the catalog. */ verifyProjections: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Verification'] } };
  }>;
  /** Rebuild a projection from the log. */ rebuildProjection: Operation<{
    params: { /** The name of a projection. */ name: string };
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { data: Schemas['Rebuilt'] } };
  }>;
  /** Retrieve metrics for Prometheus. */ getMetrics: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: string };
  }>;
  /** Retrieve this document. */ getOpenApi: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { openapi: string; [member: string]: unknown } };
  }>;
  /** Retrieve this document at the path that Directus clients use. */ readOpenApiSpec: Operation<{
    headers: Pick<RequestHeaders, 'X-Log-Position-At-Least'>;
    answer: { status: 200; headers: Headers; body: { openapi: string; [member: string]: unknown } };
  }>;
  /** Retrieve this document as a page. */ getDocs: Operation<{
    answer: { status: 200; headers: Headers; body: string };
  }>;
}

/** The method and path of every operation; whether a repeated request does no harm, and how. */
export const OPERATIONS = {
  listCollections: { method: 'GET', path: '/collections', repeat: 'safe', answers: [] },
  getCollection: { method: 'GET', path: '/collections/:id', repeat: 'safe', answers: [] },
  getTable: { method: 'GET', path: '/collections/:id/table', repeat: 'safe', answers: [] },
  getSample: { method: 'GET', path: '/collections/:id/sample', repeat: 'safe', answers: [] },
  updateCollections: { method: 'PATCH', path: '/collections', repeat: 'key', answers: [] },
  createCollections: { method: 'POST', path: '/collections', repeat: 'key', answers: [] },
  updateCollection: { method: 'PATCH', path: '/collections/:id', repeat: 'key', answers: [] },
  renameCollection: { method: 'POST', path: '/collections/:id/rename', repeat: 'key', answers: [] },
  deleteCollection: { method: 'DELETE', path: '/collections/:id', repeat: 'key', answers: [] },
  listFields: { method: 'GET', path: '/fields', repeat: 'safe', answers: [] },
  listFieldsOfCollection: { method: 'GET', path: '/fields/:collection', repeat: 'safe', answers: [] },
  getField: { method: 'GET', path: '/fields/:collection/:field', repeat: 'safe', answers: [] },
  createField: { method: 'POST', path: '/fields/:collection', repeat: 'key', answers: [] },
  updateFields: { method: 'PATCH', path: '/fields/:collection', repeat: 'key', answers: [] },
  updateField: { method: 'PATCH', path: '/fields/:collection/:field', repeat: 'key', answers: [] },
  renameField: { method: 'POST', path: '/fields/:collection/:field/rename', repeat: 'key', answers: [] },
  deleteField: { method: 'DELETE', path: '/fields/:collection/:field', repeat: 'key', answers: [] },
  listRelations: { method: 'GET', path: '/relations', repeat: 'safe', answers: [] },
  listRelationsOfCollection: { method: 'GET', path: '/relations/:collection', repeat: 'safe', answers: [] },
  getRelation: { method: 'GET', path: '/relations/:collection/:field', repeat: 'safe', answers: [] },
  createRelation: { method: 'POST', path: '/relations', repeat: 'key', answers: [] },
  updateRelation: { method: 'PATCH', path: '/relations/:collection/:field', repeat: 'key', answers: [] },
  deleteRelation: { method: 'DELETE', path: '/relations/:collection/:field', repeat: 'key', answers: [] },
  listObjects: { method: 'GET', path: '/objects', repeat: 'safe', answers: [] },
  getObject: { method: 'GET', path: '/objects/:kind/:id', repeat: 'safe', answers: [] },
  listDependents: { method: 'GET', path: '/objects/:kind/:id/dependents', repeat: 'safe', answers: [] },
  createObject: { method: 'POST', path: '/objects', repeat: 'key', answers: [] },
  updateObject: { method: 'PATCH', path: '/objects/:kind/:id', repeat: 'key', answers: [] },
  renameObject: { method: 'POST', path: '/objects/:kind/:id/rename', repeat: 'key', answers: [] },
  deleteObject: { method: 'DELETE', path: '/objects/:kind/:id', repeat: 'key', answers: [] },
  getSnapshot: { method: 'GET', path: '/schema/snapshot', repeat: 'safe', answers: [] },
  diffSnapshot: { method: 'POST', path: '/schema/diff', repeat: 'safe', answers: [] },
  applyDiff: { method: 'POST', path: '/schema/apply', repeat: 'key', answers: [] },
  mergeSnapshot: { method: 'POST', path: '/schema/merge', repeat: 'safe', answers: [] },
  getTypes: { method: 'GET', path: '/schema/types', repeat: 'safe', answers: [] },
  listChanges: { method: 'GET', path: '/changes', repeat: 'safe', answers: [] },
  getChange: { method: 'GET', path: '/changes/:id', repeat: 'safe', answers: [] },
  withdrawChange: { method: 'POST', path: '/changes/:id/withdraw', repeat: 'key', answers: [] },
  openChange: { method: 'POST', path: '/changes', repeat: 'key', answers: [] },
  updateChange: { method: 'PATCH', path: '/changes/:id', repeat: 'key', answers: [] },
  commentChange: { method: 'POST', path: '/changes/:id/comment', repeat: 'key', answers: [] },
  approveChange: { method: 'POST', path: '/changes/:id/approve', repeat: 'key', answers: [] },
  rejectChange: { method: 'POST', path: '/changes/:id/reject', repeat: 'key', answers: [] },
  prepareChange: { method: 'POST', path: '/changes/:id/prepare', repeat: 'key', answers: [] },
  applyChange: { method: 'POST', path: '/changes/:id/apply', repeat: 'key', answers: [] },
  rebaseChange: { method: 'POST', path: '/changes/:id/rebase', repeat: 'key', answers: [] },
  revertChange: { method: 'POST', path: '/changes/:id/revert', repeat: 'key', answers: [] },
  getPolicy: { method: 'GET', path: '/policy', repeat: 'safe', answers: [] },
  setPolicy: { method: 'PUT', path: '/policy', repeat: 'key', answers: [] },
  testPolicy: { method: 'POST', path: '/policy/test', repeat: 'safe', answers: [] },
  adoptTables: { method: 'POST', path: '/schema/adopt', repeat: 'key', answers: [] },
  getDrift: { method: 'GET', path: '/schema/drift', repeat: 'safe', answers: [] },
  acceptDrift: { method: 'POST', path: '/schema/drift/accept', repeat: 'key', answers: [] },
  listTrash: { method: 'GET', path: '/trash', repeat: 'safe', answers: [] },
  getTrash: { method: 'GET', path: '/trash/:position', repeat: 'safe', answers: [] },
  restoreTrash: { method: 'POST', path: '/trash/:position/restore', repeat: 'key', answers: [] },
  purgeTrash: { method: 'DELETE', path: '/trash/:position', repeat: 'key', answers: [] },
  login: { method: 'POST', path: '/auth/login', repeat: 'no', answers: [] },
  refresh: { method: 'POST', path: '/auth/refresh', repeat: 'no', answers: [] },
  logout: { method: 'POST', path: '/auth/logout', repeat: 'no', answers: [] },
  listProviders: { method: 'GET', path: '/auth/providers', repeat: 'safe', answers: [] },
  startSignIn: { method: 'GET', path: '/auth/oidc/login', repeat: 'safe', answers: [302] },
  finishSignIn: { method: 'GET', path: '/auth/oidc/callback', repeat: 'safe', answers: [302] },
  exchangeSignIn: { method: 'POST', path: '/auth/oidc/token', repeat: 'no', answers: [] },
  backChannelLogout: { method: 'POST', path: '/auth/oidc/logout', repeat: 'no', answers: [] },
  linkIdentity: { method: 'POST', path: '/auth/oidc/link', repeat: 'no', answers: [] },
  listIdentities: { method: 'GET', path: '/users/:id/identities', repeat: 'safe', answers: [] },
  unlinkIdentity: { method: 'DELETE', path: '/users/:id/identities/:identity', repeat: 'no', answers: [] },
  startDeviceSignIn: { method: 'POST', path: '/auth/oidc/device', repeat: 'no', answers: [] },
  finishDeviceSignIn: { method: 'POST', path: '/auth/oidc/device/token', repeat: 'no', answers: [] },
  getTrust: { method: 'GET', path: '/auth/trust', repeat: 'safe', answers: [] },
  setTrust: { method: 'PUT', path: '/auth/trust', repeat: 'key', answers: [] },
  exchangeToken: { method: 'POST', path: '/auth/exchange', repeat: 'no', answers: [] },
  listUsers: { method: 'GET', path: '/users', repeat: 'safe', answers: [] },
  createUser: { method: 'POST', path: '/users', repeat: 'no', answers: [] },
  getMe: { method: 'GET', path: '/users/me', repeat: 'safe', answers: [] },
  changeOwnPassword: { method: 'PATCH', path: '/users/me', repeat: 'no', answers: [] },
  listDiagrams: { method: 'GET', path: '/users/me/diagrams', repeat: 'safe', answers: [] },
  saveDiagram: { method: 'PUT', path: '/users/me/diagrams', repeat: 'no', answers: [] },
  getUser: { method: 'GET', path: '/users/:id', repeat: 'safe', answers: [] },
  updateUser: { method: 'PATCH', path: '/users/:id', repeat: 'no', answers: [] },
  deleteUser: { method: 'DELETE', path: '/users/:id', repeat: 'no', answers: [] },
  listTokens: { method: 'GET', path: '/users/:id/tokens', repeat: 'safe', answers: [] },
  createToken: { method: 'POST', path: '/users/:id/tokens', repeat: 'no', answers: [] },
  revokeToken: { method: 'DELETE', path: '/users/:id/tokens/:token', repeat: 'no', answers: [] },
  listSessions: { method: 'GET', path: '/sessions', repeat: 'safe', answers: [] },
  endSession: { method: 'DELETE', path: '/sessions/:id', repeat: 'no', answers: [] },
  endSessions: { method: 'DELETE', path: '/users/:id/sessions', repeat: 'no', answers: [] },
  listWebhooks: { method: 'GET', path: '/webhooks', repeat: 'safe', answers: [] },
  getWebhook: { method: 'GET', path: '/webhooks/:id', repeat: 'safe', answers: [] },
  listWebhookDeliveries: { method: 'GET', path: '/webhooks/:id/deliveries', repeat: 'safe', answers: [] },
  createWebhook: { method: 'POST', path: '/webhooks', repeat: 'no', answers: [] },
  updateWebhook: { method: 'PATCH', path: '/webhooks/:id', repeat: 'no', answers: [] },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/:id', repeat: 'no', answers: [] },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/:id/secret', repeat: 'no', answers: [] },
  replayWebhook: { method: 'POST', path: '/webhooks/:id/replay', repeat: 'no', answers: [] },
  testWebhook: { method: 'POST', path: '/webhooks/:id/test', repeat: 'no', answers: [] },
  listEnvironments: { method: 'GET', path: '/environments', repeat: 'safe', answers: [] },
  getEnvironment: { method: 'GET', path: '/environments/:id', repeat: 'safe', answers: [] },
  testEnvironment: { method: 'POST', path: '/environments/:id/test', repeat: 'no', answers: [] },
  createEnvironment: { method: 'POST', path: '/environments', repeat: 'no', answers: [] },
  updateEnvironment: { method: 'PATCH', path: '/environments/:id', repeat: 'no', answers: [] },
  deleteEnvironment: { method: 'DELETE', path: '/environments/:id', repeat: 'no', answers: [] },
  mergeEnvironment: { method: 'POST', path: '/environments/:id/merge', repeat: 'safe', answers: [] },
  callAgentTools: { method: 'POST', path: '/mcp', repeat: 'no', answers: [] },
  ping: { method: 'GET', path: '/server/ping', repeat: 'safe', answers: [] },
  getLive: { method: 'GET', path: '/server/live', repeat: 'safe', answers: [] },
  getReady: { method: 'GET', path: '/server/ready', repeat: 'safe', answers: [503] },
  getHealth: { method: 'GET', path: '/server/health', repeat: 'safe', answers: [503] },
  examine: { method: 'GET', path: '/server/doctor', repeat: 'safe', answers: [] },
  getInfo: { method: 'GET', path: '/server/info', repeat: 'safe', answers: [] },
  listEvents: { method: 'GET', path: '/history/events', repeat: 'safe', answers: [] },
  getEvent: { method: 'GET', path: '/history/events/:position', repeat: 'safe', answers: [] },
  listBatches: { method: 'GET', path: '/history/batches', repeat: 'safe', answers: [] },
  listBatchChanges: { method: 'GET', path: '/history/changes', repeat: 'safe', answers: [] },
  getCollectionHistory: { method: 'GET', path: '/history/collections/:id', repeat: 'safe', answers: [] },
  getObjectHistory: { method: 'GET', path: '/history/objects/:kind/:id', repeat: 'safe', answers: [] },
  getPastSnapshot: { method: 'GET', path: '/history/snapshot', repeat: 'safe', answers: [] },
  diffMoments: { method: 'GET', path: '/history/diff', repeat: 'safe', answers: [] },
  getPastDocuments: { method: 'GET', path: '/history/schema', repeat: 'safe', answers: [] },
  verifyLog: { method: 'GET', path: '/history/verify', repeat: 'safe', answers: [] },
  acknowledgeLog: { method: 'POST', path: '/history/acknowledge', repeat: 'no', answers: [] },
  exportLog: { method: 'GET', path: '/history/export', repeat: 'safe', answers: [] },
  getCheckpoint: { method: 'GET', path: '/history/checkpoint', repeat: 'safe', answers: [] },
  listCheckpointKeys: { method: 'GET', path: '/history/checkpoint/keys', repeat: 'safe', answers: [] },
  rotateCheckpointKey: { method: 'POST', path: '/history/checkpoint/keys', repeat: 'no', answers: [] },
  streamEvents: { method: 'GET', path: '/history/stream', repeat: 'safe', answers: [] },
  listProjections: { method: 'GET', path: '/projections', repeat: 'safe', answers: [] },
  verifyProjections: { method: 'GET', path: '/projections/verify', repeat: 'safe', answers: [] },
  rebuildProjection: { method: 'POST', path: '/projections/:name/rebuild', repeat: 'no', answers: [] },
  getMetrics: { method: 'GET', path: '/metrics', repeat: 'safe', answers: [] },
  getOpenApi: { method: 'GET', path: '/server/openapi.json', repeat: 'safe', answers: [] },
  readOpenApiSpec: { method: 'GET', path: '/server/specs/oas', repeat: 'safe', answers: [] },
  getDocs: { method: 'GET', path: '/docs', repeat: 'safe', answers: [] },
} as const satisfies Record<keyof Operations, Described>;

interface Described {
  method: string;
  path: string;
  /** `safe`: it changes nothing. `key`: an Idempotency-Key makes it take effect once. */
  repeat: 'safe' | 'key' | 'no';
  /** Statuses other than 2xx that are not errors. */
  answers: readonly number[];
}
