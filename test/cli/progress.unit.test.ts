import { expect } from 'chai';
import type { Terminal } from '../../src/cli/command.js';
import { renderBar, createProgress } from '../../src/cli/output.js';

describe('progress', () => {
  function renderProgress(
    work: (progress: ReturnType<typeof createProgress>, wait: (ms: number) => void) => void,
    isTerminal: boolean,
  ) {
    const lines: string[] = [];
    let now = 1_000;
    const terminal = {
      note: (line: string) => void lines.push(line),
      ...(isTerminal && { rewrite: (line: string) => void lines.push(line) }),
    } as unknown as Terminal;
    work(
      createProgress(terminal, 'reading', () => now),
      (milliseconds) => (now += milliseconds),
    );
    return lines;
  }

  it('is a bar of thirty characters', () => {
    expect(renderBar(0, 0)).to.equal(`[${'#'.repeat(30)}]`);
    expect(renderBar(0, 7)).to.equal(`[${'.'.repeat(30)}]`);
    expect(renderBar(1, 2)).to.equal(`[${'#'.repeat(15)}${'.'.repeat(15)}]`);
    expect(renderBar(29, 30)).to.equal(`[${'#'.repeat(29)}.]`);
    expect(renderBar(9, 7)).to.equal(`[${'#'.repeat(30)}]`);
  });

  it('prints a line every five seconds and one at the end', () => {
    const lines = renderProgress((progress, wait) => {
      for (let done = 0; done <= 4; done += 1) {
        progress.at(done, 4);
        wait(2_500);
      }
      progress.at(4, 4);
      progress.end();
    }, false);
    expect(lines).to.deep.equal(['reading: 50 % (2 of 4), about 5 s left', 'reading: 100 % (4 of 4)']);
  });

  it('redraws ten times a second on a terminal and is removed at the end', () => {
    const lines = renderProgress((progress, wait) => {
      wait(99);
      progress.at(1, 10);
      wait(1);
      progress.at(1, 10);
      progress.at(2, 10);
      wait(100);
      progress.at(0, 10);
      wait(100);
      progress.at(0, 10);
      progress.end();
    }, true);
    expect(lines).to.deep.equal([
      `reading ${renderBar(1, 10)} 10 % (1 of 10), about 1 s left`,
      `reading ${renderBar(0, 10)} 0 % (0 of 10)`,
      '',
    ]);
  });

  it('prints nothing if there was no progress', () => {
    expect(renderProgress((progress) => progress.end(), true)).to.deep.equal([]);
    expect(renderProgress((progress) => progress.at(0, 0), false)).to.deep.equal(['reading: 100 % (0 of 0)']);
    expect(renderProgress((progress) => progress.at(7, 5), false)).to.deep.equal(['reading: 100 % (7 of 5)']);
  });
});
