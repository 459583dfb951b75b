import type { Observed, Rule } from '../model.js';
import { added } from './common.js';

export const createsType: Rule = {
  code: 'CREATES_TYPE',
  level: 'note',
  title: 'Custom type',
  what: 'A table uses an enum, or a domain with a constraint.',
  why: 'Enum labels can be added but never removed. A constraint added to a domain later locks and reads every table that uses it.',
  safer: 'Use a text field with a check constraint, or a relation to a table of values.',
  aliases: { squawk: ['ban-create-domain-with-constraint', 'ban-alter-domain-with-add-constraint'] },
  event: (planned) =>
    added(planned, 'needs').flatMap((need): Observed[] => {
      const { kind, name } = need;
      const isRuled = need.kind === 'domain' && (need.not_null === true || (need.checks ?? []).length > 0);
      if (kind !== 'enum' && !isRuled) return [];
      return [{ message: `${planned.event.collection} uses the ${kind} ${name}`, object: { kind, name } }];
    }),
};
