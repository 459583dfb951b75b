/** What the input of a member is given, whatever its kind. */
import type { Member } from './members.js';

/** What names can be chosen from. */
export interface Choices {
  fields: readonly string[];
  /** Fields without a column. */
  aliases: readonly string[];
  collections: readonly string[];
}

export interface InputProps {
  member: Member;
  value: unknown;
  onChange: (value: unknown) => void;
  onBlur: () => void;
  ref: (element: unknown) => void;
  error: string | undefined;
  choices: Choices;
}
