/* Adds an edit to the draft after the service accepted it. */
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, createContext, useContext } from 'react';
import type { FieldErrors, FieldValues, Resolver, UseFormReturn } from 'react-hook-form';
import { isObject } from '../../kernel/json.js';
import type { ObjectDiff, SchemaDiff } from '../../schema/diff/diff.js';
import { InvalidValue, type Checks } from '../../schema/normal-form/checks.js';
import { draftDiff } from '../draft/diff.js';
import { DraftEditor } from '../draft/editor.js';
import { type Draft, PARTS, type Part, formerName, objectKeyOf, renamedKeys } from '../draft/model.js';
import { currentDraft, editSchema, readHead, readSource } from '../draft/store.js';
import { infoQuery } from '../service/queries.js';
import { explain, rehearse } from '../service/review-queries.js';
import { storeText as keepText } from '../shared/browser-storage.js';
import { useHere } from '../shared/focus.js';
import { ServiceError, readAnswer } from '../service/send.js';
import { answerTo } from '../service/request.js';
import { useMay, useSession } from '../service/session.js';
import type { Plan, Problem } from '../service/types.js';

/* The name under which a form stores input. The same form of the same user has the same name again. */

export const FormName = createContext<string | null>(null);

/** Returns the name of the form. Null if its input is not stored. */
export function useFormName(): string | null {
  const name = useContext(FormName);
  const session = useSession();
  return name === null || !('user' in session) ? null : `dps.form.${session.user.id} ${name}`;
}

/* Validates a draft with the service before it is stored. The service uses the database only for objects. */

interface Fault {
  part: Part;
  /** The key of the document with the fault. Null if it is not one of the documents that were sent. */
  key: string | null;
  /** The member in the document: `schema.max_length`. */
  member: string;
  message: string;
  /** True for another object of the draft, which the edit would break. */
  isOther?: boolean;
}

/**
 * Returns the faults of the draft. Empty if it is valid or the service does not respond. In both cases the draft is
 * kept.
 */
async function findFaults(draft: Draft, names: { release: string }): Promise<Fault[]> {
  const keys = Object.fromEntries(TABLE_PARTS.map((part) => [part, keysOf(draft, part)])) as Record<Part, string[]>;
  const documents = Object.fromEntries(
    TABLE_PARTS.map((part) => [part, keys[part].map((key) => documentOf(draft, part, key))]),
  );
  const body = { version: 1, service: names.release, vendor: 'postgres', ...documents };
  try {
    await readAnswer(await answerTo('diffSnapshot', { query: { mode: 'merge' }, body }));
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 400) return [];
    return error.problems.map(({ message, extensions: { path = '' } }) => ({ ...placeOf(path, keys), message }));
  }
}

/** The parts without objects, which only a plan can check. */
const TABLE_PARTS = PARTS.filter((part) => part !== 'objects');

function keysOf(draft: Draft, part: Part): string[] {
  const edited = [...draft[part]].flatMap(([key, { after }]) => (after === null ? [] : [key]));
  return [...new Set([...edited, ...renamedKeys(draft, part)])];
}

/** Returns the document to send. Omitted members are unchanged, so a document with only a new name is complete. */
function documentOf(draft: Draft, part: Part, key: string): object {
  const [collection = '', field] = key.split('\0');
  const former = formerName(draft, part, key);
  const named = part === 'relations' ? {} : { collection, ...(field !== undefined && { field }) };
  return { ...named, ...draft[part].get(key)?.after, ...(former !== undefined && { renamed_from: former }) };
}

const PLACE = /^(collections|fields|relations)\[(\d+)\](?:\.(.*))?$/;

function placeOf(path: string, keys: Record<Part, string[]>): Omit<Fault, 'message'> {
  const [, part, index, member = ''] = PLACE.exec(path) ?? [];
  if (part === undefined) return { part: 'collections', key: null, member: path };
  return { part: part as Part, key: keys[part as Part][Number(index)] ?? null, member };
}

/**
 * Returns the faults of the objects in the draft. PostgreSQL runs the draft and rolls it back, unless it would rewrite a
 * table, or the user may not apply changes.
 */
