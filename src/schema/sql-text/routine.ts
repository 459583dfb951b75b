/* Reads the parts of CREATE FUNCTION and CREATE PROCEDURE from the output of PostgreSQL's parser, and arguments. */
import { routineId } from '../model/object-ids.js';
import { type Node, list, member, stringOf } from './expression.js';
import { quotedName } from './quoted-name.js';
import { fingerprintOf } from './compare-and-rename.js';

export interface RoutineParts {
  /** The argument types as PostgreSQL prints them: `integer, text[]`. */
  argumentTypes: string;
  /**
   * Names, modes and types of the arguments and the result. PostgreSQL replaces a function only if these stay equal.
   * Only an argument without a name may get one.
   */
  signature: string;
  argumentNames: readonly string[];
  /** The number of arguments with a default. CREATE OR REPLACE cannot reduce it. */
  defaults: number;
  isSecurityDefiner: boolean;
  setsSearchPath: boolean;
  /**
   * The types of arguments and results that do not belong to PostgreSQL itself. The row type of a table has the name of
   * the table.
   */
  types: readonly { schema: string | undefined; name: string }[];
}

/** Maps names of types in the parser's output, or quoted names, to PostgreSQL's spelling. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['int2', 'smallint'],
  ['int4', 'integer'],
  ['int8', 'bigint'],
  ['float4', 'real'],
  ['float8', 'double precision'],
  ['bool', 'boolean'],
  ['varchar', 'character varying'],
  ['bpchar', 'character'],
  ['varbit', 'bit varying'],
  ['bit', 'bit'],
  ['numeric', 'numeric'],
  ['interval', 'interval'],
  ['json', 'json'],
  ['time', 'time without time zone'],
  ['timetz', 'time with time zone'],
  ['timestamp', 'timestamp without time zone'],
  ['timestamptz', 'timestamp with time zone'],
]);

/** Returns the name of a type as PostgreSQL prints it without length, or a sentence that follows "must". */
function readArgumentType(type: Node): { text: string } | string {
  const names = list(type['names']).flatMap((each) => stringOf(each) ?? []);
  const own = names[0] === 'pg_catalog' ? names.slice(1) : names;
  const name = own.at(-1) ?? '';
  if (type['pct_type'] === true) return 'must not contain %TYPE: PostgreSQL replaces it with the type at that time';
  if (own.length > 1 && own[0] === 'public')
    return `must not write the schema public in the argument type ${JSON.stringify(name)}, because PostgreSQL omits it`;
  if (name.startsWith('_')) return `must write an array type with [] instead of ${JSON.stringify(name)}`;
  const text = (own.length === 1 && SPELLINGS.get(name)) || own.map(quotedName).join('.');
  return { text: list(type['arrayBounds']).length > 0 ? `${text}[]` : text };
}

/** Returns the id in a statement about a function, such as GRANT. Undefined if no definition can have this id. */
export function routineIdIn(routine: Node): string | undefined {
  const types = list(routine['objargs']).map((each) => readArgumentType(member(each, 'TypeName') ?? {}));
  const texts = types.flatMap((type) => (typeof type === 'string' ? [] : [type.text]));
  const [name, schema] = list(routine['objname']).map(stringOf).reverse();
  const isNamed = texts.length === types.length && routine['args_unspecified'] !== true;
  return name !== undefined && isNamed ? routineId(name, texts.join(', '), schema) : undefined;
}

const INPUT: ReadonlySet<unknown> = new Set(['IN', 'INOUT', 'VARIADIC']);

/** @returns a sentence that follows "must" if the statement is not accepted */
export function readRoutineParts({ parameters, returnType, options }: Node): RoutineParts | string {
  if (list(options).some(isNativeLanguage)) return 'must not be written in C, because PostgreSQL would load a library';
  const all = list(parameters).map((each) => member(each, 'FunctionParameter') ?? {});
  const inputs = readInputs(all);
  if (typeof inputs === 'string') return inputs;
  const result = readResult(returnType as Node | undefined);
  if (typeof result === 'string') return result;
  return {
    argumentTypes: inputs.types.join(', '),
    signature: JSON.stringify([inputs.signature, result.text]),
    argumentNames: inputs.names,
    defaults: all.filter(({ defexpr }) => defexpr !== undefined).length,
    ...securityOf(options),
    types: typesIn([...all.map(({ argType }) => argType), returnType]),
  };
}

