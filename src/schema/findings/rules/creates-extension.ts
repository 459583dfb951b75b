import type { Observed, Rule } from '../model.js';
import { added } from './common.js';

export const createsExtension: Rule = {
  code: 'CREATES_EXTENSION',
  level: 'note',
  title: 'Needs an extension',
  what: 'A column uses a type or a function of an extension, which is installed where it is missing: one that PostgreSQL trusts everybody with.',
  why: 'Every server that the schema goes to needs it, the one of production too, and its package on the disk.',
  safer: 'Install it on every server before the change.',
  event: (planned) =>
    added(planned, 'needs').flatMap(({ kind, name }): Observed[] => {
      if (kind !== 'extension') return [];
      return [{ message: `${planned.event.collection} needs the extension ${name}`, object: { kind, name } }];
    }),
};
