/* Reads the parts of CREATE TRIGGER from the output of PostgreSQL's parser. */
import { type Node, list, stringOf } from './expression.js';

export interface TriggerParts {
  isConstraint: boolean;
  /** True for INSTEAD OF, which only views can have. */
  isInsteadOf: boolean;
  isForEachRow: boolean;
}

/** TRIGGER_TYPE_INSTEAD of PostgreSQL. */
const INSTEAD_OF = 64;

export const readTriggerParts = ({ isconstraint, timing, row }: Node): TriggerParts => ({
  isConstraint: isconstraint === true,
  isInsteadOf: timing === INSTEAD_OF,
  isForEachRow: row === true,
});

/** A relation or a function that the statement names. */
interface QualifiedName {
  schema: string | undefined;
  name: string;
}

/** Returns the statement without the names of the trigger and of its table. */
export function triggerRest(statement: Node): Node {
  const { trigname: _name, relation: _relation, replace: _replace, ...rest } = statement;
  return rest;
}

/** Returns the table or view of the trigger, and the table after FROM. */
export const triggerRelations = ({ relation, constrrel }: Node): QualifiedName[] =>
  [relation, constrrel].flatMap((each) => {
    const { schemaname, relname } = (each as Node | undefined) ?? {};
    return typeof relname === 'string'
      ? [{ schema: typeof schemaname === 'string' ? schemaname : undefined, name: relname }]
      : [];
  });

/** The function that the trigger calls. */
export function triggerFunction({ funcname }: Node): QualifiedName {
  const [name = '', schema] = list(funcname).map(stringOf).reverse();
  return { schema, name };
}
