import { expect } from 'chai';
import { createRenderedCache } from '../../src/reads/rendered.js';

describe('rendered answers', () => {
  it('are rendered once per subject and key', () => {
    const cache = createRenderedCache();
    const [one, other] = [{}, {}];
    let count = 0;
    const render = (): string => `body ${(count += 1)}`;
    const first = cache.get(one, 'list', render);
    expect(cache.get(one, 'list', render)).to.equal(first);
    expect(cache.get(one, 'snapshot', render).body.toString()).to.equal('body 2');
    expect(cache.get(other, 'list', render).body.toString()).to.equal('body 3');
  });

  it('have a strong tag that only the body makes', () => {
    const cache = createRenderedCache();
    const tag = (body: string | Buffer): string => cache.get({}, 'k', () => body).etag;
    expect(tag('ü')).to.equal(tag(Buffer.from('ü')));
    expect(tag('ü')).to.not.equal(tag('u'));
    expect(tag('ü')).to.match(/^"[\w-]{43}"$/);
  });

  it('that were used longest ago go when they grow too large', () => {
    const cache = createRenderedCache({ maxBytes: 10 });
    const subject = {};
    const rendered: string[] = [];
    const get = (key: string, body: string): string =>
      cache
        .get(subject, key, () => {
          rendered.push(key);
          return body;
        })
        .body.toString();
    get('a', '1234');
    get('b', '1234');
    get('a', '1234');
    get('c', '1234');
    get('a', '1234');
    get('b', '1234');
    expect(rendered).to.deep.equal(['a', 'b', 'c', 'b']);
    expect(get('huge', 'x'.repeat(100))).to.have.length(100);
    get('huge', '');
    expect(rendered.at(-1)).to.equal('huge');
  });
});
