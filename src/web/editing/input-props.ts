/** The common props of member inputs. */
import type { Member } from './members.js';

/** The names to choose from. */
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
