import { TRUSTED_EXTENSIONS } from '../../model/extras.js';
import type { Observed, Rule } from '../model.js';
import { added } from './common.js';

export const createsExtension: Rule = {
  code: 'CREATES_EXTENSION',
  level: 'note',
  title: 'Needs an extension',
  what: 'A column uses a type or a function of an extension, which is installed where it is missing.',
  why: 'Every server that the schema goes to needs it, the one of production too; most are installed by administrators alone.',
  safer: 'Install it on every server before the change.',
  levels: '`note` for extensions that PostgreSQL trusts everybody with, else `warn`.',
  event: (planned) =>
    added(planned, 'needs').flatMap(({ kind, name }): Observed[] => {
      if (kind !== 'extension') return [];
      const level = TRUSTED_EXTENSIONS.has(name) ? 'note' : 'warn';
      return [{ message: `${planned.event.collection} needs the extension ${name}`, level, object: { kind, name } }];
    }),
};
