/* Reads the parts of CREATE AGGREGATE from the output of PostgreSQL's parser. */
import { type Node, list, member, stringOf } from './expression.js';
import { fingerprintOf } from './renamed-text.js';
import { type RoutineParts, modeOf, readInputs, typesIn } from './routine.js';

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
