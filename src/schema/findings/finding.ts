/* Combines an observation with the text of its rule. All findings are created here. */
import { visibleText } from '../../kernel/text.js';
import type { Warning } from '../../kernel/problem.js';
import { PURGE_FINDINGS, isEarlyPurge } from '../model/policy.js';
import type { LogEvent } from '../model/events.js';
import type { Finding, LocatedEvent, Observation, Rule } from './model.js';
import { RULES } from './rules/index.js';
import { locationText } from '../model/location.js';
import type { Resumable } from '../../kernel/resumable.js';
import { IMPORTED } from './rules/imported.js';

const BY_CODE: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.code, rule]));

/** Undefined if no rule has the code, for example if another release had it. */
export const ruleOf = (code: string): Rule | undefined => BY_CODE.get(code);

const aliasesOf = ({ aliases = {} }: Rule): string[] =>
  Object.entries(aliases).flatMap(([tool, names]: [string, readonly string[]]) =>
    names.map((name) => `${tool}:${name}`),
  );

type FindingTexts = Pick<Finding, 'why' | 'safer' | 'aliases'>;

/** The text that all findings of a rule share. */
const SAID: ReadonlyMap<Rule, FindingTexts> = new Map(
  RULES.map((rule) => [rule, { why: rule.why, safer: { text: rule.safer }, aliases: aliasesOf(rule) }]),
);

/** Converts warnings found outside the rules: about imports, the trash or names. An unknown code becomes a warning. */
export function findingOf(noticed: Warning): Finding {
  const rule = BY_CODE.get(noticed.code);
  if (rule === undefined) return { ...noticed, level: 'warn', why: noticed.message, aliases: [] };
  const { code, collection, field, message } = noticed;
  return {
    code,
    level: rule.level,
    ...location(collection, field),
    message: visibleText(message),
    ...(SAID.get(rule) as FindingTexts),
  };
}

/** Converts an observation made by a rule. */
function createFinding(rule: Rule, observed: Observation, planned: LocatedEvent, statement?: number): Finding {
  const { event, index } = planned;
  const {
    message,
    level = rule.level,
    collection = event.collection ?? undefined,
    object,
    safer,
    statistics,
  } = observed;
  const field = observed.field === undefined ? event.field : observed.field;
  return {
    code: rule.code,
    level,
    ...location(collection, field ?? undefined),
    ...(object !== undefined && { object }),
    message: visibleText(message),
    event: index,
    ...(statement !== undefined && { statement }),
    ...(SAID.get(rule) as FindingTexts),
    ...(safer !== undefined && { safer }),
    ...(statistics !== undefined && { statistics }),
  };
}

const OF_PURGES: Readonly<Record<(typeof PURGE_FINDINGS)[number], string>> = {
  LOSES_DATA: 'data is permanently lost',
  DATA_NOT_KEPT: 'the trash no longer keeps it',
};

const INSTEAD_OF_PURGING = {
  text: 'Wait until its retention period is over: the service then purges it. To get an approval for an earlier purge, restore it, and delete it with a change request that has the option purge.',
};

/** Returns the findings of requested purges, by the names that the objects had when they were deleted. */
export const purgeFindings = (events: readonly LogEvent[]): Finding[] =>
  events.flatMap((event) => {
    if (event.type !== 'trash.purged' || event.collection === null || !isEarlyPurge(event)) return [];
    const { collection, field, data } = event;
    const what = `purge ${field === null ? `table ${collection}` : `column ${collection}.${field}`} of position ${data.position}`;
    return PURGE_FINDINGS.map((code) => ({
      ...findingOf({ code, collection, ...(field !== null && { field }), message: `${what}: ${OF_PURGES[code]}` }),
      safer: INSTEAD_OF_PURGING,
    }));
  });

const location = (
  collection: string | undefined,
  field: string | undefined,
): Pick<Finding, 'collection' | 'field'> => ({
  ...(collection !== undefined && { collection }),
  ...(field !== undefined && { field }),
});

/** Removes plan indexes, which are meaningless without the plan. */
export const withoutLocations = <F extends Finding>(findings: readonly F[]): Omit<F, 'event' | 'statement'>[] =>
  findings.map(({ event: _event, statement: _statement, ...finding }) => finding);

/*
 * Groups findings for display. A batch may report an object more than once, for example if two events change a field. A
 * note about hundreds of new tables is shown once.
 */

/** Maximum number of locations that a note lists. */
const MOST_PLACES = 50;

interface FindingCollector {
  /** @param statement its index in the plan */
  add(rule: Rule, observed: Observation, planned: LocatedEvent, statement?: number): void;
  findings(): Finding[];
}

type FindingLocation = { collection: string; field?: string };

