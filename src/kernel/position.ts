/** Places in the log, as text. */

/** From 1, and no longer than JavaScript counts exactly. */
const POSITION = /^[1-9]\d{0,14}$/;

/** Whether a text is a position as it is written: no sign, no zero before it. */
export const isPosition = (text: string): boolean => POSITION.test(text);