async function findObjectFaults(draft: Draft, mayRun: boolean): Promise<Fault[]> {
  try {
    const { hash, diff } = draftDiff(draft, await readHead(draft));
    const applying = { hash, diff: () => diff, online: false, purge: false };
    const faultsIn = (problems: readonly Problem[], events: Plan['events'] = []) =>
      problems.flatMap((problem) => objectFaults(diff, events, problem));
    try {
      const { errors = [], events, statements } = await explain(applying);
      if (errors.length > 0 || !mayRun || statements.some(({ rewrites_table: isRewrite }) => isRewrite))
        return faultsIn(errors, events);
      const run = await rehearse(applying);
      return faultsIn(run.errors ?? [], run.events);
    } catch (error) {
      return error instanceof ServiceError ? faultsIn(error.problems) : [];
    }
  } catch {
    return [];
  }
}

const OBJECT_PLACE = /^diff\.objects\[(\d+)\](?:\.diff\[(\d+)\])?(?:\.[lr]hs)?\.?(.*)$/;

/** Problems that the review shows, because another change or the policy causes them. */
const FOR_REVIEW: ReadonlySet<string> = new Set(['SCHEMA_CHANGED', 'POLICY_REFUSED', 'LOCK_TIMEOUT']);

/** Returns the faults of objects in a problem. Empty for problems of tables, and without a key for those of no item. */
function objectFaults(diff: SchemaDiff, events: Plan['events'], { message, extensions }: Problem): Fault[] {
  if (FOR_REVIEW.has(extensions.code)) return [];
  const { path = '', collection, event } = extensions;
  const subject = typeof event === 'number' ? events[event]?.subject : undefined;
  const { item, member } = findItem(diff.objects ?? [], path, ({ kind, id }) =>
    subject ? subject['kind'] === kind && subject['id'] === id : id === collection,
  );
  if (item !== undefined) return [{ part: 'objects', key: objectKeyOf(item), member, message }];
  return isAboutTable(diff, subject, collection) ? [] : [{ part: 'objects', key: null, member: '', message }];
}

interface ObjectLocation {
  item: ObjectDiff | undefined;
  member: string;
}

/** @param isMeant finds the item if the path names none */
function findItem(items: readonly ObjectDiff[], path: string, isMeant: (item: ObjectDiff) => boolean): ObjectLocation {
  const [, index, entry, rest = ''] = OBJECT_PLACE.exec(path) ?? [];
  const item = items[Number(index)] ?? items.find(isMeant);
  const changed = item?.diff[Number(entry)];
  const steps = changed !== undefined && 'path' in changed ? changed.path : [];
  return { item, member: [...steps, rest].filter((step) => step !== '').join('.') };
}

/** True if a change to a table in the same draft causes the problem. */
const isAboutTable = (diff: SchemaDiff, subject: object | null | undefined, name: string | undefined): boolean =>
  subject === null || [...diff.collections, ...diff.fields].some(({ collection }) => collection === name);

export interface KeepEditState {
  isChecking: boolean;
  /** Faults of members that the form does not show. */
  faults: readonly Fault[];
  error: Error | null;
  /** Keeps an edit. The promise resolves to true if the edit is in the draft and the form is still open. */
  keep: (edit: Edit, options?: KeepOptions) => Promise<boolean>;
  /** Discards a running check, so that its edit does not get into the draft. */
  giveUp: () => void;
}

export type Edit = (editor: DraftEditor) => void;

interface KeepOptions {
  unchecked?: boolean;
  /** Called before the edit. Without `true`, the edit is not kept. */
  prepare?: () => Promise<boolean>;
}

interface Options {
  /** The collections that the edit may affect. */
  names: readonly string[];
  form?: UseFormReturn<FieldValues>;
  /** Returns the input that shows a fault. Null if there is none. */
  inputFor?: (fault: Fault) => string | null;
}

