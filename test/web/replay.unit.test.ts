/** The parts of the diagram and the history slider that need no browser. */
import { expect } from 'chai';
import { SaxesParser } from 'saxes';
import { svgOf, type Graph, type Table, type PlacedGraph, type Point } from '../../src/web/pages/schema/graph/graph.js';
import { placeSteadily } from '../../src/web/pages/schema/replay/steady-layout.js';

const table = (name: string, rows = 2): Table =>
  ({
    name,
    collection: { collection: name },
    rows: Array.from({ length: rows }, (_, index) => ({
      field: `${name} ${index}`,
      type: 'string',
      isKey: index === 0,
      isForeign: false,
      isRequired: true,
    })),
    more: 1,
    width: 160,
    height: 40 + rows * 24,
  }) as unknown as Table;

const link = (from: string, to: string) => ({
  id: `${from} ${to}`,
  from,
  fromField: 'x',
  to,
  toField: 'y',
  kind: 'key' as const,
});

const EMPTY: PlacedGraph = { tables: [], links: [], places: new Map(), lines: new Map() };

function overlaps({ tables, places }: PlacedGraph): string[] {
  const boxes = tables.map(({ name, width, height }) => ({ name, width, height, ...(places.get(name) as Point) }));
  return boxes.flatMap((a, index) =>
    boxes
      .slice(index + 1)
      .filter((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
      .map((b) => `${a.name} ${b.name}`),
  );
}

describe('positions during a replay', () => {
  const known = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 0, y: 120 }],
  ]);

  it('stay the same for existing tables, and new tables are placed near related ones', () => {
    const graph: Graph = { tables: ['a', 'b', 'c', 'd'].map((name) => table(name)), links: [link('c', 'a')] };
    const placed = placeSteadily(graph, known, EMPTY);
    expect(placed.places.get('a')).to.deep.equal({ x: 0, y: 0 });
    expect(placed.places.get('b')).to.deep.equal({ x: 0, y: 120 });
    expect(placed.places.get('c')?.x).to.be.below(0);
    expect(overlaps(placed)).to.deep.equal([]);
    expect(placed.lines.get('c a')).to.have.length.above(1);
  });

  it('make room for growing tables, and return when these shrink', () => {
    const grown = placeSteadily({ tables: [table('a', 9), table('b')], links: [] }, known, EMPTY);
    expect(grown.places.get('a')).to.deep.equal({ x: 0, y: 0 });
    expect(grown.places.get('b')?.y).to.be.above(240);
    expect(overlaps(grown)).to.deep.equal([]);
    const back = placeSteadily({ tables: [table('a'), table('b')], links: [] }, known, grown);
    expect(back.places.get('b')).to.deep.equal({ x: 0, y: 120 });
  });

  it('have room for many new tables at once', () => {
    const tables = Array.from({ length: 120 }, (_, index) => table(`t${index}`));
    const links = tables.slice(1).map(({ name }) => link(name, 't0'));
    expect(overlaps(placeSteadily({ tables, links }, new Map(), EMPTY))).to.deep.equal([]);
  });
});

describe('the diagram as SVG', () => {
  const HOSTILE = `<img src=x onerror="alert('1')"> & ]]> \u0000\u0007 \ud800 اختبار ${'ä'.repeat(63)}`;

  it('is valid XML with any names, each as a text', () => {
    const tables = [table(HOSTILE), table('plain')];
    const graph: Graph = { tables, links: [link(HOSTILE, 'plain')] };
    const text = svgOf(placeSteadily(graph, new Map(), EMPTY), HOSTILE);
    const names: string[] = [];
    const texts: string[] = [];
    const parser = new SaxesParser();
    parser.on('opentag', ({ name }) => names.push(name));
    parser.on('text', (text) => texts.push(text));
    parser.write(text).close();
    expect(new Set(names)).to.deep.equal(
      new Set(['svg', 'title', 'style', 'defs', 'marker', 'path', 'rect', 'g', 'text']),
    );
    expect(texts.some((text) => text.startsWith('<img src=x'))).to.equal(true);
    expect(texts).to.include('plain');
    for (const raw of ['<img', '\u0000', 'onerror="']) expect(text).to.not.include(raw);
  });
});
