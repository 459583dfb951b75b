import { expect } from 'chai';
import { representationAnswer } from '../../src/http/representation.js';

const found = { body: Buffer.from('{"ü":1}'), etag: '"abc"', type: 'application/json', position: 7 };

const CACHING = ['Cache-Control', 'no-cache', 'Vary', 'Authorization'];

describe('representationAnswer', () => {
  it('sends the bytes with their tag, to be kept and asked for again', () => {
    expect(representationAnswer(found, undefined)).deep.equal({
      status: 200,
      headers: ['Content-Type', 'application/json', 'Content-Length', '8', 'ETag', '"abc"', ...CACHING],
      body: found.body,
      position: 7,
    });
  });

  it('sends nothing to whoever has them already', () => {
    for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', '*', ' * ', '"x",W/"abc" ']) {
      const { status, body, headers } = representationAnswer(found, header);
      expect({ status, body, headers: headers.slice(0, 2) }, header).deep.equal({
        status: 304,
        body: null,
        headers: ['ETag', '"abc"'],
      });
    }
  });

  it('sends the bytes to whoever has others', () => {
    for (const header of ['"x"', 'abc', '"ab"', '', '"abc']) {
      expect(representationAnswer(found, header).status, header).equal(200);
    }
  });
});
