import type { Command } from 'commander';
import { createProgram } from '../../src/cli/command-line.js';
import { createTranscript } from '../support/transcript.js';

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

describe('the help of dps', () => {
  it('matches the recorded text', async () => {
    const printed: string[] = [];
    const program = createProgram(
      { print: (text) => void printed.push(text), note: (text) => void printed.push(text) },
      (command) => command.action(() => undefined),
    );
    const transcript = createTranscript('dps-help.txt');
    const add = (command: Command): void => {
      // The default width without a terminal, on any terminal.
      command.configureHelp({ helpWidth: 120 }).outputHelp();
      transcript.add([`$ ${nameOf(command)} --help`, ...printed.splice(0)].join('\n'));
      for (const each of command.commands) add(each);
    };
    add(program);
    await transcript.expectAsBefore();
  });
});
