import { type Draft, EMPTY, type Edit, PARTS } from './model.js';

const VERSION = 1;

type Pairs<T> = [string, T][];

interface Kept {
  version: typeof VERSION;
  position: number;
  names: { collections: Pairs<string>; fields: Pairs<Pairs<string>> };
  collections: Pairs<Edit<object>>;
  fields: Pairs<Edit<object>>;
  relations: Pairs<Edit<object>>;
}

/** JSON for `readDraft`. */
export function draftText({ position, names, collections, fields, relations }: Draft): string {
  const kept: Kept = {
    version: VERSION,
    position,
    names: {
      collections: [...names.collections],
      fields: [...names.fields].map(([name, former]) => [name, [...former]]),
    },
    collections: [...collections],
    fields: [...fields],
    relations: [...relations],
  };
  return JSON.stringify(kept);
}

/** Invalid drafts and those of another release are read as empty. */
export function readDraft(text: string | null): Draft {
  if (text === null) return EMPTY;
  try {
    const kept = JSON.parse(text) as Kept;
    if (kept.version !== VERSION) return EMPTY;
    const [collections, fields, relations] = PARTS.map((part) => new Map(kept[part]));
    return {
      position: kept.position,
      names: {
        collections: new Map(kept.names.collections),
        fields: new Map(kept.names.fields.map(([name, former]) => [name, new Map(former)])),
      },
      collections,
      fields,
      relations,
    } as Draft;
  } catch {
    return EMPTY;
  }
}
