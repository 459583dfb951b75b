/** What PostgreSQL is made to say in the short transaction when something that was prepared is not there, or not valid. */
export const PREPARATION_LOST = 'DPS02';
