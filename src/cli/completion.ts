import { quoteForShell } from '../kernel/text.js';
import type { Command } from 'commander';

/** A command with the words before it: `''`, `users`, `users add`. */
interface CompletedCommand {
  path: string;
  commands: { name: string; summary: string }[];
  options: { flags: string[]; summary: string; takesValue: boolean; choices: readonly string[] }[];
  /** The choices for the first argument. */
  choices: readonly string[];
}

/** @param shell bash, zsh or fish */
export function completionOf(program: Command, shell: string): string {
  const commands = placesOf(program, '');
  if (shell === 'fish') return fish(commands);
  return shell === 'zsh' ? zsh(commands) : bash(commands);
}

function placesOf(command: Command, path: string): CompletedCommand[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const location: CompletedCommand = {
    path,
    commands: commands.map((each) => ({ name: each.name(), summary: help.subcommandDescription(each) })),
    options: help.visibleOptions(command).map((option) => ({
      flags: [option.long, option.short].filter((flag) => flag !== undefined),
      summary: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands.filter((each) => each.name() !== 'help');
  return [location, ...below.flatMap((each) => placesOf(each, `${path} ${each.name()}`.trim()))];
}

const wordsOf = ({ commands, options, choices }: CompletedCommand): string =>
  [...commands.map(({ name }) => name), ...choices, ...options.flatMap(({ flags }) => flags)].join(' ');

function bash(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoteForShell(path));
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, choices }) =>
        flags.map((flag) => `    ${quoteForShell(`${path}:${flag}`)}) found=${quoteForShell(choices.join(' '))} ;;`),
      ),
  );
  return `# completion of dps for bash
_dps() {
  local path='' word found='' i
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${path:+$path }\${COMP_WORDS[i]}"
    case "$word" in
      ${paths.join('|')}) path="$word" ;;
    esac
  done
  case "$path:$before" in
${values.join('\n')}
    *)
      case "$path" in
${commands.map((command) => `        ${quoteForShell(command.path)}) found=${quoteForShell(wordsOf(command))} ;;`).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _dps dps`;
}

function zsh(commands: readonly CompletedCommand[]): string {
  return `#compdef dps\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
}

/**
 * Returns the script for fish, with one line per completion. After a command, only its options and arguments are
 * completed.
 */
function fish(all: readonly CompletedCommand[]): string {
  const lines = all.flatMap(({ path, commands, options, choices }) => {
    const after = path.split(' ').filter((name) => name !== '');
    const names = commands.map(({ name }) => name).join(' ');
    const parents = after.map((name) => `__fish_seen_subcommand_from ${name}`);
    const here = names === '' ? parents : [...parents, `not __fish_seen_subcommand_from ${names}`];
    const at = (conditions: string[]) =>
      conditions.length === 0 ? '' : ` -n ${quoteForShell(conditions.join('; and '))}`;
    return [
      ...commands.map(
        ({ name, summary }) => `complete -c dps -f${at(here)} -a ${quoteForShell(name)} -d ${quoteForShell(summary)}`,
      ),
      ...(choices.length === 0 ? [] : [`complete -c dps -f${at(parents)} -a ${quoteForShell(choices.join(' '))}`]),
      ...options.map((option) => `complete -c dps${at(parents)} ${fishOption(option)}`),
    ];
  });
  return ['# dps completion for fish', ...lines].join('\n');
}

function fishOption({ flags, summary, takesValue, choices }: CompletedCommand['options'][number]): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const value = takesValue ? [choices.length === 0 ? '-r' : `-x -a ${quoteForShell(choices.join(' '))}`] : [];
  return [...names, ...value, `-d ${quoteForShell(summary)}`].join(' ');
}
