import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { addBackfills, isEmpty } from '../planned-changes.js';
import { mergeFiles } from '../schema-files/merge-files.js';
import { readPresentFiles } from '../schema-files/read-folder.js';
import { changeHeaders } from '../connections/service.js';
import { confirmAndApply, reportNoChanges } from './apply.js';
import { propose } from '../../features/change-requests/cli-proposals.js';
import { pullInto } from './pull.js';

/** Applies the files to the service. On success, the files are rewritten, unless --base or --dry-run is set. */
export async function push(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  changeHeaders(invocation);
  expectProposal(invocation);
  const { answer, document } = await mergeFiles(invocation, directory);
  const proposes = isSet(invocation.values, 'propose');
  const isUnchanged = isEmpty(document);
  const merged = { type: 'application/json', content: Buffer.from(answer) };
  const diff = isUnchanged ? merged : addBackfills(invocation.values, merged, directory);
  if (proposes && !isUnchanged) return propose(invocation, diff);
  const code = isUnchanged ? reportNoChanges(invocation) : await confirmAndApply(invocation, diff);
  // With --base, the files belong to another service or to a commit, so their lock must not change.
  const keepsUp = code === 0 && !isSet(invocation.values, 'dryRun') && text(invocation.values, 'base') === undefined;
  if (keepsUp) await pullInto(invocation, directory, await readPresentFiles(invocation));
  return code;
}

/** Rejects options that apply only to change requests or only to direct changes. */
function expectProposal({ values }: Invocation): void {
  const title = text(values, 'title');
  if (!isSet(values, 'propose')) {
    if (title !== undefined) throw new UsageError('--title requires --propose.');
    return;
  }
  if (title === undefined) throw new UsageError('--propose requires --title: the title of the change request.');
  for (const [name, option] of [
    ['dryRun', '--dry-run'],
    ['yes', '--yes'],
    ['allowDrop', '--allow-drop'],
  ] as const)
    if (values[name] !== undefined)
      throw new UsageError(`${option} cannot be used with --propose, which changes nothing.`);
}
