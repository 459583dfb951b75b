/**
 * The output of /metrics after a little of everything, without numbers, compared with `test/fixtures/metrics.txt`.
 */
import { expect } from 'chai';
import { json } from '../support/client.js';
import { createTranscript } from '../support/transcript.js';
import { withService } from '../support/with-service.js';

/** Some metrics count for the whole process, in which other test files ran before. */
const MOMENTARY =
  /^dps_(\w*_seconds|\w*_bytes|database_pool|rendered|listener|projection_lag|overload_refusals|work_waiting)/;

/** Metrics of the process and of Node are not part of the service. */
const serviceMetrics = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/^(# (HELP|TYPE) )?(process|nodejs)_/.test(line))
    .map((line) =>
      line.startsWith('#') || !MOMENTARY.test(line)
        ? line
        : line.replace(/ [-+\d.e]+$/, ' <n>').replace(/le="[^"]+"/, 'le="<n>"'),
    )
    .filter((line, index, all) => line !== all[index - 1])
    .join('\n');

describe('the metrics', () => {
  const { client } = withService();

  it('match the recorded list with help texts and labels', async () => {
    const field = { field: 'title', type: 'string', meta: { interface: 'input' } };
    expect((await client('/collections', json({ collection: 'a', schema: {}, fields: [field] }))).status).to.equal(200);
    expect((await client('/collections', json({ collection: 'a', schema: {} }))).status).to.equal(409);
    expect((await client('/fields/a/title', json({ meta: {} }, 'PATCH'))).status).to.equal(200);
    expect((await client('/schema/snapshot')).status).to.equal(200);
    expect((await client('/nowhere')).status).to.equal(404);
    expect((await client('/collections/none')).status).to.equal(404);
    const { status, text } = await client('/metrics');
    expect(status).to.equal(200);
    const transcript = createTranscript('metrics.txt');
    transcript.add(serviceMetrics(text));
    await transcript.expectAsBefore([[/(?<=(release|version)=")[^"]+/g, '<release>']]);
  });
});
