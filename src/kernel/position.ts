/** Positions in the log as text. */

/** Positions begin at 1. They have at most 15 digits, which JavaScript numbers represent exactly. */
const POSITION = /^[1-9]\d{0,14}$/;

/** True for a position without sign and leading zeros. */
export const isPosition = (text: string): boolean => POSITION.test(text);
