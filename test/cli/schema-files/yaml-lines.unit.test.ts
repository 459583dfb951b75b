import { expect } from 'chai';
import { parseLocation } from '../../../src/cli/schema-files/merge-files.js';
import { aliasLine, lineOf } from '../../../src/cli/schema-files/read-folder.js';
import { renderPath } from '../../../src/kernel/problem.js';

const TEXT = `# a remark
collection: posts
meta:
  note: |-
    two
    lines
  "a b": 1
fields:
  - field: id
    schema: { is_nullable: false,
      max_length: 7 }
  - field: title
relations: []
`;

describe('the line of a location in YAML', () => {
  it('is that of the member, or of its parent if it is missing', () => {
    const lines: [(string | number)[], number][] = [
      [['collection'], 2],
      [['meta', 'note'], 4],
      [['meta', 'a b'], 7],
      [['fields', 0, 'schema', 'max_length'], 11],
      [['fields', 1], 12],
      [['fields', 1, 'field'], 12],
      [['fields', 1, 'type'], 12],
      [['relations', 0], 13],
      [['nothing'], 2],
    ];
    for (const [path, line] of lines) expect(lineOf(TEXT, path), path.join('.')).to.equal(line);
  });

  it('is reported for the first alias', () => {
    expect(aliasLine('a: "*"\nb: *c\n')).to.equal(2);
    expect(aliasLine('a: "*b"\n')).to.equal(null);
  });
});

describe('the location in an error', () => {
  it('is parsed into its steps', () => {
    for (const path of [['theirs', 'fields', 2, 'a b', 'type'], ['base'], ['a"b', '__proto__', 0]])
      expect(parseLocation(renderPath(path))).to.deep.equal(path);
  });
});
