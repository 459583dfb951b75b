/* Compares the options of views. */
import { type Node, list, member, stringOf } from './expression.js';

/** Returns the options in one form. PostgreSQL stores the check option among the other options. */
export function optionsOf({ options, withCheckOption, into }: Node): string {
  const assignments = list(options ?? (into as Node | undefined)?.['options']).map((each) => {
    const option = member(each, 'DefElem');
    return `${String(option?.['defname'])}=${valueOf(option?.['arg'])}`;
  });
  const check = typeof withCheckOption === 'string' ? withCheckOption.split('_')[0]?.toLowerCase() : undefined;
  if (check === 'local' || check === 'cascaded') assignments.push(`check_option=${check}`);
  return assignments.sort().join();
}

const TRUE: ReadonlySet<string> = new Set(['true', 'on', 'yes', '1', 'undefined']);
const FALSE: ReadonlySet<string> = new Set(['false', 'off', 'no', '0']);

function valueOf(arg: unknown): string {
  const [value] = Object.values((Object.values((arg as object | undefined) ?? {})[0] as object | undefined) ?? {});
  const text = String(Array.isArray(value) ? stringOf(value[0]) : value).toLowerCase();
  return TRUE.has(text) ? 'true' : FALSE.has(text) ? 'false' : text;
}
