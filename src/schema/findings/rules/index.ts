/** Every rule, in the order in which findings of one statement or document are shown. */
import type { Rule } from '../model.js';
import { IMPORTED } from './imported.js';
import { longLock } from './long-lock.js';
import { losesData } from './loses-data.js';
import { mayFail } from './may-fail.js';
import { NOTICED } from './noticed.js';
import { rewritesTable } from './rewrites-table.js';

export const RULES: readonly Rule[] = [losesData, rewritesTable, longLock, mayFail, ...NOTICED, ...IMPORTED];
