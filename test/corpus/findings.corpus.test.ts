/** Findings of real schemas must be sensible. */
import { expect } from 'chai';
import { parseYaml } from '../../src/http/formats.js';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { compareSnapshot } from '../../src/schema/compare/compare-snapshot.js';
import { findingOf, groupFindings } from '../../src/schema/findings/finding.js';
import type { Finding } from '../../src/schema/findings/model.js';
import { findingsOf } from '../../src/schema/findings/planned-batch.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { transition } from '../../src/schema/transition/transition.js';
import { type CorpusFile, corpusFiles, corpusIsThere, historyFiles } from './corpus.js';

async function compareStep(before: State, file: CorpusFile): Promise<{ after: State; findings: Finding[] }> {
  const body = await parseYaml(file.text);
  const compared = runToEnd(compareSnapshot(before, body, { force: true, mode: 'mirror', release: '0.1.0' }));
  if (!compared.ok) throw new Error(`${file.name}: ${JSON.stringify(compared.problems)}`);
  const { desired } = compared.value;
  const events = runToEnd(transition(before, desired.state, desired.touched));
  const { statements, after } = runToEnd(planBatch(before, events, 'public'));
  return { after, findings: runToEnd(findingsOf({ before, after, events, statements })) };
}

/** A new schema cannot lose, lock or break anything, so only findings about conventions remain. */
const HABITS = new Set([
  'CASCADE_DELETES',
  'FOREIGN_KEY_WITHOUT_INDEX',
  'JSON_NOT_JSONB',
  'KEY_MAY_OVERFLOW',
  'NAME_NEEDS_QUOTES',
  'RESERVED_NAME',
  'TIME_WITHOUT_ZONE',
]);

describe('findings of real schemas', () => {
  before(function () {
    if (corpusIsThere()) return;
    process.stderr.write('The folder of real schemas is absent: their findings are not looked at.\n');
    this.skip();
  });

  it('are a few notes for a new schema, each reported once', async () => {
    for (const file of corpusFiles()) {
      const { findings } = await compareStep(initialState(), file);
      const shown = `${file.name}: ${findings.map(({ level, code, message }) => `${level} ${code} ${message}`).join('\n')}`;
      expect(findings.length, shown).to.be.at.most(HABITS.size);
      expect(new Set(findings.map(({ code }) => code)).size, shown).to.equal(findings.length);
      for (const { level, code } of findings) expect([level, HABITS.has(code)], shown).to.deep.equal(['note', true]);
    }
  });

  it('report why parts of a file were skipped, once per reason', async () => {
    for (const file of corpusFiles()) {
      const body = await parseYaml(file.text);
      const compared = runToEnd(
        compareSnapshot(initialState(), body, { force: true, mode: 'mirror', release: '0.1.0' }),
      );
      if (!compared.ok) throw new Error(file.name);
      const noticed = compared.value.warnings.map(findingOf);
      const reported = runToEnd(groupFindings(noticed));
      const shown = `${file.name}: ${reported.map(({ code, message }) => `${code} ${message}`).join('\n')}`;
      expect(reported.length, shown).to.be.at.most(15);
      const places = reported.map((each) => each.places?.length ?? 1).reduce((sum, count) => sum + count, 0);
      expect(places, shown).to.equal(noticed.length);
    }
  });

  it('are dangers only if data is lost, in a history of ten steps', async () => {
    let state = initialState();
    const dangers: string[] = [];
    for (const file of historyFiles()) {
      const { after, findings } = await compareStep(state, file);
      state = after;
      for (const { level, code, message } of findings) {
        if (level === 'danger') dangers.push(code);
        // A new field is null in every row, so its key cannot fail.
        if (code === 'MAY_FAIL') expect(message).to.match(/nullability/);
      }
    }
    expect(new Set(dangers)).to.deep.equal(new Set(['LOSES_DATA']));
  });
});
