import type { OperationDocs } from '../operation-doc.js';
import { ACCOUNT_OPERATIONS } from './accounts.js';
import { CHANGE_OPERATIONS } from './changes.js';
import { POLICY_OPERATIONS } from './policy.js';
import { SCHEMA_OPERATIONS } from './schema.js';
import { TRASH_OPERATIONS } from './trash.js';
import { SERVICE_OPERATIONS } from './service.js';

export const OPERATIONS: OperationDocs = {
  ...SCHEMA_OPERATIONS,
  ...TRASH_OPERATIONS,
  ...CHANGE_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SERVICE_OPERATIONS,
};
