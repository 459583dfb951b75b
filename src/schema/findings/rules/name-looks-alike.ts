import { extrasOf } from '../../model/state.js';
import { isRename } from '../../model/events.js';
import type { Observed, PlannedEvent, Rule } from '../model.js';
import { added, labelOf } from './common.js';

export const nameLooksAlike: Rule = {
  code: 'NAME_LOOKS_ALIKE',
  level: 'warn',
  standing: true,
  title: 'Name that looks like another',
  what: 'A collection, a field or a constraint gets a name that differs from an existing one only in case or in Unicode normalization.',
  why: 'People and many tools cannot tell the two names apart, so they read or change the wrong one.',
  safer: 'Use the existing object, or choose a name that differs in its letters.',
  example: { unsafe: '{"collection": "Articles"} beside "articles"', safe: '{"collection": "archived_articles"}' },
  field: ({ old, now }, { after }) => {
    if (old !== undefined || after === undefined) return undefined;
    const other = alike(after.fields, now.field);
    return other === undefined ? undefined : observed(labelOf(now), other, { field: now.field });
  },
  event: (planned) => [...ofCollection(planned), ...ofField(planned), ...ofObjects(planned)],
};

function ofCollection({ event, batch }: PlannedEvent): Observed[] {
  const isNew = event.type === 'collection.created' || event.type === 'collection.adopted';
  const name = isNew ? event.collection : event.type === 'collection.renamed' ? event.data.to : undefined;
  const other = name === undefined ? undefined : alike(batch.after.collections, name);
  return name === undefined || other === undefined ? [] : [observed(name, other, { collection: name, field: null })];
}

/** Each new field has a separate observation. */
function ofField({ event, after }: PlannedEvent): Observed[] {
  if (!isRename(event) || event.type !== 'field.renamed' || after === undefined) return [];
  const { to } = event.data;
  const other = alike(after.fields, to);
  return other === undefined ? [] : [observed(`${event.collection}.${to}`, other, { field: to })];
}

function ofObjects(planned: PlannedEvent): Observed[] {
  return (['constraints', 'indexes'] as const).flatMap((part) => {
    const news = added(planned, part);
    if (news.length === 0) return [];
    const all = new Map((extrasOf(planned.after)[part] ?? []).map((each) => [each.name, each]));
    const kind = part === 'indexes' ? 'index' : 'constraint';
    return news.flatMap(({ name }) => {
      const other = alike(all, name);
      return other === undefined ? [] : [observed(`${kind} ${name}`, other, { object: { kind, name } })];
    });
  });
}

const observed = (label: string, other: string, place: Partial<Observed>): Observed => ({
  message: `${label}: the name differs from ${JSON.stringify(other)} only in case or Unicode normalization`,
  ...place,
});

interface Named {
  keys(): Iterable<string>;
}

/** Existing names by their visual form. */
const seen = new WeakMap<Named, Map<string, string[]>>();

/** Returns another name that looks like `name`. */
function alike(names: Named, name: string): string | undefined {
  let byLook = seen.get(names);
  if (byLook === undefined) {
    byLook = new Map();
    for (const each of names.keys()) {
      const look = lookOf(each);
      byLook.set(look, [...(byLook.get(look) ?? []), each]);
    }
    seen.set(names, byLook);
  }
  return byLook.get(lookOf(name))?.find((other) => other !== name);
}

const lookOf = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC');
