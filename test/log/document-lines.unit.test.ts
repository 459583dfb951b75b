import { expect } from 'chai';
import { sha256 } from '../../src/kernel/sha256.js';
import { documentFault, documentLine, readDocumentLine } from '../../src/log/document-lines.js';

describe('the document of an event', () => {
  const content = '{"comment":"why not"}';
  const hash = sha256(content);

  it('may be complete or erased, but not missing or different', () => {
    const faultOf = (recorded: Parameters<typeof documentFault>[0]) => documentFault(recorded, { hash, sha256 });
    expect(faultOf({ hash, content })).to.equal(null);
    expect(faultOf({ hash, content: null })).to.equal(null);
    expect(faultOf(undefined)).to.equal(`its document ${hash} is missing`);
    for (const other of ['', `${content} `])
      expect(faultOf({ hash, content: other })).to.equal(
        `its document ${hash} does not match its hash: it was changed`,
      );
  });

  it('is read only from the line that was written for it', () => {
    for (const document of [
      { hash, content },
      { hash, content: null },
    ])
      expect(readDocumentLine(documentLine(document))).to.deep.equal(document);
    for (const line of [
      '',
      '{"position":1}',
      '{"document":',
      `{"document":"${hash}"}`,
      `{"document":"${hash}","content":1}`,
      `{"document":"${hash.slice(1)}","content":null}`,
      `{"document":"${hash}0","content":null}`,
      `{"document":"x${hash.slice(1)}","content":null}`,
      `{"document":"${hash}","content":null,"more":1}`,
    ])
      expect(readDocumentLine(line), line).to.equal(null);
  });
});