export function useKeep({ names, form, inputFor = ({ member }) => member }: Options): KeepEditState {
  const client = useQueryClient();
  const name = useFormName();
  const isHere = useHere();
  const mayRun = useMay('carryOut');
  const isGivenUp = useRef(false);
  const [isChecking, setChecking] = useState(false);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [error, setError] = useState<Error | null>(null);

  const faultsWith = async (edit: Edit): Promise<Fault[]> => {
    const [source, info] = await Promise.all([readSource(client, names), client.ensureQueryData(infoQuery())]);
    const { draft } = currentDraft();
    const editor = new DraftEditor(draft, source);
    edit(editor);
    const own = ownKeys(draft, editor.draft);
    const objects = [...own].filter((key) => key.startsWith('objects '));
    const fresh = await Promise.all([
      own.size === 0 || objects.length < own.size ? findFaults(editor.draft, info) : [],
      objects.length > 0 ? findObjectFaults(editor.draft, mayRun) : [],
    ]);
    const isOwn = ({ part, key }: Fault) => key === null || own.has(`${part} ${key}`);
    return fresh.flat().flatMap((fault) => {
      if (isOwn(fault)) return [fault];
      return fault.part === 'objects' ? [{ ...fault, isOther: true }] : [];
    });
  };

  /** Shows faults at their inputs, and returns those without an input. */
  const showAtInputs = (all: readonly Fault[]): Fault[] =>
    all.filter((fault) => {
      const input = form === undefined || fault.isOther === true ? null : inputFor(fault);
      if (input === null || input === '' || form?.getFieldState(input) === undefined || !hasInput(form, input))
        return true;
      form.setError(input, { type: 'service', message: fault.message }, { shouldFocus: true });
      return false;
    });

  const keep: KeepEditState['keep'] = async (edit, { unchecked = false, prepare } = {}) => {
    isGivenUp.current = false;
    setChecking(true);
    setError(null);
    try {
      if (prepare !== undefined && !(await prepare())) return false;
      const faultsOfEdit = unchecked ? [] : await faultsWith(edit);
      if (isGivenUp.current) return false;
      setFaults(showAtInputs(faultsOfEdit));
      if (faultsOfEdit.length > 0) return false;
      await editSchema(client, names, edit);
      if (name !== null) void keepText(name, null);
      return isHere();
    } catch (failure) {
      setError(failure as Error);
      return false;
    } finally {
      setChecking(false);
    }
  };
  const giveUp = () => {
    isGivenUp.current = true;
  };
  return { isChecking, faults, error, keep, giveUp };
}

const hasInput = ({ control }: UseFormReturn<FieldValues>, name: string): boolean => control._names.mount.has(name);

/** Returns the keys of the documents that an edit changes. */
function ownKeys(before: Draft, after: Draft): Set<string> {
  const own = new Set<string>();
  for (const part of PARTS)
    for (const [key, edit] of after[part]) if (before[part].get(key) !== edit) own.add(`${part} ${key}`);
  for (const key of renamedKeys(after, 'objects')) if (!before.names.objects.has(key)) own.add(`objects ${key}`);
  return own;
}

/* Validates a form with the service's own checks before any request. */

/** @param checks the checks of members by the name that contains them. `''` is the document itself */
export function createResolver<T extends FieldValues>(
  checks: Readonly<Record<string, Checks>>,
  more: (values: T) => Record<string, string> = () => ({}),
): Resolver<T> {
  return (values) => {
    const messages: Record<string, string> = { ...more(values) };
    for (const [part, table] of Object.entries(checks)) {
      const members: unknown = part === '' ? values : values[part];
      if (!isObject(members)) continue;
      for (const [member, check] of table) {
        const checked = check(members[member], false);
        if (checked instanceof InvalidValue)
          messages[part === '' ? member : `${part}.${member}`] = `${member} ${checked.message}`;
      }
    }
    const errors = nested(messages) as FieldErrors<T>;
    return Object.keys(messages).length > 0 ? { values: {}, errors } : { values, errors: {} };
  };
}

function nested(messages: Record<string, string>): object {
  const errors: Record<string, Record<string, unknown>> = {};
  for (const [path, message] of Object.entries(messages)) {
    const [first = '', second] = path.split('.', 2);
    const error = { type: 'service', message };
    if (second === undefined) errors[first] = error;
    else errors[first] = { ...errors[first], [second]: error };
  }
  return errors;
}
