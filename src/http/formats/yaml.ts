/** YAML in and out: the core schema of YAML 1.2, which has JSON's values and nothing else. */
import { constructFromEvents, CORE_SCHEMA, dump, type Event, EVENT_ID, parseEvents, YAMLException } from 'js-yaml';

/** Deeper than any document that is accepted, shallow enough for the parser's recursion. */
const MAX_DEPTH = 100;
const MAX_ALIASES = 10_000;
/** Nodes of a document once its aliases are followed; the largest body holds fewer without any. */
const MAX_NODES = 10_000_000;

/** Why a text is no YAML document that we take. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/**
 * The one document in `text`. No tags beyond the core schema's, no duplicate keys, and no more nodes behind aliases than
 * a document could hold without them. Throws `YamlError`.
 */
export function parseYaml(text: string): unknown {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    checkSize(events, text);
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA, maxAliases: MAX_ALIASES });
    if (documents.length === 1) return documents[0];
    throw new YamlError(`expected one document, found ${documents.length}`);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new YamlError(describe(error));
  }
}

/**
 * YAML that reads back as the same value, here and in readers of YAML 1.1: strings that either version would take for
 * something else are quoted. No anchors, no folding.
 */
export function writeYaml(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: -1 });
}

function describe({ reason, mark }: YAMLException): string {
  return mark ? `${reason} (line ${mark.line + 1}, column ${mark.column + 1})` : reason;
}

interface Open {
  anchor: string | null;
  size: number;
}

/** Counts nodes as if every alias were written out, without writing them out. */
function checkSize(events: readonly Event[], source: string): void {
  const sizes = new Map<string, number>();
  const open: Open[] = [{ anchor: null, size: 0 }];
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) open.push({ anchor: null, size: 0 });
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      open.push({ anchor: anchorOf(event, source), size: 1 });
    } else close(event, { source, sizes, open });
  }
}

interface Count {
  source: string;
  /** By anchor, of nodes that are complete. */
  sizes: Map<string, number>;
  open: Open[];
}

function close(event: Event, { source, sizes, open }: Count): void {
  const node = finished(event, { source, sizes, open });
  const parent = open.at(-1);
  if (node.anchor !== null) sizes.set(node.anchor, node.size);
  if (parent !== undefined) parent.size += node.size;
  if (parent !== undefined && parent.size > MAX_NODES) throw new YamlError('its aliases stand for too many nodes');
}

function finished(event: Event, { source, sizes, open }: Count): Open {
  if (event.type === EVENT_ID.POP) return open.pop() ?? { anchor: null, size: 0 };
  if (event.type === EVENT_ID.SCALAR) return { anchor: anchorOf(event, source), size: 1 };
  if (event.type !== EVENT_ID.ALIAS) return { anchor: null, size: 0 };
  const name = source.slice(event.anchorStart, event.anchorEnd);
  // An anchor that is still open would make the value contain itself.
  if (open.some(({ anchor }) => anchor === name)) throw new YamlError(`the alias "${name}" stands inside its anchor`);
  return { anchor: null, size: sizes.get(name) ?? 1 };
}

function anchorOf(event: { anchorStart: number; anchorEnd: number }, source: string): string | null {
  return event.anchorStart < 0 ? null : source.slice(event.anchorStart, event.anchorEnd);
}