interface Inputs {
  /** The types of the input arguments. */
  types: string[];
  /** The modes and types of all arguments. */
  signature: string[];
  /** The names of all arguments. Empty for an argument without a name. */
  names: string[];
}

/** @returns a sentence that follows "must" if a type is not accepted */
function readInputs(parameters: readonly Node[]): Inputs | string {
  const inputs: Inputs = { types: [], signature: [], names: [] };
  for (const parameter of parameters) {
    const { name } = parameter;
    const mode = modeOf(parameter);
    const type = readArgumentType(parameter['argType'] as Node);
    if (typeof type === 'string') return type;
    if (INPUT.has(mode)) inputs.types.push(type.text);
    inputs.names.push(typeof name === 'string' ? name : '');
    inputs.signature.push(`${mode} ${type.text}`);
  }
  return inputs;
}

function readResult(type: Node | undefined): { text: string } | string {
  const read = type === undefined ? { text: '' } : readArgumentType(type);
  if (typeof read === 'string') return read;
  return { text: type?.['setof'] === true ? `SETOF ${read.text}` : read.text };
}

/**
 * True for the languages C and internal. PostgreSQL loads the library of a C function when it creates the function,
 * even if only to compare it.
 */
function isNativeLanguage(option: unknown): boolean {
  const { defname, arg } = member(option, 'DefElem') ?? {};
  return defname === 'language' && /^(?:c|internal)$/i.test(stringOf(arg) ?? '');
}

/** Returns the mode of an argument. An argument without a mode is an input. */
function modeOf({ mode }: Node): string {
  const word = String(mode).replace('FUNC_PARAM_', '');
  return word === 'DEFAULT' ? 'IN' : word;
}

function securityOf(options: unknown): Pick<RoutineParts, 'isSecurityDefiner' | 'setsSearchPath'> {
  const all = list(options).map((each) => member(each, 'DefElem') ?? {});
  const setting = (each: Node) => member(each['arg'], 'VariableSetStmt');
  return {
    isSecurityDefiner: all.some(
      (each) => each['defname'] === 'security' && member(each['arg'], 'Boolean')?.['boolval'] === true,
    ),
    setsSearchPath: all.some(
      (each) =>
        each['defname'] === 'set' &&
        setting(each)?.['name'] === 'search_path' &&
        setting(each)?.['kind'] !== 'VAR_SET_DEFAULT',
    ),
  };
}

function typesIn(types: readonly unknown[]): RoutineParts['types'] {
  return types.flatMap((type) => {
    const names = list((type as Node | undefined)?.['names']).flatMap((each) => stringOf(each) ?? []);
    const name = names.at(-1);
    if (name === undefined || names[0] === 'pg_catalog') return [];
    return [{ schema: names.length > 1 ? names.at(-2) : undefined, name }];
  });
}

/**
 * Returns the statement without its name, in a form that does not depend on the order of options or on explicit
 * defaults.
 */
export function routineRest(statement: Node): Node {
  const { parameters, options, funcname: _name, replace: _replace, ...rest } = statement;
  return {
    ...rest,
    parameters: list(parameters).map((each) => {
      const parameter = member(each, 'FunctionParameter') ?? {};
      return { ...parameter, mode: modeOf(parameter) };
    }),
    options: list(options)
      .map((each) => fingerprintOf(each as Node))
      .sort(),
  };
}

/** True if CREATE OR REPLACE can turn one routine into the other. */
export function isReplaceable(before: RoutineParts, after: RoutineParts): boolean {
  return (
    before.signature === after.signature &&
    before.defaults <= after.defaults &&
    before.argumentNames.every((name, index) => name === '' || name === after.argumentNames[index])
  );
}

/* Reads the parts of CREATE AGGREGATE from the output of PostgreSQL's parser. */

/** Options that name a function. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  'sfunc',
  'finalfunc',
  'combinefunc',
  'serialfunc',
  'deserialfunc',
  'msfunc',
  'minvfunc',
  'mfinalfunc',
]);

/** Options that name a type. */
const TYPES: ReadonlySet<string> = new Set(['stype', 'mstype']);

