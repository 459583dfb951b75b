/** The SQLSTATE that the short transaction raises if a prepared object is missing or invalid. */
export const PREPARATION_LOST = 'DPS02';
