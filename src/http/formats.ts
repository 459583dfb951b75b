/** Formats of documents other than JSON: indented JSON, XML and YAML. */
import { constructFromEvents, CORE_SCHEMA, dump, type Event, EVENT_ID, parseEvents, YAMLException } from 'js-yaml';

/** Yields the output of `JSON.stringify(document, null, 2)` and a final newline. */
export function* indentedJsonTexts(document: object): Generator<string, void, void> {
  let before = '{\n  ';
  for (const [name, member] of Object.entries(document)) {
    yield `${before}${JSON.stringify(name)}: `;
    if (Array.isArray(member)) yield* arrayTexts(member);
    else yield indented(member, '  ');
    before = ',\n  ';
  }
  yield '\n}\n';
}

function* arrayTexts(elements: readonly unknown[]): Generator<string, void, void> {
  let before = '[\n    ';
  for (const element of elements) {
    yield before + indented(element, '    ');
    before = ',\n    ';
  }
  yield elements.length === 0 ? '[]' : '\n  ]';
}

/** Indents the JSON of a value. Every newline in it is between members or elements, because strings escape newlines. */
const indented = (value: unknown, by: string): string => JSON.stringify(value, null, 2).replaceAll('\n', `\n${by}`);

/**
 * Writes any JSON value as well-formed XML without loss.
 *
 * A member becomes an element of its name, or `<member name="…">` if the name is invalid for an element. Array
 * elements become `<item>`. `type` marks values that are not strings. Text that XML 1.0 cannot represent is encoded
 * and marked as base64.
 */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ELEMENT_NAME = /^(?!xml)[A-Za-z_][\w.-]*$/i;

/** Yields the document line by line. `root` is the name of the document element. */
export function* xmlTexts(root: string, value: unknown): Generator<string, void, void> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield* linesOf({ tag: root, open: root }, value, '');
}

interface Element {
  tag: string;
  /** The start tag with its attributes. */
  open: string;
}

const ITEM: Element = { tag: 'item', open: 'item' };

function* linesOf({ tag, open }: Element, value: unknown, indent: string): Generator<string, void, void> {
  const children = childrenOf(value);
  if (children === null) yield `${indent}${leaf({ tag, open }, value)}\n`;
  else if (children.length === 0) yield `${indent}<${open}${typeOf(value)}/>\n`;
  else {
    yield `${indent}<${open}${typeOf(value)}>\n`;
    for (const [element, child] of children) yield* linesOf(element, child, `${indent}  `);
    yield `${indent}</${tag}>\n`;
  }
}

function childrenOf(value: unknown): [Element, unknown][] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => [ITEM, item]);
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [elementFor(name), member]);
}

function elementFor(name: string): Element {
  if (ELEMENT_NAME.test(name)) return { tag: name, open: name };
  return {
    tag: 'member',
    open: NOT_XML.test(name) ? `member name_base64="${base64(name)}"` : `member name="${escape(name)}"`,
  };
}

function leaf({ tag, open }: Element, value: unknown): string {
  if (value === null) return `<${open} type="null"/>`;
  if (typeof value !== 'string') return `<${open}${typeOf(value)}>${JSON.stringify(value)}</${tag}>`;
  if (NOT_XML.test(value)) return `<${open} encoding="base64">${base64(value)}</${tag}>`;
  return `<${open}>${escape(value)}</${tag}>`;
}

function typeOf(value: unknown): string {
  return ` type="${Array.isArray(value) ? 'array' : typeof value}"`;
}

/** Returns the UTF-8 bytes of the text in base64. */
function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes a string. This includes white space and carriage returns, which XML parsers normalize unless they are character
 * references.
 */
function escape(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character] ?? `&#${character.charCodeAt(0)};`);
}

/* Read and write YAML 1.2 with the core schema, whose values are those of JSON. */

/**
 * Maximum depth. It is greater than that of any accepted document, and small enough for the recursion of the parser.
 */
const MAX_DEPTH = 100;
const MAX_ALIASES = 10_000;

/** Limits of a document after expanding its aliases. */
export interface YamlLimits {
  values: number;
  /** Maximum number of characters of text. A string counts once for each of its aliases. */
  characters: number;
}

