import { expect } from 'chai';
import { checkCharset, mediaType, notationOf, notationOfFile, unsupported } from '../../../src/http/body/index.js';
import { RejectedError } from '../../../src/http/errors.js';

function refusalOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof RejectedError) return error.problems[0];
    throw error;
  }
  return undefined;
}

describe('media types', () => {
  it('are parsed with their charset, in any case', () => {
    expect(mediaType('Application/JSON; Charset="UTF-8"')).deep.equal({ type: 'application/json', charset: 'utf-8' });
    expect(mediaType('text/yaml;x=1;charset=latin1')).deep.equal({ type: 'text/yaml', charset: 'latin1' });
    expect(mediaType(undefined)).deep.equal({ type: '', charset: null });
  });

  it('the type of a file comes from its part, its name, or its first character', () => {
    expect(notationOfFile('application/json', 'a.yaml', Buffer.from('x'))).equal('json');
    expect(notationOfFile('application/octet-stream', 'a.YML', Buffer.from('{}'))).equal('yaml');
    expect(notationOfFile('application/octet-stream', 'a.yaml', Buffer.from('{}'))).equal('yaml');
    expect(notationOfFile('text/plain', 'a.json', Buffer.from(''))).equal('json');
    for (const type of ['', 'application/octet-stream', 'text/plain']) {
      for (const start of ['', '  ', '\ufeff', '\ufeff\n']) {
        expect(notationOfFile(type, 'snapshot', Buffer.from(`${start}{"version": 1}`)), start).equal('json');
        expect(notationOfFile(type, '', Buffer.from(`${start}version: {}`)), start).equal('yaml');
      }
    }
    expect(refusalOf(() => notationOfFile('image/png', 'snapshot', Buffer.from('')))).deep.equal({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'The media type "image/png" is not supported: an uploaded file must be JSON or YAML.',
      details: { media_type: 'image/png' },
    });
  });

  it('bodies have the types of JSON and YAML', () => {
    expect(notationOf('application/json')).equal('json');
    for (const type of ['application/yaml', 'text/yaml', 'application/x-yaml', 'text/x-yaml']) {
      expect(notationOf(type), type).equal('yaml');
    }
    for (const type of ['', 'text/json', 'yaml']) expect(notationOf(type), type).equal(undefined);
    expect(unsupported('', 'send JSON').message).equal('A body without a Content-Type is not supported: send JSON.');
  });

  it('are rejected with a charset other than UTF-8', () => {
    for (const charset of [null, 'utf-8', 'utf8', 'us-ascii', 'ascii']) checkCharset(charset);
    for (const charset of ['utf-16', 'iso-8859-1']) {
      expect(refusalOf(() => checkCharset(charset))).deep.equal({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `The charset "${charset}" is not supported. Use UTF-8.`,
        details: { charset },
      });
    }
  });
});
