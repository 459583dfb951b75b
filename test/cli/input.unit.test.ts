import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Invocation } from '../../src/cli/command.js';
import { parseDocument, readDocument } from '../../src/cli/input.js';

describe('a document sent by a command', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-document-'));
  });
  after(() => rm(directory, { recursive: true }));

  const invocation = (stdin = '') => ({ terminal: { read: () => Promise.resolve(stdin) } }) as unknown as Invocation;

  it('is rejected with the line of a Git conflict marker', async () => {
    for (const text of ['version: 1\n<<<<<<< HEAD\na: 1', '{"version":1,\n<<<<<<< HEAD\n"a": 1}']) {
      const error = await readDocument(invocation(text), '-').catch((reason: Error) => reason);
      expect((error as Error).message)
        .to.contain('line 2')
        .and.to.contain('merge conflict');
    }
  });

  it('is JSON or YAML, recognized by its beginning, from a file or stdin', async () => {
    const file = join(directory, 'a');
    for (const [text, type] of [
      ['{"version":1}', 'application/json'],
      [' \n{"version":1}', 'application/json'],
      ['version: 1', 'application/yaml'],
      ['# {\nversion: 1', 'application/yaml'],
    ] as const) {
      await writeFile(file, text);
      for (const body of [await readDocument(invocation(), file), await readDocument(invocation(text), '-')]) {
        expect([body.type, body.content.toString()]).to.deep.equal([type, text]);
        expect(parseDocument(body, 'a')).to.deep.equal({ version: 1 });
      }
    }
  });

  it('is rejected if it is invalid, with an error that names it', async () => {
    const refusal = async (text: string): Promise<string[]> => {
      const body = await readDocument(invocation(text), '-');
      return ['a.yaml', '-'].map((name) => {
        try {
          return JSON.stringify(parseDocument(body, name));
        } catch (error) {
          return (error as Error).message;
        }
      });
    };
    for (const text of ['[]', '- a', 'text', '7', 'null']) {
      const fault = 'is neither a snapshot nor a diff.';
      expect(await refusal(text), text).to.deep.equal([`a.yaml ${fault}`, `The content of stdin ${fault}`]);
    }
    for (const text of ['{', 'a: b: c']) {
      const [named = '', stdin = ''] = await refusal(text);
      expect(named, text).to.match(/^a\.yaml is neither JSON nor YAML: [^\n]+$/);
      expect(stdin).to.equal(named.replace('a.yaml', 'The content of stdin'));
    }
  });
});
