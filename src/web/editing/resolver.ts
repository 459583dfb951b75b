/** Validates a form with the service's own checks before any request. */
import type { FieldErrors, FieldValues, Resolver } from 'react-hook-form';
import { isObject } from '../../kernel/json.js';
import { InvalidValue, type Checks } from '../../schema/normal-form/checks.js';

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
