/** Loads TypeScript in worker threads as well, where tsx alone does so in the main thread only. */
import 'tsx';
import { isMainThread } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

if (!isMainThread) register();
