/**
 * Names that PostgreSQL chooses itself and changes if they exist: sequences of identity columns, and NOT NULL
 * constraints. In another creation order, another object with such a name would conflict.
 */
import { quoted } from '../../kernel/quoted.js';
import { NOT_NULL_SUFFIX, notNullName, identitySequenceName } from '../model/constraint-names.js';
import { isIdentity } from '../model/extras.js';
import type { Field } from '../model/model.js';
import { type Problem, type Subject, about, problemsOfEach } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type CollectionNode, type State, hasTable } from '../model/state.js';

/**
 * Reports a sequence named like a table of the schema, and a foreign key named like a NOT NULL constraint of its table.
 */
export function* implicitNameProblems(state: State, node: CollectionNode): Resumable<Problem[]> {
  return [...(yield* sequenceProblems(state, node)), ...notNullProblems(node)];
}

interface Taken {
  name: string;
  kind: string;
  /** Its owner. */
  of: string;
}

function problem({ name, kind, of }: Taken, subject: Subject): Problem {
  const message = `${quoted(name)} is the name of ${kind} ${of}: choose another name`;
  const taken = [{ name, kind: kind.replace(/^the /, '') }];
  return about(subject, message, { code: 'ALREADY_EXISTS', details: { taken } });
}

/** Null if it has none, or one with another name. */
function sequenceOf({ collection, field, schema }: Field): string | null {
  if (schema === null || !isIdentity(schema) || schema.extras?.sequence?.name !== undefined) return null;
  return identitySequenceName(collection, field);
}

/** PostgreSQL itself reports the reverse case. */
function sequenceProblems(state: State, node: CollectionNode): Resumable<Problem[]> {
  const { collection } = node.collection;
  return problemsOfEach(node.fields.values(), (field) => {
    const name = sequenceOf(field);
    if (name === null || !hasTable(state, name)) return [];
    const taken = { name, kind: 'the table', of: 'that the sequence of this column would be called like' };
    const member = ['schema', 'has_auto_increment'];
    return [problem(taken, { kind: 'field', collection, field: field.field, member })];
  });
}

function notNullProblems(node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const suspects = [...node.relations.values()].filter(({ schema }) =>
    schema?.constraint_name?.endsWith(NOT_NULL_SUFFIX),
  );
  if (suspects.length === 0) return [];
  const names = new Map([...node.fields.values()].flatMap(notNullOf));
  return suspects.flatMap(({ many_field: field, schema }) => {
    const name = schema?.constraint_name ?? '';
    const column = names.get(name);
    if (column === undefined) return [];
    const of = `of ${quoted(column)}`;
    const member = ['schema', 'constraint_name'];
    return [problem({ name, kind: 'the NOT NULL', of }, { kind: 'relation', collection, field, member })];
  });
}

function notNullOf({ collection, field, schema }: Field): [string, string][] {
  if (schema === null || schema.is_nullable || schema.extras?.not_null_name !== undefined) return [];
  return [[notNullName(collection, field), field]];
}
