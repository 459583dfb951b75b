import { expect } from 'chai';
import { needsOf, findUnmanagedUse, listFault } from '../../../src/projector/inspect/needs.js';
import type { Use, UsedType } from '../../../src/projector/catalog/objects.js';
import type { Need, TableExtras } from '../../../src/schema/model/extras.js';
import { type Objects, catalogSequence } from '../catalog-tables.js';
import { converting } from './converting.js';

const use = (uses: Use['uses'], what: string, more: Partial<Use> = {}): Use => ({
  kind: 'default',
  name: 'a',
  uses,
  extension: null,
  schema: 'public',
  what,
  ...more,
});

const type = (name: string, kind: UsedType['kind'], more: Partial<UsedType> = {}): UsedType => ({
  name,
  schema: 'public',
  kind,
  extension: null,
  depth: 0,
  base: null,
  notNull: false,
  default: null,
  collation: null,
  labels: [],
  checks: [],
  collations: [],
  ...more,
});

function needs(objects: Objects, extras?: TableExtras): { needs: Need[]; notes: string[] } {
  const context = converting({}, { objects, ...(extras === undefined ? {} : { like: { extras } }) });
  const list = needsOf(context);
  return {
    needs: list,
    notes: context.notes.map(({ kind, name, code, message }) => `${kind} ${name} ${code}: ${message}`),
  };
}

const isNeeded = (what: string): string => `${what}: create it before you apply a snapshot with this table elsewhere`;

describe('the needs of a table', () => {
  it('are ordered: extensions, collations, base types, types, sequences, each by name', () => {
    const libc = { provider: 'libc', locale: 'C' } as const;
    const enumNeeds = needs({
      uses: [
        use('function', 'function f()', { extension: 'hstore', schema: null }),
        use('function', 'function g()', { extension: 'citext', schema: null }),
        use('function', 'function h()', { schema: null }),
        use('collation', 'd'),
        use('collation', 'elsewhere', { schema: 'other' }),
        use('collation', 'gone'),
        use('collation', 'extended', { extension: 'citext' }),
        use('sequence', 's'),
        use('sequence', 'q'),
        use('sequence', 'q'),
        use('sequence', 'elsewhere', { schema: 'other' }),
        use('sequence', 'gone'),
        use('sequence', 'counting'),
      ],
      types: [
        type('mood', 'e', { labels: ['sad', 'ok'] }),
        type('zip', 'd', { base: 'text' }),
        type('base', 'd', { base: 'integer', depth: 1, collations: [{ schema: 'public', name: 'c' }] }),
        type('from_citext', 'd', { extension: 'citext', collations: [{ schema: 'public', name: 'hidden' }] }),
      ],
      collations: new Map(['c', 'd', 'hidden', 'extended', 'elsewhere'].map((name) => [name, libc])),
      sequences: [
        catalogSequence('q', 'bigint'),
        catalogSequence('s', 'integer', { start: '5' }),
        catalogSequence('owned', 'bigint', { owner: { table: 't', column: 'a' } }),
        catalogSequence('counting', 'bigint', { isIdentity: true }),
        catalogSequence('other', 'bigint'),
        catalogSequence('elsewhere', 'bigint'),
      ],
    });
    expect(enumNeeds).to.deep.equal({
      needs: [
        { kind: 'extension', name: 'citext' },
        { kind: 'extension', name: 'hstore' },
        { kind: 'collation', name: 'c', ...libc },
        { kind: 'collation', name: 'd', ...libc },
        { kind: 'domain', name: 'base', type: 'integer' },
        { kind: 'enum', name: 'mood', labels: ['sad', 'ok'] },
        { kind: 'domain', name: 'zip', type: 'text' },
        { kind: 'sequence', name: 'owned', owned_by: 'a' },
        { kind: 'sequence', name: 'q' },
        { kind: 'sequence', name: 's', type: 'integer', start: '5' },
      ],
      notes: [],
    });
  });

  it('include all properties of a domain', () => {
    const checks = [{ name: 'short', definition: 'CHECK ((length(VALUE) < 5))' }];
    const more = { base: 'text', collation: '"C"', notNull: true, default: "'x'::text", checks };
    expect(needs({ types: [type('d', 'd', more)] })).to.deep.equal({
      needs: [
        { kind: 'domain', name: 'd', type: 'text', collation: '"C"', not_null: true, default: "'x'::text", checks },
      ],
      notes: [],
    });
  });

  it('must already exist if no snapshot can create them', () => {
    const types = [
      type('point', 'c'),
      type('span', 'r'),
      type('mood', 'e', { schema: 'other' }),
      type('d', 'd', { schema: 'other', base: 'text' }),
    ];
    expect(needs({ types, uses: [use('function', 'f', { extension: 'plpython3u', schema: null })] })).to.deep.equal({
      needs: [],
      notes: [
        `extension plpython3u EXTENSION_NEEDED: ${isNeeded('extension "plpython3u"')}`,
        `type d TYPE_NEEDED: ${isNeeded('type "d"')}`,
        `type mood TYPE_NEEDED: ${isNeeded('type "mood"')}`,
        `type point TYPE_NEEDED: ${isNeeded('type "point"')}`,
        `type span TYPE_NEEDED: ${isNeeded('type "span"')}`,
      ],
    });
  });

  it('must already exist for a domain with unsendable constraints, unless the log has it', () => {
    const checks = [{ name: 'c', definition: 'CHECK (f(VALUE))' }];
    const domain = type('d', 'd', { base: 'text', checks });
    const domainNeeds = needs({ types: [domain] });
    expect(domainNeeds.needs).to.deep.equal([]);
    expect(domainNeeds.notes).to.deep.equal([
      `type d TYPE_NEEDED: ${isNeeded('domain "d" must not use the function "f": docs/functions.md does not list it')}`,
    ]);
    const need: Need = { kind: 'domain', name: 'd', type: 'text', checks };
    expect(needs({ types: [domain] }, { needs: [need] })).to.deep.equal({ needs: [need], notes: [] });
    expect(needs({ types: [domain] }, { needs: [{ ...need, name: 'e' }] }).needs).to.deep.equal([]);
  });

  it('limit what its texts may name, without domains that must already exist', () => {
    const fault = (checks: UsedType['checks']): string | null => {
      const context = converting({}, { objects: { types: [type('d', 'd', { base: 'text', checks })] } });
      needsOf(context);
      return listFault(context, { kind: 'constraint', name: 'c', text: "CHECK (('x'::d IS NOT NULL))" });
    };
    expect(fault([])).to.equal(null);
    expect(fault([{ name: 'c', definition: 'CHECK (f(VALUE))' }])).to.be.a('string');
  });
});

