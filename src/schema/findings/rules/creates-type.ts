import type { Observed, Rule } from '../model.js';
import { added } from './common.js';

export const createsType: Rule = {
  code: 'CREATES_TYPE',
  level: 'note',
  title: 'A type of its own',
  what: 'A table comes with an enum, or with a domain that has a rule.',
  why: 'The labels of an enum can be added and never removed; a rule added to a domain later locks and reads every table that uses it.',
  safer: 'A text with a check constraint, or a table of the values that a relation points at.',
  aliases: { squawk: ['ban-create-domain-with-constraint', 'ban-alter-domain-with-add-constraint'] },
  event: (planned) =>
    added(planned, 'needs').flatMap((need): Observed[] => {
      const { kind, name } = need;
      const isRuled = need.kind === 'domain' && (need.not_null === true || (need.checks ?? []).length > 0);
      if (kind !== 'enum' && !isRuled) return [];
      return [{ message: `${planned.event.collection} uses the ${kind} ${name}`, object: { kind, name } }];
    }),
};
