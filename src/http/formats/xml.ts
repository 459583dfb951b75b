/**
 * Writes any JSON value as well-formed XML without loss.
 *
 * A member becomes an element of its name, or `<member name="…">` if the name is invalid for an element. Array
 * elements become `<item>`. `type` marks values that are not strings. Text that XML 1.0 cannot represent is encoded
 * and marked as base64.
 */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ELEMENT_NAME = /^(?!xml)[A-Za-z_][\w.-]*$/i;

/** Line by line. `root`: the name of the document element. */
export function* xmlTexts(root: string, value: unknown): Generator<string, void, void> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield* linesOf({ tag: root, open: root }, value, '');
}

interface Element {
  tag: string;
  /** The tag with its attributes. */
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

/** Encodes the UTF-8 bytes. */
function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML parsers normalize white space in attributes and carriage returns, unless they are character references. */
function escape(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character] ?? `&#${character.charCodeAt(0)};`);
}
