import { expect } from 'chai';
import { quotedName } from '../../../src/schema/sql-text/quoted-name.js';
import { type TextNames, renamedText } from '../../../src/schema/sql-text/compare-and-rename.js';
import type { TextKind } from '../../../src/schema/sql-text/check-sql-text.js';

const mapping = (pairs: Record<string, string>) => (name: string) => (Object.hasOwn(pairs, name) ? pairs[name]! : name);

function names(
  input: { [K in 'table' | 'column' | 'target' | 'targetColumn']?: Record<string, string> } = {},
): TextNames {
  const { table = {}, column = {}, target = {}, targetColumn = {} } = input;
  return {
    table: mapping(table),
    column: mapping(column),
    target: (name, schema) => ({ name: mapping(target)(name), schema }),
    targetColumn: mapping(targetColumn),
    isColumn: (name) => name !== 'articles',
  };
}

const COLUMN = { title: 'headline' };

describe('renaming in SQL texts', () => {
  const cases: [TextKind, string, string][] = [
    ['expression', 'title', 'headline'],
    [
      'expression',
      'lower(title) || \'title\' || length("title")::text',
      "lower(headline) || 'title' || length(headline)::text",
    ],
    ['expression', '\'é\' || title || "é"', '\'é\' || headline || "é"'],
    ['expression', "title ->> 'title'", "headline ->> 'title'"],
    ['expression', "E'\\ttitle\u0001\u0085' || title", "E'\\ttitle\u0001\u0085' || headline"],
    ['expression', 'title(body)', 'title(body)'],
    ['expression', 'subtitle', 'subtitle'],
    ['constraint', "CHECK ((articles.title <> ''::text))", "CHECK ((posts.headline <> ''::text))"],
    ['constraint', 'CHECK ((articles.* IS NOT NULL))', 'CHECK ((posts.* IS NOT NULL))'],
    ['constraint', 'CHECK ((articles IS NOT NULL))', 'CHECK ((posts IS NOT NULL))'],
    [
      'constraint',
      'UNIQUE NULLS NOT DISTINCT (id, title) INCLUDE (body, title)',
      'UNIQUE NULLS NOT DISTINCT (id, headline) INCLUDE (body, headline)',
    ],
    ['constraint', 'PRIMARY KEY ("title")', 'PRIMARY KEY (headline)'],
    [
      'constraint',
      'FOREIGN KEY (title, PERIOD valid) REFERENCES authors(name, PERIOD valid) ON DELETE SET NULL (title)',
      'FOREIGN KEY (headline, PERIOD valid) REFERENCES people("full name", PERIOD valid) ON DELETE SET NULL (headline)',
    ],
    ['constraint', 'FOREIGN KEY (title) REFERENCES public.authors', 'FOREIGN KEY (headline) REFERENCES public.people'],
    [
      'constraint',
      'EXCLUDE USING gist (title WITH =, lower(title) WITH &&) INCLUDE (title) WHERE ((title > id))',
      'EXCLUDE USING gist (headline WITH =, lower(headline) WITH &&) INCLUDE (headline) WHERE ((headline > id))',
    ],
    [
      'index',
      "USING btree (title DESC, lower(title), id) INCLUDE (title) WITH (fillfactor='70') WHERE (title > 'title')",
      "USING btree (headline DESC, lower(headline), id) INCLUDE (headline) WITH (fillfactor='70') WHERE (headline > 'title')",
    ],
    ['partition key', 'RANGE (title, lower(title))', 'RANGE (headline, lower(headline))'],
    ['partition bound', "FOR VALUES FROM ('title') TO (MAXVALUE)", "FOR VALUES FROM ('title') TO (MAXVALUE)"],
  ];
  for (const [kind, text, expected] of cases) {
    it(`${kind}: ${text}`, () => {
      const input = names({
        table: { articles: 'posts' },
        column: COLUMN,
        target: { authors: 'people' },
        targetColumn: { name: 'full name' },
      });
      expect(renamedText(kind, text, input)).to.equal(expected);
    });
  }

  it('renames two columns that swap their names', () => {
    const swap = names({ column: { a: 'b', b: 'a' } });
    expect(renamedText('expression', 'a - b', swap)).to.equal('b - a');
    expect(renamedText('index', 'USING btree (a, b)', swap)).to.equal('USING btree (b, a)');
  });

  it('keeps a column with the name of its table', () => {
    const input = { ...names({ table: { status: 'state' } }), isColumn: () => true };
    expect(renamedText('constraint', "CHECK ((status <> ''))", input)).to.equal("CHECK ((status <> ''))");
    expect(renamedText('constraint', "CHECK ((status.status <> ''))", input)).to.equal("CHECK ((state.status <> ''))");
  });

  it('ignores texts that do not parse', () => {
    expect(renamedText('expression', 'title +', names({ column: COLUMN }))).to.equal(null);
  });

  it('quotes new names as PostgreSQL does', () => {
    const quoted = [
      'title',
      'Title',
      'a b',
      'it"s',
      'select',
      'values',
      'name',
      'user',
      'é',
      '1a',
      'a1',
      '_a',
      'a$',
    ].map(quotedName);
    expect(quoted).to.deep.equal([
      'title',
      '"Title"',
      '"a b"',
      '"it""s"',
      '"select"',
      '"values"',
      'name',
      '"user"',
      '"é"',
      '"1a"',
      'a1',
      '_a',
      '"a$"',
    ]);
  });
});
