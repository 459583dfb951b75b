import type { z } from 'zod';
import type { webhook, webhookWithSecret } from './routes-answers.js';
import { type ExitCode, type Invocation, UsageError, text, texts } from '../../cli/command.js';
import { type ServiceRequest, requestData, requestText, reasonHeader } from '../../cli/connections/service.js';
import { json, toOneLine, show, table } from '../../cli/output.js';
import { OperatorError } from '../../kernel/problem.js';
import { isPosition } from '../../kernel/text.js';

type Webhook = z.output<typeof webhook>;
type WithSecret = z.output<typeof webhookWithSecret>;

export async function list(invocation: Invocation): Promise<ExitCode> {
  const webhooks = await requestData(invocation, 'listWebhooks');
  show(invocation, webhooks, () => (webhooks.length === 0 ? 'No webhooks.' : table(HEADER, webhooks.map(row))));
  return 0;
}

const HEADER = ['name', 'state', 'behind', 'types', 'collections', 'url', 'id'];

const row = ({ name, state, disabled_because: because, behind, types, collections, url, id }: Webhook): string[] =>
  [
    name,
    because === null ? state : `${state} (${because})`,
    String(behind),
    types.join(','),
    collections?.join(',') ?? '',
    url,
    id,
  ].map(toOneLine);

/** Adds a webhook and prints the secret, which cannot be shown again. */
export async function add(invocation: Invocation): Promise<ExitCode> {
  const [name = '', url = ''] = invocation.positionals;
  const made = await send(invocation, 'createWebhook', { body: { name, url, ...settingsIn(invocation) } });
  showSecret(invocation, made, `The webhook "${toOneLine(made.name)}" was created.`);
  return 0;
}

export async function set(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const [name, url] = [text(values, 'name'), text(values, 'newUrl')];
  const settings = {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...settingsIn(invocation),
  };
  if (Object.keys(settings).length === 0) throw new UsageError('Name at least one change.');
  return update(invocation, settings, 'was updated');
}

export const enable = (invocation: Invocation): Promise<ExitCode> =>
  update(invocation, { enabled: true }, 'is enabled');

export const disable = (invocation: Invocation): Promise<ExitCode> =>
  update(invocation, { enabled: false }, 'is disabled');

export async function remove(invocation: Invocation): Promise<ExitCode> {
  const removed = await find(invocation);
  await requestText(invocation, 'deleteWebhook', { params: { id: removed.id }, headers: reasonHeader(invocation) });
  show(invocation, removed, () => `The webhook "${toOneLine(removed.name)}" was deleted.`);
  return 0;
}

/** Sends a test message. Exit code 1 if the receiver did not accept it. */
export async function test(invocation: Invocation): Promise<ExitCode> {
  const { id } = await find(invocation);
  const result = await requestData(invocation, 'testWebhook', { params: { id } });
  const { status, milliseconds, error } = result;
  show(invocation, result, () => error ?? `The receiver responded with ${status} after ${milliseconds} ms.`);
  return error === null ? 0 : 1;
}

export async function replay(invocation: Invocation): Promise<ExitCode> {
  const [, position = ''] = invocation.positionals;
  if (!isPosition(position)) throw new UsageError('POSITION must be a positive integer.');
  const { id } = await find(invocation);
  const changed = await send(invocation, 'replayWebhook', { params: { id }, body: { position: Number(position) } });
  show(invocation, changed, () => `The webhook "${toOneLine(changed.name)}" continues at position ${position}.`);
  return 0;
}

export async function rotate(invocation: Invocation): Promise<ExitCode> {
  const hours = text(invocation.values, 'overlap');
  if (hours !== undefined && !/^\d{1,3}$/.test(hours)) throw new UsageError('--overlap must be a number of hours.');
  const { id } = await find(invocation);
  const body = hours === undefined ? {} : { overlap_hours: Number(hours) };
  const changed = await send(invocation, 'rotateWebhookSecret', { params: { id }, body });
  const until = changed.old_secret_until;
  const overlap = until === null ? '' : ` Until ${until}, requests are also signed with the former secret.`;
  showSecret(invocation, changed, `The webhook "${toOneLine(changed.name)}" has a new secret.${overlap}`);
  return 0;
}

export async function deliveries(invocation: Invocation): Promise<ExitCode> {
  const { id } = await find(invocation);
  const attempts = await requestData(invocation, 'listWebhookDeliveries', { params: { id } });
  const rows = attempts.map((each) => [
    each.attempted_at,
    each.position === null ? '' : String(each.position),
    each.type,
    each.status === null ? '' : String(each.status),
    `${each.milliseconds} ms`,
    toOneLine(each.error ?? 'delivered'),
  ]);
  const header = ['attempted', 'position', 'type', 'status', 'duration', 'result'];
  show(invocation, attempts, () => (attempts.length === 0 ? 'No deliveries.' : table(header, rows)));
  return 0;
}

function settingsIn({ values }: Invocation): object {
  const [format, types, collections] = [text(values, 'format'), texts(values, 'type'), texts(values, 'collection')];
  return {
    ...(format !== undefined && { format }),
    ...(types.length > 0 && { types }),
    ...(collections.length > 0 && { collections: collections.includes('*') ? null : collections }),
  };
}

/** Finds a webhook by name or id. */
async function find(invocation: Invocation): Promise<Webhook> {
  const [named = ''] = invocation.positionals;
  const all = await requestData(invocation, 'listWebhooks');
  const match = all.find(({ id, name }) => id === named.toLowerCase() || name === named);
  if (match !== undefined) return match;
  throw new OperatorError(`Webhook "${named}" does not exist. List all webhooks with "dps webhooks".`);
}

async function update(invocation: Invocation, body: object, done: string): Promise<ExitCode> {
  const { id } = await find(invocation);
  const changed = await send(invocation, 'updateWebhook', { params: { id }, body });
  show(invocation, changed, () => `The webhook "${toOneLine(changed.name)}" ${done}.`);
  return 0;
}

const send = <K extends 'createWebhook' | 'updateWebhook' | 'replayWebhook' | 'rotateWebhookSecret'>(
  invocation: Invocation,
  operation: K,
  request: Pick<ServiceRequest, 'params' | 'body'>,
) => requestData(invocation, operation, { ...request, headers: reasonHeader(invocation) });

function showSecret({ terminal, values }: Invocation, made: WithSecret, sentence: string): void {
  if (values['json'] === true) return terminal.print(json(made));
  terminal.note(`${sentence} This is its secret, which is shown only once:`);
  terminal.print(made.secret);
}
