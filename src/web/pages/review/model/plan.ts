/* Groups a plan by items, and exports it. */
import { quoteForShell } from '../../../../kernel/text.js';
import type { ChangeRequest, Finding, Plan, Problem } from '../../../service/types.js';
import { groupBy } from '../../../shared/items.js';
import { messages } from './messages.js';
import { type Chosen, type Item, PARTS, type Part, keyOf } from './items.js';

export type Statement = Plan['statements'][number];
export type LockedTable = NonNullable<Plan['tables']>[number];

/**
 * Returns the statements of a plan by the key of their item. Statements without an item are listed by collection:
 * `collections`. The plan of a change request has no events, so its statements are assigned by their names.
 */
export function statementsByItem(
  { statements: all, events = [] }: Pick<Plan, 'statements'> & Partial<Pick<Plan, 'events'>>,
  items: readonly Item[],
) {
  const keys = new Set(items.map(({ key }) => key));
  const objects = new Map(
    items.flatMap(({ part, collection, key }) => (part === 'objects' ? [[collection, key]] : [])),
  );
  const statements = new Map<string, Statement[]>();
  for (const statement of all) {
    const event = events[statement.event];
    const object = event === undefined ? objects.get(statement.collection) : undefined;
    const key = object ?? itemOf(statement, event, keys);
    const own = statements.get(key);
    if (own === undefined) statements.set(key, [statement]);
    else own.push(statement);
  }
  return statements;
}

const PART_OF: Readonly<Record<string, Part>> = {
  relation: 'relations',
  field: 'fields',
  collection: 'collections',
  object: 'objects',
};

function itemOf(
  { collection, field }: Statement,
  event: Plan['events'][number] | undefined,
  keys: ReadonlySet<string>,
): string {
  const part = PART_OF[event?.type.split('.')[0] ?? ''] ?? (field === null ? 'collections' : 'fields');
  const candidates = [
    ...(event === undefined ? [] : keysOfView(event)),
    keyOf(part, collection, part === 'collections' ? null : field),
    keyOf('fields', collection, field),
    keyOf('relations', collection, field),
    // A view that is recreated belongs to the change that requires it.
    ...(event === undefined ? [] : keysOfEvent(event)),
  ];
  return candidates.find((key) => keys.has(key)) ?? keyOf('collections', collection, null);
}

const keysOfView = ({ subject }: Plan['events'][number]): string[] =>
  subject === undefined ? [] : [keyOf('objects', subject.id, subject.kind)];

const keysOfEvent = ({ collection, field }: Plan['events'][number]): string[] =>
  collection === null ? [] : [keyOf('fields', collection, field), keyOf('collections', collection, null)];

const PLACE = /^diff\.(\w+)\[(\d+)\](?:\.diff\[(\d+)\])?/;

export interface Located {
  /** Problems by the key of their item or member. */
  at: ReadonlyMap<string, readonly Problem[]>;
  /** Problems without a location in the diff that was sent. */
  elsewhere: readonly Problem[];
}

/** Assigns problems to items by path, and otherwise by the names that they contain. */
export function locateProblems(
  problems: readonly Problem[],
  chosen: () => Pick<Chosen, 'placeAt'>,
  items: readonly Item[],
): Located {
  const at = new Map<string, Problem[]>();
  const elsewhere: Problem[] = [];
  if (problems.length === 0) return { at, elsewhere };
  const byCollection = groupBy(items, ({ collection }) => collection);
  for (const problem of problems) {
    const place = placeOf(problem, chosen()) ?? keyNamedBy(problem, byCollection);
    if (place === undefined) elsewhere.push(problem);
    else at.set(place, [...(at.get(place) ?? []), problem]);
  }
  return { at, elsewhere };
}

function placeOf({ extensions }: Problem, { placeAt }: Pick<Chosen, 'placeAt'>): string | undefined {
  const [, name, index, entry] = PLACE.exec(extensions.path ?? '') ?? [];
  const part = PARTS.find((each) => each === name);
  if (part === undefined) return undefined;
  const place = placeAt(part, Number(index), entry === undefined ? undefined : Number(entry));
  return place?.member ?? place?.item;
}

function keyNamedBy({ extensions }: Problem, items: ReadonlyMap<string, readonly Item[]>): string | undefined {
  const { collection, field, object } = extensions as {
    collection?: string;
    field?: string;
    object?: { kind: string; id: string };
  };
  const view = object && items.get(object.id)?.find(({ kind }) => kind === object.kind);
  if (view !== undefined) return view.key;
  if (collection === undefined) return undefined;
  return itemNamed(items.get(collection) ?? [], collection, field)?.key;
}

/**
 * Returns the item with these names. The field precedes the relation. If neither is an item, returns the collection.
 */
