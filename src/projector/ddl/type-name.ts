/** Which texts are the name of a PostgreSQL type: a closed list, and what the parser takes for one type and no more. */
import { loadModule, parseSync } from 'libpg-query';

await loadModule();

const SIMPLE = new Set([
  'boolean',
  'smallint',
  'integer',
  'bigint',
  'real',
  'double precision',
  'numeric',
  'text',
  'character varying',
  'character',
  'date',
  'time without time zone',
  'time with time zone',
  'timestamp without time zone',
  'timestamp with time zone',
  'interval',
  'json',
  'jsonb',
  'uuid',
  'bytea',
  'citext',
  'inet',
]);

/** Of these, with a length or precision (and scale) in parentheses. */
const MODIFIED = /^(character varying|character|numeric)\((\d{1,9})(?:,-?\d{1,4})?\)$/;

/** Whether `text` names exactly one type, arrays and modifiers included. */
export function isTypeName(text: string): boolean {
  return SIMPLE.has(text) || MODIFIED.test(text) || isParsedAsType(text);
}

/**
 * The parser of PostgreSQL 18 reads the text as the target of a cast. In parentheses on one line, so that no comment in
 * the text can swallow what follows it.
 */
function isParsedAsType(text: string): boolean {
  let tree: unknown;
  try {
    tree = parseSync(`SELECT (NULL::${text})`);
  } catch {
    return false;
  }
  const cast = onlyTarget(tree);
  return cast?.['arg'] !== undefined && 'A_Const' in (cast['arg'] as object) && isPlainType(cast['typeName']);
}

type Node = Record<string, unknown>;

/** The TypeCast that is all there is in the statement, if it is. */
function onlyTarget(tree: unknown): Node | undefined {
  const { stmts } = tree as { stmts?: { stmt: { SelectStmt?: Node } }[] };
  const select = stmts?.length === 1 ? stmts[0]?.stmt.SelectStmt : undefined;
  // A SELECT of one bare target has these members and no others; any further clause would be one more.
  if (select === undefined || Object.keys(select).some((member) => !SELECT_MEMBERS.has(member))) return undefined;
  const targets = select['targetList'] as { ResTarget: Node }[];
  const target = targets.length === 1 ? targets[0]?.ResTarget : undefined;
  return target === undefined || 'name' in target ? undefined : ((target['val'] as Node)['TypeCast'] as Node);
}

const SELECT_MEMBERS = new Set(['targetList', 'limitOption', 'op']);

function isPlainType(type: unknown): boolean {
  const { setof, pct_type } = type as { setof?: boolean; pct_type?: boolean };
  return setof !== true && pct_type !== true;
}
