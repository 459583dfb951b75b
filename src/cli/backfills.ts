import { isObject, type Json } from '../kernel/json.js';
import { locationText } from '../schema/model/location.js';
import { UsageError, type Values, texts } from './command.js';
import { type DocumentBody, parseDocument } from './document.js';
import { parseObjectName } from './object-name.js';
import { shellWord } from './planned-changes.js';

interface RequestedBackfill {
  collection: string;
  field: string;
  backfill: Json;
}

/**
 * Adds the backfills of --backfill to a diff.
 * @param file the name of the diff, for messages
 * @throws UsageError if an option is malformed, or if the diff does not change its field
 */
export function addBackfills(values: Values, body: DocumentBody, file: string): DocumentBody {
  const requested = texts(values, 'backfill').map(parseBackfill);
  if (requested.length === 0) return body;
  const document = structuredClone(parseDocument(body, file)) as { diff?: { fields?: unknown } };
  const fields = document.diff?.fields;
  const items = Array.isArray(fields) ? fields.filter(isObject) : [];
  for (const { collection, field, backfill } of requested) {
    // A replaced field has two items, first its removal and then its addition.
    const item = items.findLast((each) => each['collection'] === collection && each['field'] === field);
    if (item === undefined)
      throw new UsageError(`--backfill: the change does not contain the field ${locationText({ collection, field })}.`);
    item['backfill'] = backfill;
  }
  return { type: 'application/json', content: Buffer.from(JSON.stringify(document)) };
}

const EXAMPLE = '--backfill must be FIELD=JSON, for example \'orders.status={"value": "new"}\'';

function parseBackfill(option: string): RequestedBackfill {
  const [, place, text = ''] = /^(.+?)=(\{.*)$/su.exec(option) ?? [];
  if (place === undefined) throw new UsageError(`${EXAMPLE}.`);
  const { collection, field } = parseObjectName(place);
  if (field === undefined) throw new UsageError(`${EXAMPLE}. ${shellWord(place)} is not a field.`);
  try {
    return { collection, field, backfill: JSON.parse(text) as Json };
  } catch {
    throw new UsageError(`${EXAMPLE}. The text after the equals sign of ${shellWord(place)} is not JSON.`);
  }
}