describe('an unsupported object that a table uses', () => {
  const used = (...uses: Use[]): string | null =>
    findUnmanagedUse(
      converting(
        {},
        {
          objects: {
            uses,
            sequences: [
              catalogSequence('s', 'bigint'),
              catalogSequence('counting', 'bigint', { isIdentity: true }),
              catalogSequence('elsewhere', 'bigint'),
            ],
          },
        },
      ),
      'default',
      'a',
    );

  const rows: [string, Use, string | null][] = [
    ['a function', use('function', 'function f()', { schema: null }), 'function f()'],
    ['a function of an extension', use('function', 'function f()', { extension: 'citext', schema: null }), null],
    ['a collation', use('collation', '"x"'), null],
    ['a collation of another schema', use('collation', '"x"', { schema: 'other' }), 'collation "x"'],
    ['a function of the schema', use('function', 'function f()'), 'function f()'],
    ['a sequence', use('sequence', 's'), null],
    ['a sequence that is gone', use('sequence', 'gone'), 'sequence gone'],
    ['a sequence of another schema', use('sequence', 'elsewhere', { schema: 'other' }), 'sequence elsewhere'],
    ['the sequence of an identity', use('sequence', 'counting'), 'sequence counting'],
    ['a sequence of an extension', use('sequence', 'gone', { extension: 'citext' }), 'sequence gone'],
  ];
  for (const [what, each, expected] of rows) {
    it(`${expected === null ? 'is not' : 'is'} ${what}`, () => {
      expect(used(each)).to.equal(expected);
    });
  }

  it('does not include those of other parts of the table', () => {
    const f = use('function', 'function f()', { schema: null });
    expect(used({ ...f, kind: 'generated' }, { ...f, name: 'b' })).to.equal(null);
    expect(used({ ...f, name: 'b' }, use('sequence', 's'), f)).to.equal('function f()');
  });
});
