import { isObject } from '../../kernel/json.js';

const POSTGRES_TYPES: ReadonlySet<unknown> = new Set([
  'character varying',
  'timestamp with time zone',
  'timestamp without time zone',
  'time without time zone',
]);

/** Returns the database vendor of a file. Releases before 9.22 do not record it, but type names identify PostgreSQL. */
export function vendorOf(body: Record<string, unknown>): string | undefined {
  const { vendor, fields } = body;
  if (vendor === 'cockroachdb' || vendor === 'redshift') return 'postgres';
  if (typeof vendor === 'string') return vendor;
  const list: unknown[] = Array.isArray(fields) ? fields : [];
  const isPostgres = list.some((field) => {
    const schema = isObject(field) ? field['schema'] : undefined;
    return isObject(schema) && POSTGRES_TYPES.has(schema['data_type']);
  });
  return isPostgres ? 'postgres' : undefined;
}

const NOW = 'CURRENT_TIMESTAMP';

/** Other vendors' names of default functions, without precision and outer parentheses. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['now', NOW],
  ['current_timestamp()', NOW],
  ['getdate()', NOW],
  ['getutcdate()', NOW],
  ['sysdatetime()', NOW],
  ['sysutcdatetime()', NOW],
  ['sysdatetimeoffset()', NOW],
  ['sysdate', NOW],
  ['systimestamp', NOW],
  ['localtimestamp', NOW],
  ["datetime('now')", NOW],
  ['current_date()', 'CURRENT_DATE'],
  ['curdate()', 'CURRENT_DATE'],
  ['current_time()', 'CURRENT_TIME'],
  ['curtime()', 'CURRENT_TIME'],
  ['uuid()', 'gen_random_uuid()'],
  ['newid()', 'gen_random_uuid()'],
  ['newsequentialid()', 'gen_random_uuid()'],
  ['sys_guid()', 'gen_random_uuid()'],
  ['uuid_generate_v4()', 'gen_random_uuid()'],
]);

/** Translates another vendor's function. Undefined if the text is none. */
export function vendorFunction(text: string): string | undefined {
  const plain = withoutParentheses(text.toLowerCase()).replace(/\(\d\)$/, '()');
  return FUNCTIONS.get(plain) ?? (plain === 'current_timestamp' ? NOW : undefined);
}

/** Removes parentheses around the whole text: `((0))` becomes `0`, `(a) + (b)` stays. */
function withoutParentheses(text: string): string {
  let bare = text.trim();
  while (isWrapped(bare)) bare = bare.slice(1, -1).trim();
  return bare;
}

/** Parentheses within quotes are text. */
function isWrapped(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false;
  const signs = text.replaceAll(/'(?:[^']|'')*'/g, '');
  let depth = 0;
  for (let index = 0; index < signs.length; index++) {
    if (signs[index] === '(') depth += 1;
    else if (signs[index] === ')') depth -= 1;
    if (depth === 0 && index < signs.length - 1) return false;
  }
  return depth === 0;
}

/** The meaning of a vendor's default: a value, a SQL expression, or (undefined) the literal text. */
export type VendorDefault = { value: string | null } | 'expression' | undefined;

const LITERAL = /^(?:N|E|_[a-z\d]+ *)?'((?:[^']|'')*)'(?:::[\w .,()"[\]]+)?$/i;
const BITS = /^B'([01]{1,31})'$/i;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
const CALL = /^[a-z_][\w.$]*\(.*\)$|^next value for\b|\.nextval$/is;

/**
 * `(N'x')` and `((0))` of SQL Server, `b'1'` of MySQL, `'x'` of SQLite, MariaDB and Oracle, and calls of any vendor.
 */
export function vendorDefault(text: string, vendor: string | undefined): VendorDefault {
  const bare = withoutParentheses(text);
  const isWhole = bare !== text.trim();
  const value = quotedValue(bare) ?? (isWhole && NUMBER.test(bare) ? bare : undefined);
  if (value !== undefined) return { value };
  if (isWhole && /^null$/i.test(bare)) return { value: null };
  return isExpression(bare) || (isWhole && vendor === 'mssql') ? 'expression' : undefined;
}

function quotedValue(text: string): string | undefined {
  const bits = BITS.exec(text)?.[1];
  return bits === undefined ? LITERAL.exec(text)?.[1]?.replaceAll("''", "'") : String(Number.parseInt(bits, 2));
}

/** A text may well be "now". */
const isExpression = (bare: string): boolean =>
  CALL.test(bare) || (!/^now$/i.test(bare) && vendorFunction(bare) !== undefined);
