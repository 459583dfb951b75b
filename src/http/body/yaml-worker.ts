/** Reads one YAML document in a worker thread and returns JSON text. */
import { parentPort, workerData } from 'node:worker_threads';
import type { YamlLimits } from '../formats.js';
import { readYamlAsJson } from './yaml-json.js';

const { bytes, limits } = workerData as { bytes: Uint8Array; limits: YamlLimits };
const read = readYamlAsJson(bytes, limits);
// The result is transferred, not copied.
parentPort?.postMessage(read, read.kind === 'json' ? [read.bytes.buffer] : []);
