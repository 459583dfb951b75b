import type { Observed, Rule } from '../model.js';
import { added } from './common.js';

export const createsExtension: Rule = {
  code: 'CREATES_EXTENSION',
  level: 'note',
  title: 'Needs an extension',
  what: 'A column uses a type or function of an extension. The service installs the extension if it is missing and PostgreSQL marks it as trusted.',
  why: 'Every server that gets this schema needs the extension and its package on disk, including production.',
  safer: 'Install it on every server before the change.',
  event: (planned) =>
    added(planned, 'needs').flatMap(({ kind, name }): Observed[] => {
      if (kind !== 'extension') return [];
      return [{ message: `${planned.event.collection} needs the extension ${name}`, object: { kind, name } }];
    }),
};
