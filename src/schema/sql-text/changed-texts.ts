/**
 * Checks the SQL texts that a change introduces. Existing texts are not checked again, so the log and adopted objects
 * stay usable if the list gets shorter.
 */
import { MAX_PROBLEMS, type Problem, type Subject, about, problemsOfEach } from '../../kernel/problem.js';
import { type CollectionNode, type State, extrasOf } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { checkSqlText } from './check-sql-text.js';
import { type TextContext, textContextOf } from './text-context.js';
import { type SqlText, textsOfField, textsOfTable } from './texts.js';

/** @param touched the collections that may differ between the two states */
export function* sqlTextProblems(from: State, to: State, touched: Iterable<string>): Resumable<Problem[]> {
  const problems: Problem[] = [];
  for (const name of touched) {
    if (problems.length >= MAX_PROBLEMS) break;
    const node = to.collections.get(name);
    if (node !== undefined) problems.push(...(yield* problemsOf(from.collections.get(name), node)));
    yield;
  }
  return problems;
}

function* problemsOf(before: CollectionNode | undefined, node: CollectionNode): Resumable<Problem[]> {
  const { collection } = node.collection;
  let around: TextContext | undefined;
  const check = (texts: readonly SqlText[], field?: string): Problem[] =>
    texts.flatMap(({ kind, text, path }) => {
      const fault = checkSqlText(kind, text, (around ??= textContextOf(node)));
      if (fault === null) return [];
      const subject: Subject =
        field === undefined
          ? { kind: 'collection', collection, member: path }
          : { kind: 'field', collection, field, member: path };
      return [about(subject, `${path.at(-1)} ${fault}`)];
    });
  const ofTable = check(newTexts(tableTexts(before), tableTexts(node)));
  const ofFields = yield* problemsOfEach(node.fields.values(), (field) => {
    const known = before?.fields.get(field.field);
    if (field === known) return [];
    return check(newTexts(known === undefined ? [] : textsOfField(known), textsOfField(field)), field.field);
  });
  return [...ofTable, ...ofFields];
}

const tableTexts = (node: CollectionNode | undefined): SqlText[] => textsOfTable(extrasOf(node));

/** Ignores the location: the same text under another index name is not new. */
function newTexts(before: readonly SqlText[], after: readonly SqlText[]): SqlText[] {
  if (after.length === 0) return [];
  const known = new Set(before.map(({ kind, text }) => `${kind}\0${text}`));
  return after.filter(({ kind, text }) => !known.has(`${kind}\0${text}`));
}
