import { expect } from 'chai';
import fc from 'fast-check';
import { character } from '../../support/characters.js';
import { SaxesParser } from 'saxes';
import { xmlTexts } from '../../../src/http/formats.js';
import { limitRuns } from '../../support/runs.js';

interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

function parse(xml: string): Element {
  const parser = new SaxesParser();
  const top: Element = { name: '', attributes: {}, text: '', children: [] };
  const open = [top];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: { ...attributes }, text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => open.pop());
  parser.write(xml).close();
  const [root, ...others] = top.children;
  if (root === undefined || others.length > 0) throw new Error('not one root');
  return root;
}

/** The meaning of the output of `writeXml`. */
function valueOf({ attributes, text, children }: Element): unknown {
  const decoded = attributes['encoding'] === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;
  const { type } = attributes;
  if (type === undefined) return decoded;
  if (type === 'null') return null;
  if (type === 'array') return children.map(valueOf);
  if (type === 'object') return Object.fromEntries(children.map((child) => [nameOf(child), valueOf(child)]));
  return JSON.parse(text) as unknown;
}

function nameOf({ name, attributes }: Element): string {
  const encoded = attributes['name_base64'];
  return encoded === undefined ? (attributes['name'] ?? name) : Buffer.from(encoded, 'base64').toString('utf8');
}

const writeXml = (root: string, value: unknown): string => [...xmlTexts(root, value)].join('');

describe('XML', () => {
  it('writes members as elements and array elements as items, and marks values that are not strings', () => {
    expect(writeXml('snapshot', { version: 1, note: null, hidden: false, empty: [], list: ['a', { b: 'c' }] })).equal(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<snapshot type="object">',
        '  <version type="number">1</version>',
        '  <note type="null"/>',
        '  <hidden type="boolean">false</hidden>',
        '  <empty type="array"/>',
        '  <list type="array">',
        '    <item>a</item>',
        '    <item type="object">',
        '      <b>c</b>',
        '    </item>',
        '  </list>',
        '</snapshot>',
        '',
      ].join('\n'),
    );
  });

  it('represents any text and any name in well-formed XML', () => {
    const texts = ['<a>&amp;"\'', ']]>', '\r\n\t', ' a ', '\u0000', '\u0007', '\ufffe', '\u0085', 'ü😀', ''];
    const names = [
      'a b',
      '1',
      'xml',
      'XMLx',
      '$t',
      'a:b',
      '',
      '"<&>',
      'ü',
      '\u0001',
      'item',
      'member',
      '__proto__',
      '-a',
    ];
    const value = { texts, names: Object.fromEntries(names.map((name) => [name, name])) };
    expect(valueOf(parse(writeXml('snapshot', value)))).deep.equal(value);
  });

  it('reads back as the same JSON value', () => {
    const value = fc
      .jsonValue({ maxDepth: 5, stringUnit: character })
      .map((generated) => JSON.parse(JSON.stringify(generated)) as unknown);
    fc.assert(
      fc.property(value, (sample) => {
        expect(valueOf(parse(writeXml('root', sample)))).deep.equal(sample);
      }),
      limitRuns(500),
    );
  });
});
