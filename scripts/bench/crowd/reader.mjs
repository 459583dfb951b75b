/**
 * One ordinary reader, in its own thread so that the parent's crowd does not delay it. It requests one collection and
 * the liveness check every `every` milliseconds. When told to stop, it reports the milliseconds of each response.
 */
import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';

const { url, headers, every } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

const WORKS = {
  collection: { path: '/collections/collection_00007', headers },
  page: { path: '/fields/collection_00009', headers },
  ping: { path: '/server/ping', headers: {} },
};
const answers = Object.fromEntries(Object.keys(WORKS).map((name) => [name, []]));
const pending = Object.fromEntries(Object.keys(WORKS).map((name) => [name, new Set()]));

function ask(name, work) {
  const began = performance.now();
  pending[name].add(began);
  const done = (status) => {
    if (pending[name].delete(began)) answers[name].push({ status, milliseconds: performance.now() - began });
  };
  get(url + work.path, { agent, headers: work.headers }, (response) => {
    response
      .resume()
      .on('end', () => done(response.statusCode))
      .on('error', () => done(0));
  }).on('error', () => done(0));
}

const timer = setInterval(() => {
  for (const [name, work] of Object.entries(WORKS)) if (pending[name].size < 8) ask(name, work);
}, every);

parentPort.on('message', () => {
  clearInterval(timer);
  // A pending request counts with the time that it has waited so far.
  for (const [name, open] of Object.entries(pending))
    for (const began of open) answers[name].push({ status: 0, milliseconds: performance.now() - began });
  parentPort.postMessage(answers);
  parentPort.close();
  agent.destroy();
});
