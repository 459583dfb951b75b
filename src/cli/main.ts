#!/usr/bin/env node
/** The operators' command, `dps`. */
import { text as readStream } from 'node:stream/consumers';
import { runCli } from './run.js';

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  terminal: {
    print: (text) => console.log(text),
    note: (text) => console.error(text),
    ...(process.stderr.isTTY && { rewrite: (line: string) => void process.stderr.write(`\r\u001B[2K${line}`) }),
    colours: process.stdout.isTTY && !process.env['NO_COLOR'],
    read: () => readStream(process.stdin),
  },
});