/** PostgreSQL ignores other options with a warning. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...FUNCTIONS,
  ...TYPES,
  'sspace',
  'finalfunc_extra',
  'finalfunc_modify',
  'initcond',
  'msspace',
  'mfinalfunc_extra',
  'mfinalfunc_modify',
  'minitcond',
  'sortop',
  'parallel',
  'hypothetical',
]);

/** Options that, with the arguments, determine the type of the result. CREATE OR REPLACE cannot change it. */
const OF_RESULT: ReadonlySet<string> = new Set(['stype', 'finalfunc', 'finalfunc_extra', 'hypothetical']);

interface AggregateParts {
  routine: RoutineParts;
  /** The support functions. */
  calls: { schema: string | undefined; name: string }[];
}

/** @returns a sentence that follows "must" if the statement is not accepted */
export function readAggregateParts(created: Node): AggregateParts | string {
  const options = optionsOf(created);
  const fault = faultOf(created, options);
  if (fault !== null) return fault;
  const parameters = parametersOf(created);
  const inputs = readInputs(parameters);
  if (typeof inputs === 'string') return inputs;
  const calls = options.flatMap(([name, arg]) => (FUNCTIONS.has(name) ? functionIn(arg) : []));
  if (calls.some(({ isDeep }) => isDeep)) return 'must not name a database';
  const types = options.flatMap(([name, arg]) => (TYPES.has(name) ? [member(arg, 'TypeName')] : []));
  const ofResult = options.flatMap(([name, arg]) => (OF_RESULT.has(name) ? `${name} ${fingerprintOf({ arg })}` : []));
  return {
    routine: {
      argumentTypes: inputs.types.join(', '),
      signature: JSON.stringify([inputs.signature, directArguments(created), ofResult.sort()]),
      argumentNames: inputs.names,
      defaults: 0,
      isSecurityDefiner: false,
      setsSearchPath: false,
      types: typesIn([...parameters.map(({ argType }) => argType), ...types]),
    },
    calls: calls.map(({ schema, name }) => ({ schema, name })),
  };
}

function faultOf({ oldstyle }: Node, options: readonly (readonly [string, unknown])[]): string | null {
  if (oldstyle === true) return 'must write the argument types in parentheses before the options, instead of BASETYPE';
  const names = options.map(([name]) => name);
  const unknown = names.find((name) => !OPTIONS.has(name));
  if (unknown !== undefined)
    return `must not contain the option ${JSON.stringify(unknown)}, which PostgreSQL ignores or replaces`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `must contain the option ${JSON.stringify(twice)} only once`;
}

const optionsOf = ({ definition }: Node): (readonly [name: string, arg: unknown])[] =>
  list(definition).map((each) => {
    const { defname, arg } = member(each, 'DefElem') ?? {};
    return [String(defname), arg];
  });

const parametersOf = ({ args }: Node): Node[] =>
  list(member(list(args)[0], 'List')?.['items']).map((each) => member(each, 'FunctionParameter') ?? {});

/** The number of arguments before ORDER BY. Minus one for an aggregate without ORDER BY. */
const directArguments = ({ args }: Node): number => Number(member(list(args)[1], 'Integer')?.['ival'] ?? 0);

/** PostgreSQL's own functions are omitted. */
function functionIn(arg: unknown): (AggregateParts['calls'][number] & { isDeep: boolean })[] {
  const names = list(member(arg, 'TypeName')?.['names']).flatMap((each) => stringOf(each) ?? []);
  const [name, schema] = [...names].reverse();
  if (name === undefined || names[0] === 'pg_catalog') return [];
  return [{ schema, name, isDeep: names.length > 2 }];
}

/** Returns the statement without its name, in a form that does not depend on the order of options. */
export const aggregateRest = (created: Node): Node => ({
  parameters: parametersOf(created).map((each) => ({ ...each, mode: modeOf(each) })),
  direct: directArguments(created),
  definition: list(created['definition'])
    .map((each) => fingerprintOf(each as Node))
    .sort(),
});