/** A note about new objects: its finding and all objects it applies to. */
interface Note {
  first: number;
  places: FindingLocation[];
  /** Names of all objects that the note applies to. */
  names: Set<string>;
}

/** Returns the group of a note about new objects. Undefined for a note that is not grouped. */
export type GroupLookup = (code: string, place: FindingLocation) => string | undefined;

/**
 * Returns findings in the order of addition and ignores repetitions about existing objects.
 * @param groupOf groups notes about new objects. By default each rule has one group.
 */
export function createGathering(groupOf: GroupLookup = (code) => code): FindingCollector {
  const findings: Finding[] = [];
  /** Keys of reported findings about existing objects. A new object is checked only once anyway. */
  const seen = new Set<string>();
  const notes = new Map<string, Note>();

  /** True if another finding already contains this note. Adds the location to that finding. */
  function isNoted({ code }: Rule, location: FindingLocation): boolean {
    const group = groupOf(code, location);
    if (group === undefined) return false;
    const name = JSON.stringify([location.collection, location.field]);
    const note = notes.get(group);
    if (note === undefined) {
      notes.set(group, { first: findings.length, places: [location], names: new Set([name]) });
      return false;
    }
    // Several objects of one table may have the same note, so the name is added only once.
    if (!note.names.has(name) && note.places.length < MOST_PLACES) note.places.push(location);
    note.names.add(name);
    return true;
  }

  function isSeen(finding: Finding): boolean {
    const key = keyOf(finding);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  }

  return {
    add(rule, observed, planned, statement) {
      const place = placeOf(observed, planned);
      const isNew = place !== undefined && planned.batch.isNew(place.collection);
      if (isNew && (observed.level ?? rule.level) === 'note' && isNoted(rule, place)) return;
      const finding = createFinding(rule, observed, planned, statement);
      if (isNew || !isSeen(finding)) findings.push(finding);
    },
    findings() {
      for (const { first, places, names } of notes.values()) {
        const finding = findings[first];
        if (finding === undefined || names.size === 1) continue;
        findings[first] = { ...finding, message: `${finding.message}; ${formatOthers(places, names.size)}`, places };
      }
      return findings;
    },
  };
}

/** Undefined if the finding is about an object other than a table. */
function placeOf({ collection, field: observed }: Observation, { event }: LocatedEvent): FindingLocation | undefined {
  const field = observed === undefined ? event.field : observed;
  const name = collection ?? event.collection;
  return name === null ? undefined : { collection: name, ...(field !== null && { field }) };
}

const keyOf = ({ code, collection, field, object, message }: Finding): string =>
  JSON.stringify([code, collection, field, object, message]);

/** Number of locations that a message names before it only counts the rest. */
const NAMED = 3;

/**
 * @param locations the first is the location of the finding
 * @param count the number of all locations
 */
function formatOthers(locations: readonly FindingLocation[], count: number): string {
  const others = locations.slice(1, NAMED + 1).map(locationText);
  const more = count - 1 - others.length;
  return `also applies to ${others.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/* Groups the findings of an imported file, so that the same reason is not repeated for each object. */

/** Groups findings with the same code and reason at the position of the first. */
export function* groupFindings<F extends Finding & { action?: string }>(noticed: readonly F[]): Resumable<F[]> {
  const groups = new Map<string, { first: F; locations: FindingLocation[]; count: number }>();
  for (const [index, finding] of noticed.entries()) {
    yield;
    const location = placeToList(finding);
    const key = location === undefined ? String(index) : reasonOf(finding);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { first: finding, locations: location === undefined ? [] : [location], count: 1 });
      continue;
    }
    group.count += 1;
    if (location !== undefined && group.locations.length < MOST_PLACES) group.locations.push(location);
  }
  return [...groups.values()].map(({ first, locations, count }) =>
    count === 1
      ? first
      : { ...first, message: `${stripFullStop(first.message)}; ${formatOthers(locations, count)}`, places: locations },
  );
}

const OF_FILES: ReadonlySet<string> = new Set(IMPORTED.map(({ code }) => code));

/** Returns the location of a groupable finding. Only findings about imported files are grouped. */
function placeToList({ code, collection, field }: Finding): FindingLocation | undefined {
  if (collection === undefined || !OF_FILES.has(code)) return undefined;
  return { collection, ...(field !== undefined && { field }) };
}

/**
 * Returns a key of the message without the names of the finding's own location, so that equal reasons have equal keys.
 */
function reasonOf({ code, level, action, collection, field, message }: Finding & { action?: string }): string {
  const names = [collection, field].filter((name) => name !== undefined).map((name) => JSON.stringify(name));
  return JSON.stringify([code, level, action, names.reduce((text, name) => text.replaceAll(name, '""'), message)]);
}

const stripFullStop = (sentence: string): string => sentence.replace(/\.$/, '');
