import { expect } from 'chai';
import { checkCharset, mediaType, notationOfFile } from '../../../src/http/body/media-type.js';
import { Refused } from '../../../src/http/errors.js';

describe('media types', () => {
  it('are read with their charset, in any case', () => {
    expect(mediaType('Application/JSON; Charset="UTF-8"')).deep.equal({ type: 'application/json', charset: 'utf-8' });
    expect(mediaType('text/yaml;x=1;charset=latin1')).deep.equal({ type: 'text/yaml', charset: 'latin1' });
    expect(mediaType(undefined)).deep.equal({ type: '', charset: null });
  });

  it('of a file come from its part, else its name, else its first character', () => {
    expect(notationOfFile('application/json', 'a.yaml', Buffer.from('x'))).equal('json');
    expect(notationOfFile('application/octet-stream', 'a.YML', Buffer.from('{}'))).equal('yaml');
    expect(notationOfFile('text/plain', 'a.json', Buffer.from(''))).equal('json');
    expect(notationOfFile('', 'snapshot', Buffer.from('  {"version": 1}'))).equal('json');
    expect(notationOfFile('text/plain', '', Buffer.from('version: 1'))).equal('yaml');
    expect(() => notationOfFile('image/png', 'snapshot', Buffer.from(''))).throw(Refused);
  });

  it('are in UTF-8', () => {
    for (const charset of [null, 'utf-8', 'utf8', 'us-ascii']) checkCharset(charset);
    for (const charset of ['utf-16', 'iso-8859-1']) expect(() => checkCharset(charset)).throw(Refused);
  });
});