/** Thrown if a string is not an acceptable YAML document. The message explains why. */
export class YamlError extends Error {
  override readonly name: string = 'YamlError';
}

/** Thrown if the YAML document exceeds a limit. */
export class YamlSizeError extends YamlError {
  override readonly name: string = 'YamlSizeError';
}

/** These limits are lower than those for JSON, because YAML takes ten times the work and memory. */
export const YAML_LIMITS: YamlLimits = { values: 1_000_000, characters: 64 * 1024 * 1024 };

/**
 * Parses the document in `text`. Rejects tags outside the core schema, duplicate keys, and aliases that expand beyond
 * the limits. Throws `YamlError`.
 */
export function parseYaml(text: string, limits: YamlLimits = YAML_LIMITS): unknown {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    checkSize(events, text, limits);
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA, maxAliases: MAX_ALIASES });
    if (documents.length === 1) return documents[0];
    throw new YamlError(`expected one document, found ${documents.length}`);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = conflictLine(text);
    throw new YamlError(line === null ? describe(error) : `${CONFLICT} (line ${line}, column 1)`);
  }
}

const CONFLICT = 'it contains a merge conflict marker, "<<<<<<<": resolve the conflict first';

/** Returns the line of Git's first conflict marker, starting at 1. Null if there is none. */
export function conflictLine(text: string): number | null {
  const marker = /^<{7}(?: .*)?\r?$/m.exec(text);
  return marker === null ? null : text.slice(0, marker.index).split('\n').length;
}

/**
 * Writes YAML that parsers of YAML 1.1 and 1.2 read as the same value. Ambiguous strings are quoted, and there are no
 * anchors or folded lines.
 */
export function writeYaml(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: -1 });
}

function describe({ reason, mark }: YAMLException): string {
  return mark ? `${reason} (line ${mark.line + 1}, column ${mark.column + 1})` : reason;
}

interface OpenYamlNode {
  anchor: string | null;
  values: number;
  characters: number;
}

const emptyNode = (anchor: string | null): OpenYamlNode => ({ anchor, values: 0, characters: 0 });

/** Counts nodes as if every alias were expanded, without expanding them. */
function checkSize(events: readonly Event[], source: string, limits: YamlLimits): void {
  const count: Count = { source, limits, sizes: new Map(), open: [] };
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) count.open.push(emptyNode(null));
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      count.open.push({ ...emptyNode(anchorOf(event, source)), values: 1 });
    } else close(event, count);
  }
}

interface Count {
  source: string;
  limits: YamlLimits;
  /** The sizes of complete nodes, by anchor. */
  sizes: Map<string, OpenYamlNode>;
  open: OpenYamlNode[];
}

function close(event: Event, count: Count): void {
  const { sizes, open, limits } = count;
  const node = finished(event, count);
  const parent = open.at(-1);
  if (node.anchor !== null) sizes.set(node.anchor, node);
  if (parent === undefined) return;
  parent.values += node.values;
  parent.characters += node.characters;
  if (parent.values > limits.values)
    throw new YamlSizeError(`it contains more than ${limits.values} values, including aliases`);
  if (parent.characters > limits.characters) {
    throw new YamlSizeError(`it contains more than ${limits.characters} characters, including aliases`);
  }
}

function finished(event: Event, { source, sizes, open }: Count): OpenYamlNode {
  if (event.type === EVENT_ID.POP) return open.pop() ?? emptyNode(null);
  if (event.type === EVENT_ID.SCALAR) {
    return { anchor: anchorOf(event, source), values: 1, characters: event.valueEnd - event.valueStart };
  }
  if (event.type !== EVENT_ID.ALIAS) return emptyNode(null);
  const name = source.slice(event.anchorStart, event.anchorEnd);
  // An alias to an unfinished anchor would make the value contain itself.
  if (open.some(({ anchor }) => anchor === name))
    throw new YamlError(`the alias "${name}" refers to a value that contains it`);
  return { ...(sizes.get(name) ?? emptyNode(null)), anchor: null };
}

function anchorOf(event: { anchorStart: number; anchorEnd: number }, source: string): string | null {
  return event.anchorStart < 0 ? null : source.slice(event.anchorStart, event.anchorEnd);
}
