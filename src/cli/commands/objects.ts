import { OBJECT_KINDS, type ObjectName } from '../../schema/model/objects.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { renamedId } from '../../schema/model/object-ids.js';
import { grantTexts } from '../../schema/model/privileges.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { parseGrants } from '../../schema/sql-text/privileges.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import { OperatorError } from '../../kernel/problem.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { type ServiceRequest, changeHeaders, requestAll, requestData, requestText } from '../connections/service.js';
import { nameOf, readContent, objectArgument, parseObjectKind } from '../input.js';
import { toOneLine, show, table } from '../output.js';
import { type Plan, describePlan, exitCodeOf } from './apply.js';

export async function list(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const query = { kind: text(values, 'kind'), name: text(values, 'name'), collection: text(values, 'collection') };
  const objects = await requestAll(invocation, 'listObjects', { query });
  const rows = objects.map((object) => [objectArgument(object), object.comment ?? ''].map(toOneLine));
  show(invocation, objects, () => (rows.length === 0 ? 'No objects.' : table(['object', 'comment'], rows)));
  return 0;
}

/** Prints the definition in a form that `create` and `update` accept. */
export async function showObject(invocation: Invocation): Promise<ExitCode> {
  const object = await requestData(invocation, 'getObject', { params: { ...namedObject(invocation) } });
  if (isSet(invocation.values, 'json')) show(invocation, object, () => '');
  else invocation.terminal.print(textOf(object), { isExact: true });
  return 0;
}

/** Privileges are printed as GRANT or REVOKE statements. */
const textOf = (object: SchemaObject): string =>
  typeof object.definition === 'string' ? object.definition : grantTexts(object, quotedName).join(';\n');

/** Creates an object. Its kind and name follow from the statement. */
export async function create(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const definition = await readDefinition(invocation, file);
  const parsed = parseObject(definition);
  if (typeof parsed === 'string') throw new OperatorError(`${nameOf(file)}: the definition ${parsed}.`);
  const { kind, id } = parsed;
  return change(
    invocation,
    'createObject',
    { body: { kind, definition } },
    `${objectArgument({ kind, id })} was created.`,
  );
}

function parseObject(definition: string): ObjectName | string {
  const grants = parseGrants(definition);
  if (typeof grants !== 'string') return { kind: 'privileges', id: grants.id };
  return /^\s*(?:GRANT|REVOKE)\b/i.test(definition) ? grants : parseDefinition(definition);
}

export async function update(invocation: Invocation): Promise<ExitCode> {
  const object = namedObject(invocation);
  const body = { definition: await readDefinition(invocation, invocation.positionals[1] ?? '') };
  return change(invocation, 'updateObject', { params: { ...object }, body }, `${objectArgument(object)} was updated.`);
}

export function rename(invocation: Invocation): Promise<ExitCode> {
  const object = namedObject(invocation);
  const [, to = ''] = invocation.positionals;
  const done = `${objectArgument(object)} is now ${objectArgument({ ...object, id: renamedId(object, to) })}.`;
  return change(invocation, 'renameObject', { params: { ...object }, body: { to } }, done);
}

export function remove(invocation: Invocation): Promise<ExitCode> {
  const object = namedObject(invocation);
  return change(invocation, 'deleteObject', { params: { ...object } }, `${objectArgument(object)} was deleted.`);
}

/**
 * Applies a change, or shows its plan with --dry-run. Exit code 2 if the change is rejected, 3 if the policy blocks it.
 */
async function change(
  invocation: Invocation,
  operation: 'createObject' | 'updateObject' | 'renameObject' | 'deleteObject',
  request: Pick<ServiceRequest, 'params' | 'body'>,
  done: string,
): Promise<ExitCode> {
  const { values } = invocation;
  const isDry = isSet(values, 'dryRun');
  const sent = { ...request, query: { dry_run: isDry }, headers: changeHeaders(invocation) };
  const answer = await requestText(invocation, operation, sent);
  if (isDry) {
    const plan = JSON.parse(answer) as Plan;
    show(invocation, plan, () => describePlan(plan));
    return exitCodeOf(plan, values);
  }
  const result = answer === '' ? { deleted: request.params } : (JSON.parse(answer) as { data: unknown }).data;
  show(invocation, result, () => toOneLine(done));
  return 0;
}

function namedObject({ positionals: [argument = ''] }: Invocation): ObjectName {
  const object = parseObjectKind(argument);
  if (object !== undefined && object.id !== '') return object;
  const kinds = OBJECT_KINDS.map((kind) => `${kind}:NAME`).join(' or ');
  throw new UsageError(`${JSON.stringify(argument)} does not name an object. Write ${kinds}.`);
}

/** Reads a definition without the last line end of the file, so that `show` prints the same statement. */
async function readDefinition(invocation: Invocation, file: string): Promise<string> {
  const content = await readContent(invocation, file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content).trim();
  } catch (cause) {
    throw new OperatorError(`${nameOf(file)} is not UTF-8 text.`, { cause });
  }
}