function itemNamed(items: readonly Item[], collection: string, field: string | undefined): Item | undefined {
  const own = items.filter((item) => item.collection === collection);
  const named = field === undefined ? undefined : own.find((item) => item.field === field);
  return named ?? own.find((item) => item.part === 'collections');
}

/** A loss of data, with the time until which the data can be restored. */
export interface Loss {
  key: string;
  collection: string;
  field: string | null;
  /** ISO 8601. Null if the loss is permanent or the time is unknown. */
  until: string | null;
  /** The service's message. */
  message: string;
  /** True if the trash keeps the data. */
  isKept: boolean;
  isForGood: boolean;
}

const NOT_KEPT = 'DATA_NOT_KEPT';

/** Returns the losses in a plan, one for each statement that loses data. Empty tables lose none. */
export function lossesOf(plan: Pick<Plan, 'statements' | 'events' | 'warnings' | 'accepted' | 'tables'>): Loss[] {
  const empty = new Set(plan.tables?.flatMap((each) => (each.empty === true ? [each.table] : [])));
  const nameOf = (collection: string | undefined, field: string | null | undefined) =>
    JSON.stringify([collection, field ?? null]);
  const warnings = groupBy(plan.warnings, ({ collection, field }) => nameOf(collection, field));
  return plan.statements
    .filter(({ loses_data: loses, collection }) => loses && !empty.has(collection))
    .map((statement, index) => {
      const { collection, field, summary } = statement;
      const data = plan.events[statement.event]?.data as { kept_until?: unknown } | undefined;
      const until = typeof data?.kept_until === 'string' ? data.kept_until : null;
      const about = warnings.get(nameOf(collection, field)) ?? [];
      const why = about.find(({ code }) => code === NOT_KEPT) ?? about.find(({ code }) => code === 'LOSES_DATA');
      const { message, level } = why ?? { message: summary, level: 'note' };
      const isForGood = until === null && (plan.accepted !== null || level === 'danger');
      return { key: `${index}`, collection, field, until, message, isKept: until !== null, isForGood };
    });
}

/** Returns the losses of a change request. Its plan does not say how long the trash keeps the data. */
export const requestedLosses = (loses: NonNullable<ChangeRequest['planned']>['loses']): Loss[] =>
  loses.map(({ collection, field, kept, why_not: why }, index) => ({
    key: `${index}`,
    collection,
    field,
    until: null,
    message: kept ? messages.losses.kept : notKeptText(why),
    isKept: kept,
    isForGood: !kept,
  }));

const notKeptText = (why: string | null): string =>
  why === null ? messages.losses.notKept : messages.losses.notKeptBecause(why);

/** Codes of findings that another part of the page shows. */
const TOLD: ReadonlySet<string> = new Set(['LOSES_DATA', NOT_KEPT]);

/** The levels in ascending order. */
const LEVELS = ['note', 'warn', 'danger'];

/** Returns the other findings, each once, most severe first. */
export function otherFindings(findings: readonly Finding[]): Finding[] {
  const shown = new Set<string>();
  const own = findings.filter(({ code, collection, field, message }) => {
    const key = JSON.stringify([code, collection, field, message]);
    if (TOLD.has(code) || shown.has(key)) return false;
    shown.add(key);
    return true;
  });
  return own.sort((one, other) => LEVELS.indexOf(other.level) - LEVELS.indexOf(one.level));
}

/** Returns the statements as a script that runs in one transaction, with comments. */
export function scriptOf({ statements }: Pick<Plan, 'statements'>): string {
  const parts = statements.map(({ sql, summary, lock }) => {
    const comment = `-- ${toOneLine(summary)}${lock === 'none' ? '' : `; locks ${lock}`}`;
    return `${comment}\n${sql.trimEnd().replace(/;?$/, ';')}`;
  });
  return `BEGIN;\n\n${parts.join('\n\n')}\n\nCOMMIT;\n`;
}

/** Replaces line breaks, because a line break in a name would end the comment. */
const toOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/* The review as a shell command. */

/**
 * Returns the review as a shell command. The token comes from the shell variable TOKEN. The body ends at a line END,
 * which no line of JSON can equal.
 */
export function curlFor({ origin, path, body, reason }: CurlInput): string {
  const headers = ['Authorization: Bearer $TOKEN', 'Content-Type: application/json'].map((text) => ` -H "${text}"`);
  const why = reason.trim() === '' ? '' : ` -H ${quoted(`X-Reason: ${reason.trim()}`)}`;
  return `curl -sS ${quoted(`${origin}${path}`)}${headers.join('')}${why} --data-binary @- <<'END'\n${body}\nEND\n`;
}

interface CurlInput {
  origin: string;
  /** The path with the query. */
  path: string;
  /** JSON. */
  body: string;
  reason: string;
}

/** Returns the text quoted for a POSIX shell. */
const quoted = (text: string): string => quoteForShell(text.replaceAll(/[\r\n]+/g, ' '));
