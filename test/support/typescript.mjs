/** Loads TypeScript in worker threads too, because tsx does so in the main thread only. */
import 'tsx';
import { isMainThread } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

if (!isMainThread) register();
