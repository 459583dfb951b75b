import { Command, Option } from 'commander';
import { expect } from 'chai';
import { completionOf } from '../../src/cli/completion.js';

/** A small program: a command with an argument with choices, one with a subcommand, options of every kind. */
function program(): Command {
  const all = new Command('dps').version('1.0.0').option('--json', "the program's JSON");
  const users = all.command('users').summary('who may come in');
  users
    .command('add')
    .summary('one more')
    .argument('<email>')
    .addOption(new Option('-r, --role <role>', 'what it may do').choices(['admin', 'reader']));
  all.command('completion').summary('of a shell').argument('<shell>').option('--to [file]', 'where to');
  const completion = all.commands.find((each) => each.name() === 'completion');
  completion?.registeredArguments[0]?.choices(['bash', 'zsh']);
  return all;
}

const lines = (shell: string): string[] => completionOf(program(), shell).split('\n');

describe('shell completion', () => {
  it('the fish script offers commands first, then the options of the command', () => {
    expect(lines('fish')).to.deep.equal([
      '# dps completion for fish',
      "complete -c dps -f -n 'not __fish_seen_subcommand_from users completion help' -a 'users' -d 'who may come in'",
      "complete -c dps -f -n 'not __fish_seen_subcommand_from users completion help' -a 'completion' -d 'of a shell'",
      "complete -c dps -f -n 'not __fish_seen_subcommand_from users completion help' -a 'help' -d 'display help for command'",
      "complete -c dps -l version -s V -d 'output the version number'",
      "complete -c dps -l json -d 'the program'\\''s JSON'",
      "complete -c dps -l help -s h -d 'display help for command'",
      "complete -c dps -f -n '__fish_seen_subcommand_from users; and not __fish_seen_subcommand_from add help' -a 'add' -d 'one more'",
      "complete -c dps -f -n '__fish_seen_subcommand_from users; and not __fish_seen_subcommand_from add help' -a 'help' -d 'display help for command'",
      "complete -c dps -n '__fish_seen_subcommand_from users' -l help -s h -d 'display help for command'",
      "complete -c dps -n '__fish_seen_subcommand_from users; and __fish_seen_subcommand_from add' -l role -s r -x -a 'admin reader' -d 'what it may do'",
      "complete -c dps -n '__fish_seen_subcommand_from users; and __fish_seen_subcommand_from add' -l help -s h -d 'display help for command'",
      "complete -c dps -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh'",
      "complete -c dps -n '__fish_seen_subcommand_from completion' -l to -r -d 'where to'",
      "complete -c dps -n '__fish_seen_subcommand_from completion' -l help -s h -d 'display help for command'",
    ]);
  });

  it('the bash script offers every command, its arguments and option values', () => {
    const script = lines('bash').map((line) => line.trim());
    expect(script[0]).to.equal('# completion of dps for bash');
    expect(script).to.include(`'users'|'users add'|'completion') path="$word" ;;`);
    expect(script.filter((line) => line.includes(') found='))).to.deep.equal([
      `'users add:--role') found='admin reader' ;;`,
      `'users add:-r') found='admin reader' ;;`,
      `'completion:--to') found='' ;;`,
      `'') found='users completion help --version -V --json --help -h' ;;`,
      `'users') found='add help --help -h' ;;`,
      `'users add') found='--role -r --help -h' ;;`,
      `'completion') found='bash zsh --to --help -h' ;;`,
    ]);
    expect(script.at(-1)).to.equal('complete -o default -F _dps dps');
  });

  it('the zsh script is the bash script in zsh syntax', () => {
    const bash = completionOf(program(), 'bash');
    expect(completionOf(program(), 'zsh')).to.equal(
      `#compdef dps\nautoload -U +X bashcompinit && bashcompinit\n${bash}`,
    );
  });
});
