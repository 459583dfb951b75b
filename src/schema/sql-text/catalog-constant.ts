/** Parses defaults in the catalog's form: literals and calls without arguments. */
import {
  type Node,
  type ParsedType,
  catalogTarget,
  integerOf,
  list,
  member,
  readTypeName,
  stringOf,
} from './expression.js';
import { memoize } from '../../kernel/memoize.js';

export type Constant =
  /** A null `text` is NULL. `casts` are ordered from the inside out. */
  | { kind: 'literal'; text: string | null; isQuoted: boolean; casts: ParsedType[] }
  /** A function without arguments: `now()`, `CURRENT_DATE`. */
  | { kind: 'call'; text: string };

/** Parses a default of pg_get_expr. Null if it is neither a literal nor a call without arguments. */
export const parseConstant = memoize((text): Constant | null => {
  let node = catalogTarget(text);
  const casts: ParsedType[] = [];
  for (let cast = member(node, 'TypeCast'); cast !== undefined; cast = member(node, 'TypeCast')) {
    const type = readTypeName(member(cast, 'typeName'));
    if (type === null) return null;
    casts.unshift(type);
    node = member(cast, 'arg');
  }
  const constant = member(node, 'A_Const');
  if (constant !== undefined) return literal(constant, casts);
  const call = casts.length === 0 ? callOf(node) : undefined;
  return call === undefined ? null : { kind: 'call', text: call };
});

function literal(constant: Node, casts: ParsedType[]): Constant | null {
  if (constant['isnull'] === true) return { kind: 'literal', text: null, isQuoted: false, casts };
  const quoted = member(constant, 'sval');
  if (quoted !== undefined) return { kind: 'literal', text: String(quoted['sval']), isQuoted: true, casts };
  const integer = integerOf(constant);
  const text = integer === undefined ? unquotedText(constant) : String(integer);
  return text === undefined ? null : { kind: 'literal', text, isQuoted: false, casts };
}

function unquotedText(constant: Node): string | undefined {
  const decimal = member(constant, 'fval');
  if (decimal !== undefined) return String(decimal['fval']);
  const truth = member(constant, 'boolval');
  return truth === undefined ? undefined : String(truth['boolval'] === true);
}

function callOf(node: Node | undefined): string | undefined {
  const keyword = member(node, 'SQLValueFunction')?.['op'];
  if (typeof keyword === 'string') return keyword.replace('SVFOP_', '');
  const call = member(node, 'FuncCall');
  if (call === undefined || call['args'] !== undefined) return undefined;
  // Includes the schema, because a function in another schema is a different one.
  return `${list(call['funcname']).map(stringOf).join('.')}()`;
}
