#!/usr/bin/env node
import { runCli } from './command-line.js';
import { createTerminal } from './output.js';

const { terminal, finish } = createTerminal(process);
const code = await runCli(process.argv.slice(2), { environment: process.env, terminal });
process.exitCode = await finish(code);
