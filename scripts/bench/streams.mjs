/** Opens streams of events in its own thread and reads them; posts a message when all are open. */
import { get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, headers, count } = workerData;

const opened = () =>
  new Promise((resolve, reject) => {
    get(`${url}/history/stream`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was answered with ${response.statusCode}`));
      response.resume().on('error', () => {});
      resolve();
    }).on('error', reject);
  });

for (let open = 0; open < count; open += 50)
  await Promise.all(Array.from({ length: Math.min(50, count - open) }, opened));
parentPort.postMessage('open');
