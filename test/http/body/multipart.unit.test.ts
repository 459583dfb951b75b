import { expect } from 'chai';
import { readUpload } from '../../../src/http/body/index.js';
import { RejectedError } from '../../../src/http/errors.js';

const TYPE = 'multipart/form-data; boundary=x';

interface Part {
  disposition: string;
  type?: string;
  content: string;
}

const form = (...parts: Part[]) =>
  Buffer.from(
    parts
      .map(({ disposition, type, content }) => {
        const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
        return `--x\r\nContent-Disposition: form-data; ${disposition}\r\n${typeLine}\r\n${content}\r\n`;
      })
      .join('') + '--x--\r\n',
  );

const file = (filename: string, content = '{}', type?: string): Part => ({
  disposition: `name="file"; filename="${filename}"`,
  ...(type !== undefined && { type }),
  content,
});

async function refusalOf(raw: Buffer, type = TYPE): Promise<string> {
  try {
    await readUpload(raw, type);
  } catch (error) {
    if (error instanceof RejectedError) return error.message;
    throw error;
  }
  throw new Error('accepted');
}

describe('multipart bodies', () => {
  it('return their one file', async () => {
    const upload = await readUpload(form(file('größe.yaml', 'a: ü', 'text/YAML')), TYPE);
    expect({ ...upload, content: upload.content.toString() }).deep.equal({
      name: 'größe.yaml',
      type: 'text/yaml',
      content: 'a: ü',
    });
  });

  it('return a large file completely', async () => {
    const content = 'x'.repeat(200_000);
    expect(String((await readUpload(form(file('a.json', content)), TYPE)).content)).equal(content);
  });

  it('are rejected without a file, with several, or with other parts', async () => {
    expect(await refusalOf(form())).match(/^The form contains no file/);
    expect(await refusalOf(form(file('a.json'), file('b.json')))).match(/more than one file/);
    const field = { disposition: 'name="mode"', content: 'merge' };
    expect(await refusalOf(form(field, file('a.json')))).match(/^The form contains "mode" in addition to a file/);
  });

  it('are parsed no further than a rejection needs', async () => {
    const fields = form({ disposition: 'name="mode"', content: 'x' }, file('a.json'), file('b.json'));
    const many = Buffer.concat([
      fields.subarray(0, -5),
      ...Array.from({ length: 100_000 }, () => fields.subarray(0, -5)),
    ]);
    // A complete parse would report truncation.
    expect(await refusalOf(many)).match(/^The form contains "mode" in addition to a file/);
  });

  it('are rejected if truncated or without a boundary', async () => {
    const full = form(file('a.json'));
    expect(await refusalOf(full.subarray(0, full.length - 10))).match(/not valid multipart/);
    expect(await refusalOf(Buffer.from('nonsense'))).match(/not valid multipart/);
    expect(await refusalOf(Buffer.alloc(0))).match(/not valid multipart/);
    expect(await refusalOf(full, 'multipart/form-data')).match(/Boundary not found/);
  });
});
