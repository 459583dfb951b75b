/** The upper limit for reads: Express sends the same bytes from memory, and parses a posted body. */
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import express from 'express';

const body = await buffer(process.stdin);
const app = express();
app.disable('etag');
app.disable('x-powered-by');
app.get('/', (_req, res) => {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(body);
});
app.post('/', express.json({ limit: '1gb' }), (_req, res) => {
  res.json({});
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
