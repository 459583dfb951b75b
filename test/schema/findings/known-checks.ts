/** The checks in the documentation of Squawk and strong_migrations, and why some are not covered. */

const prefixNames = (tool: string, names: string): string[] => names.split(/\s+/).map((name) => `${tool}:${name}`);

/** All Squawk rules and all strong_migrations messages for PostgreSQL. */
export const KNOWN: readonly string[] = [
  ...prefixNames(
    'squawk',
    `adding-field-with-default adding-foreign-key-constraint adding-not-nullable-field adding-required-field
adding-serial-primary-key-field ban-add-column ban-add-composite-attribute ban-add-enum-value
ban-alter-database-options ban-alter-domain-with-add-constraint ban-alter-extension ban-alter-function-options
ban-alter-generated-expression ban-alter-identity ban-alter-policy-condition ban-alter-policy-roles
ban-alter-role-options ban-alter-row-level-security ban-alter-sequence-values ban-alter-system-options
ban-alter-view-options ban-char-field ban-concurrent-index-creation-in-transaction
ban-create-domain-with-constraint ban-create-policy ban-detach-inheritance ban-disable-trigger ban-drop-column
ban-drop-constraint ban-drop-database ban-drop-default ban-drop-domain ban-drop-extension ban-drop-function
ban-drop-generated-expression ban-drop-index ban-drop-not-null ban-drop-policy ban-drop-schema
ban-drop-sequence ban-drop-table ban-drop-trigger ban-drop-type ban-drop-view ban-duplicate-column-assignments
ban-new-write-restriction ban-replace-view-function ban-replica-identity ban-revoke ban-set-default
ban-set-schema ban-truncate-cascade ban-uncommitted-transaction changing-column-type
constraint-missing-not-valid disallowed-unique-constraint identifier-too-long prefer-bigint-over-int
prefer-bigint-over-smallint prefer-identity prefer-repack prefer-robust-stmts prefer-text-field
prefer-timestamptz renaming-column renaming-object renaming-table require-concurrent-index-creation
require-concurrent-index-deletion require-concurrent-partition-detach require-concurrent-reindex
require-enum-value-ordering require-lock-timeout require-statement-timeout require-table-schema
require-timeout-settings syntax-error transaction-nesting`,
  ),
  ...prefixNames(
    'strong_migrations',
    `add_check_constraint add_column_auto_incrementing add_column_default add_column_default_callable
add_column_default_null add_column_generated_stored add_column_json add_exclusion_constraint add_foreign_key
add_index add_index_columns add_index_corruption add_reference add_unique_constraint change_column
change_column_default change_column_null change_column_with_not_null change_table create_table execute
remove_column remove_index rename_column rename_schema rename_table validate_check_constraint
validate_foreign_key`,
  ),
];

/** Checks that no schema document can trigger. */
const NO_REQUEST = prefixNames(
  'squawk',
  `ban-drop-type ban-drop-domain ban-drop-sequence ban-drop-extension ban-alter-extension
ban-drop-schema ban-set-schema ban-drop-database ban-alter-database-options
ban-alter-system-options ban-alter-role-options ban-revoke ban-truncate-cascade
ban-uncommitted-transaction ban-drop-function ban-alter-function-options ban-replace-view-function
ban-drop-view ban-alter-view-options ban-drop-trigger ban-disable-trigger ban-create-policy
ban-drop-policy ban-alter-policy-roles ban-alter-policy-condition ban-alter-row-level-security
ban-replica-identity ban-detach-inheritance ban-add-composite-attribute`,
);

/** Checks that a diff cannot trigger, or that current PostgreSQL makes unnecessary, with reasons. */
export const NOT_FOLLOWED: ReadonlyMap<string, string> = new Map([
  ['squawk:prefer-text-field', 'a longer varchar changes only the catalog; a shorter one is NARROWS_TYPE'],
  ['squawk:prefer-robust-stmts', 'the service runs a change in one transaction, which it can repeat'],
  ['squawk:transaction-nesting', 'nobody but the service begins and ends its transactions'],
  ['squawk:ban-concurrent-index-creation-in-transaction', 'the builder of indexes runs outside the transaction'],
  ['squawk:require-timeout-settings', 'every change runs with LOCK_WAIT and STATEMENT_TIMEOUT'],
  ['squawk:require-table-schema', 'every statement of the service names the schema'],
  ['squawk:syntax-error', 'SQL in extras is parsed before it is taken, and refused'],
  ['squawk:ban-duplicate-column-assignments', 'a document says a member once'],
  ['squawk:renaming-object', 'tables and columns are above; names of constraints and indexes follow their extras'],
  ['squawk:ban-add-column', 'a column that may be null, or has a default, breaks nobody who names columns'],
  ['squawk:ban-add-enum-value', 'a new label breaks nothing by itself; that an enum comes is CREATES_TYPE'],
  ['squawk:require-enum-value-ordering', 'labels are a list: where a new one stands is always said'],
  ['squawk:ban-alter-identity', 'options of a counter are refused where PostgreSQL would refuse them'],
  ['squawk:ban-alter-sequence-values', 'the same; a sequence that has given numbers goes on from where it is'],
  ['squawk:ban-alter-generated-expression', 'a changed expression makes the column again: GENERATED_OVER_ROWS'],
  ['squawk:ban-drop-generated-expression', 'the values stay, and can be written from then on'],
  ['squawk:require-concurrent-partition-detach', 'how a table is partitioned is changed in the database alone'],
  ...NO_REQUEST.map((name) => [name, 'no request says it'] as const),
  ['squawk:prefer-repack', 'no request says it'],
  ['squawk:require-concurrent-reindex', 'no request says it'],
  ['squawk:require-lock-timeout', 'every change runs with LOCK_WAIT'],
  ['squawk:require-statement-timeout', 'every change runs with STATEMENT_TIMEOUT'],
  ['strong_migrations:execute', 'no request takes SQL statements'],
  ['strong_migrations:change_table', 'no request is opaque: each is planned statement by statement'],
  ['strong_migrations:create_table', 'a table that is there is never made again unasked'],
  ['strong_migrations:add_column_default_null', 'since PostgreSQL 11 a constant default rewrites nothing'],
  ['strong_migrations:add_column_default_callable', 'the default that is asked for is parsed: VOLATILE_DEFAULT'],
  ['strong_migrations:change_column_with_not_null', 'each of the two is found: NOT_NULL_OVER_ROWS'],
  ['strong_migrations:add_index_corruption', 'of PostgreSQL 14.0 to 14.3 alone'],
  ['strong_migrations:validate_foreign_key', 'validated outside the transaction, or with it: FOREIGN_KEY_UNDER_LOCK'],
  ['strong_migrations:validate_check_constraint', 'the same: CHECK_UNDER_LOCK'],
  ['strong_migrations:rename_schema', 'no request says it'],
]);
