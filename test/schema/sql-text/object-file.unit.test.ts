import { expect } from 'chai';
import type { SchemaObject } from '../../../src/schema/model/object-document.js';
import { readNewObject } from '../../../src/schema/normal-form/object.js';
import { readObjectFile, writeObjectFile } from '../../../src/schema/sql-text/object-file.js';

const view = (definition: string, comment: string | null = null): SchemaObject => ({
  kind: 'view',
  id: 'v',
  definition,
  comment,
});

/** Returns the object, or the error with its line. */
function read(text: string): unknown {
  const file = readObjectFile(text);
  return 'object' in file ? file.object : `${file.line}: ${file.message}`;
}

describe('the file of a view', () => {
  it('contains only the definition if there is nothing else', () => {
    expect(writeObjectFile(view('CREATE VIEW v AS SELECT 1 AS a'))).to.equal('CREATE VIEW v AS SELECT 1 AS a;\n');
  });

  it('contains indexes and the comment as statements', () => {
    const totals: SchemaObject = {
      kind: 'materialized_view',
      id: 'All totals',
      definition: 'CREATE MATERIALIZED VIEW "All totals" AS SELECT 1 AS a',
      comment: "It's the sum",
      indexes: [
        { name: 'one', unique: true, definition: 'USING btree (a)' },
        { name: 'two', definition: 'USING hash (a)' },
      ],
    };
    const text = writeObjectFile(totals);
    expect(text.split('\n')).to.deep.equal([
      'CREATE MATERIALIZED VIEW "All totals" AS SELECT 1 AS a;',
      'CREATE UNIQUE INDEX one ON "All totals" USING btree (a);',
      'CREATE INDEX two ON "All totals" USING hash (a);',
      `COMMENT ON MATERIALIZED VIEW "All totals" IS 'It''s the sum';`,
      '',
    ]);
    const file = readObjectFile(text);
    expect(file).to.deep.equal({ object: totals, lines: { definition: 1, indexes: 2, comment: 4, enabled: 1 } });
  });

  it('contains privileges of PUBLIC on the schema public after REVOKE ALL', () => {
    const id = 'public on schema public';
    const object: SchemaObject = { kind: 'privileges', id, definition: [{ name: 'USAGE' }], comment: null };
    const revoke = 'REVOKE ALL ON SCHEMA public FROM PUBLIC;\n';
    const text = writeObjectFile(object);
    expect(text).to.equal(`${revoke}GRANT USAGE ON SCHEMA public TO PUBLIC;\n`);
    expect(read(text)).to.deep.equal(object);
    const closed = { ...object, definition: [] };
    expect([writeObjectFile(closed), read(revoke)]).to.deep.equal([revoke, closed]);
  });

  it('contains default privileges as ALTER DEFAULT PRIVILEGES', () => {
    for (const [id, definition, text] of [
      [
        'editors on new tables in schema billing',
        [{ name: 'INSERT' }, { name: 'SELECT', grantable: true }],
        'ALTER DEFAULT PRIVILEGES IN SCHEMA billing GRANT INSERT ON TABLES TO editors;\nALTER DEFAULT PRIVILEGES IN SCHEMA billing GRANT SELECT ON TABLES TO editors WITH GRANT OPTION;\n',
      ],
      ['public on new functions', [], 'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;\n'],
    ] as const) {
      const object = { kind: 'privileges', id, definition, comment: null } as unknown as SchemaObject;
      expect(writeObjectFile(object)).to.equal(text);
      expect(read(text)).to.deep.equal(object);
    }
  });

  it('contains the enabled state of a trigger, and rejects other changes to the table', () => {
    const definition = 'CREATE TRIGGER mark AFTER DELETE ON "My posts" EXECUTE FUNCTION mark()';
    const trigger: SchemaObject = {
      kind: 'trigger',
      id: 'mark on "My posts"',
      definition,
      comment: 'Marks',
      enabled: 'replica',
    };
    const text = writeObjectFile(trigger);
    expect(text.split('\n')).to.deep.equal([
      `${definition};`,
      'ALTER TABLE "My posts" ENABLE REPLICA TRIGGER mark;',
      `COMMENT ON TRIGGER mark ON "My posts" IS 'Marks';`,
      '',
    ]);
    expect(readObjectFile(text)).to.deep.equal({
      object: trigger,
      lines: { definition: 1, indexes: 1, enabled: 2, comment: 3 },
    });
    for (const [change, message] of [
      ['ALTER TABLE "My posts" DISABLE TRIGGER USER', '2: ALTER TABLE can only enable or disable the trigger'],
      ['ALTER TABLE "My posts" DISABLE TRIGGER mark, DROP COLUMN id', '2: ALTER TABLE can only enable'],
      ['ALTER TABLE others DISABLE TRIGGER mark', '2: ALTER TABLE must name trigger'],
      [`COMMENT ON TRIGGER mark ON others IS 'x'`, '2: the comment must be on trigger'],
    ])
      expect(read(`${definition};\n${change};`)).to.contain(message);
  });

  for (const [title, definition, comment] of [
    ['with a comment in front', '-- Ä first\n\nCREATE VIEW v AS SELECT 1 AS a', 'x'],
    ['that ends with a comment', 'CREATE VIEW v AS SELECT 1 AS a -- one', 'x'],
    ['with texts that look like the end', "CREATE VIEW v AS SELECT ';--' AS a, $$;\nCOMMENT$$ AS b", null],
    ['with a comment of several lines', 'CREATE VIEW v AS SELECT 1 AS a', "a\r\n'b' \\ c\n"],
    ['with a backslash in the comment', 'CREATE VIEW v AS SELECT 1 AS a', 'a\\nb'],
  ] as const)
    it(`reads back what it wrote for a definition ${title}`, () => {
      const text = writeObjectFile(view(definition, comment));
      expect(read(text)).to.deep.equal(view(definition, comment));
      expect(read(text.replaceAll('\r', '').replaceAll('\n', '\r\n').replaceAll('\r\n', '\n'))).to.deep.equal(
        view(definition, comment),
      );
    });

  it('means the same after reading if the definition ends with a semicolon and Windows line ends', () => {
    const object = readNewObject({ kind: 'view', definition: 'CREATE VIEW v AS\r\nSELECT 1 AS a ;\r\n' }, []);
    const text = object.ok ? writeObjectFile(object.value) : '';
    expect(text).to.equal('CREATE VIEW v AS\nSELECT 1 AS a;\n');
  });

  for (const [title, text, fault] of [
    [
      'is empty',
      '',
      '1: the definition must be exactly one statement: CREATE VIEW, CREATE MATERIALIZED VIEW, CREATE FUNCTION, CREATE PROCEDURE, CREATE AGGREGATE, CREATE TRIGGER, CREATE POLICY, ALTER TABLE … ENABLE ROW LEVEL SECURITY, CREATE STATISTICS, CREATE RULE, ALTER TABLE … SET, CREATE SEQUENCE, CREATE TYPE or CREATE DOMAIN',
    ],
    ['creates a table', '\nCREATE TABLE t ();', /^2: the definition must be exactly one statement/],
    [
      'is not SQL',
      'CREATE VIEW v AS\nSELECT 1 AS a FROM;',
      /^2: the file is not valid SQL: syntax error at or near ";"/,
    ],
    [
      'contains a Git merge conflict',
      'CREATE VIEW v AS\n<<<<<<< HEAD\nSELECT 1 AS a\n=======\nSELECT 2 AS a\n>>>>>>> b',
      '2: the file contains a Git merge conflict. Resolve it first',
    ],
    [
      'creates an index on a view',
      'CREATE VIEW v AS SELECT 1 AS a;\nCREATE INDEX i ON v (a);',
      '2: only COMMENT ON VIEW can follow the definition',
    ],
    [
      'contains another statement',
      'CREATE MATERIALIZED VIEW v AS SELECT 1 AS a;\n\nDROP TABLE t;',
      '3: only CREATE INDEX and COMMENT ON MATERIALIZED VIEW can follow the definition',
    ],
    [
      'creates an index on another table',
      'CREATE MATERIALIZED VIEW v AS SELECT 1 AS a;\nCREATE INDEX i ON w USING btree (a);',
      '2: the index "i" must be on "v"',
    ],
    [
      'comments on another view',
      "CREATE VIEW v AS SELECT 1 AS a;\nCOMMENT ON VIEW w IS 'x';",
      '2: the comment must be on view "v"',
    ],
  ] as const)
    it(`is rejected with the line if it ${title}`, () => {
      const found = read(text);
      if (typeof fault === 'string') expect(found).to.equal(fault);
      else expect(found).to.match(fault);
    });
});
