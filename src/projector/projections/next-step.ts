/** How an operator can resume a stopped projection. */

interface Stopped {
  collection: string;
  field: string | null;
  sqlstate: string | null;
}

/** Maps a SQLSTATE or its class to a remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  '42501': 'Give the database user the right to create indexes there (it must own the table)',
  '42704': 'This type of column can have no such index: give the index up',
  '54000': 'A value is too large for such an index: shorten it, or give the index up',
  '57014': 'Something cancelled the build: look for a statement_timeout of the server',
  '55P03': 'Something holds a lock on the table: let it finish',
  '40P01': 'The build met a deadlock: nothing has to be done but to try again',
  '53': 'The server is short of disk, memory or connections: make room',
  '58': "The server's own system failed it: look into PostgreSQL's log",
  XX: 'PostgreSQL met an inner error: look into its log',
};

/** Sentences that name the remedy and how to resume. */
export function nextStep(projection: string, { collection, field, sqlstate }: Stopped): string {
  const remedy = remedyOf(sqlstate) ?? 'Mend what the message says';
  const giveUp =
    field === null ? '' : ` To give the index up, set schema.is_indexed of ${collection}.${field} to false.`;
  return (
    `${remedy}; then "dps rebuild ${projection}" or POST /projections/${projection}/rebuild tries again at once ` +
    `(it is also tried again by itself, with growing pauses).${giveUp}`
  );
}

function remedyOf(sqlstate: string | null): string | undefined {
  if (sqlstate === null) return undefined;
  for (const key of [sqlstate, sqlstate.slice(0, 2)]) if (Object.hasOwn(REMEDIES, key)) return REMEDIES[key];
  return undefined;
}
