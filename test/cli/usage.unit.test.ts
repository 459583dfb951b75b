/** Command lines that are rejected before any database or service is used. */
import { expect } from 'chai';
import { dps } from '../support/dps.js';

/** Nothing listens there, so a command that connected would report that. */
const NOWHERE = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none', DPS_URL: 'http://127.0.0.1:9', DPS_TOKEN: 'x' };

const ID = '00000000-0000-4000-8000-000000000001';
const LIMIT = '--limit must be a positive integer.';
const PASSWORDS = '--password-stdin, --new-password and --no-password exclude each other.';
const POSITION = 'POSITION must be a positive integer from the list of "dps trash".';
const missing = (file: string): string => `${file} cannot be read (ENOENT: no such file or directory, open '${file}').`;

/** Usage messages of commands. */
const USAGE: Readonly<Record<string, string>> = {
  'drift --allow-drop': '--allow-drop requires --repair.',
  'drift --repair --purge': '--purge requires --allow-drop.',
  'drift --repair --accept a': 'Use --repair or --accept, not both.',
  'drift --dry-run': '--dry-run requires --accept.',
  'drift --repair --dry-run': '--dry-run requires --accept.',
  'history --limit 0': LIMIT,
  'history --limit x': LIMIT,
  'changes list --limit 0': LIMIT,
  'changes list --limit 1x': LIMIT,
  restore: 'Use --file or --backup.',
  'restore --file a --backup b': 'Use --file or --backup.',
  'rebuild metadata --into x': '--into can only be used with "tables".',
  adopt: 'Name tables, or use --all.',
  'adopt a --all': 'Name tables or use --all, not both.',
  'verify --against http://127.0.0.1:9': '--against requires --file, the exported log to compare, or --checkpoint.',
  'verify --key x': '--key requires --checkpoint, whose signature it verifies.',
  'tokens add a@example.com --name x --expires soon': '--expires must be a time or a number of days such as 90d.',
  'tokens add a@example.com --name x --expires 2020-01-01': '--expires must be in the future.',
  'tokens add a@example.com --name x --expires 0d': '--expires must be in the future.',
  'users set a@example.com': 'Name at least one change.',
  'users set a@example.com --no-password --new-password': PASSWORDS,
  'users set a@example.com --password-stdin --new-password': PASSWORDS,
  'users add a@example.com --role reader --password-stdin --no-password': PASSWORDS,
  [`lint ${ID} --mode mirror`]: '--mode cannot be used with a change request.',
  [`lint ${ID} --force`]: '--force cannot be used with a change request.',
  'lint . --mode merge': '--mode cannot be used with a folder.',
  'lint package.json --base x': '--base cannot be used with a snapshot.',
  'lint package.json --take ours': '--take cannot be used with a snapshot.',
  'changes open package.json --title =': '--title is required: the title of the change request.',
  [`changes approve ${ID}`]:
    '--plan is required without a terminal: the hash of the plan that you reviewed ("dps changes show").',
  'apply package.json --acknowledge x': '--acknowledge must be CODE:PLACE, as a plan shows it: LOSES_DATA:posts.title.',
  'push . --title x': '--title requires --propose.',
  'push . --propose': '--propose requires --title: the title of the change request.',
  'trash restore x': POSITION,
  'trash restore 0': POSITION,
  'trash purge x': POSITION,
};

/** Command lines that contradict the declaration. */
const UNDECLARED: Readonly<Record<string, string>> = {
  rebuild: "missing required argument 'projection'",
  'rebuild nothing':
    "command-argument value 'nothing' is invalid for argument 'projection'. Allowed choices are tables, metadata, trash, change-requests, indexes.",
  'rename a': "missing required argument 'name'",
  'keys new': "missing required argument 'file'",
  'history diff': "missing required argument 'from'",
  'trash restore': "missing required argument 'position'",
  'changes open package.json': "required option '--title <title>' not specified",
  'lint package.json --level loud':
    "option '--level <level>' argument 'loud' is invalid. Allowed choices are note, warn, danger.",
  'snapshot --format x':
    "option '--format <format>' argument 'x' is invalid. Allowed choices are json, yaml, csv, csv_utf8, xml.",
  'completion dos':
    "command-argument value 'dos' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.",
  'status --database-url x --data-dir y': "option '--data-dir <dir>' cannot be used with option '--database-url <url>'",
  'status x': "too many arguments for 'status'. Expected 0 arguments but got 1.",
  nothing: "unknown command 'nothing'",
};

/** Missing and invalid files. */
const FILES: Readonly<Record<string, string>> = {
  'apply none.json': missing('none.json'),
  'diff none.json': missing('none.json'),
  'lint none.json': missing('none.json'),
  'policy set none': missing('none'),
  'apply -': 'The content of stdin is neither JSON nor YAML: expected a document, but the input is empty',
};

/** @param line the command line; a lone `=` stands for an argument that is a space */
const splitWords = (line: string): string[] => line.split(' ').map((word) => (word === '=' ? ' ' : word));

describe('an invalid command line', () => {
  const expectSaid = (cases: Readonly<Record<string, string>>, text: (sentence: string) => string): void => {
    for (const [line, sentence] of Object.entries(cases)) {
      it(`dps ${line}`, async () => {
        const { code, out, err } = await dps(splitWords(line), NOWHERE);
        expect([code, out, err]).to.deep.equal([2, '', text(sentence)]);
      });
    }
  };
  expectSaid(USAGE, (sentence) => `${sentence} See "dps COMMAND --help".`);
  expectSaid(UNDECLARED, (sentence) => `error: ${sentence}\nSee "dps help" and "dps COMMAND --help".`);
  expectSaid(FILES, (sentence) => sentence);
});
