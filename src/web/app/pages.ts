/** The pages that the rail leads to, and who may see them. */
import schemaIcon from 'icon:account_tree';
import type { Role } from '../service/types.js';

export interface PageEntry {
  to: '/';
  label: string;
  /** The path of its icon. */
  icon: string;
  roles: readonly Role[];
}

const EVERYBODY: readonly Role[] = ['admin', 'auditor', 'reader'];

export const PAGES: readonly PageEntry[] = [{ to: '/', label: 'Schema', icon: schemaIcon, roles: EVERYBODY }];
