/* Writes the body of a delivery, in the format of the receiver, and its signature. */
import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { visibleText } from '../../kernel/text.js';
import { actorName, type StoredEvent } from '../../schema/model/events.js';

export const FORMATS = ['cloudevents', 'slack', 'teams'] as const;
export type Format = (typeof FORMATS)[number];

export interface Message {
  /** The id is the same for each attempt, so that a receiver can recognise repetitions. */
  id: string;
  /** The type of the event. */
  type: string;
  /** The position of the event. Null for a test. */
  position: number | null;
  contentType: string;
  body: string;
}

/** Maximum size of a body in bytes. A larger event is sent without its content, and with a path to read the content. */
const MOST_BYTES = 256 * 1024;

/** The prefix of the event types, which CloudEvents recommends. */
const TYPE_PREFIX = 'data-platform-service.';

/**
 * @param text an event of the log as JSON, in the form of the history
 * @param origin identifies the log
 */
export function eventMessage(format: Format, text: string, origin: string): Message {
  const event = JSON.parse(text) as StoredEvent;
  const { id, type, position } = event;
  if (format !== 'cloudevents') return { id, type, position, ...chatBody(format, linesOf(event)) };
  // External receivers must not learn addresses of users or traces of requests. With the salt, they could check
  // guesses.
  const { request_id: _, ip: __, user_agent: ___, context: ____, previous_hash: _____, salt: ______, ...data } = event;
  const about = {
    specversion: '1.0',
    id,
    source: origin,
    type: TYPE_PREFIX + type,
    subject: subjectOf(event),
    time: event.occurred_at,
    // The sequence extension of CloudEvents compares sequences as strings, so the number is padded.
    sequence: String(position).padStart(16, '0'),
  };
  const whole = JSON.stringify({ ...about, datacontenttype: 'application/json', data });
  const isTooLarge = Buffer.byteLength(whole) > MOST_BYTES;
  // `dataref` is defined by the dataref extension of CloudEvents.
  const body = isTooLarge ? JSON.stringify({ ...about, dataref: `/history/events/${position}` }) : whole;
  return { id, type, position, contentType: CLOUDEVENTS, body };
}

/** Creates a message with which admins can test a webhook. */
export function testMessage(
  format: Format,
  { id, origin, name }: { id: string; origin: string; name: string },
): Message {
  const type = 'webhook.test';
  const text = `Test of the webhook "${name}" of Data Platform Service`;
  if (format !== 'cloudevents') return { id, type, position: null, ...chatBody(format, [text]) };
  const about = { specversion: '1.0', id, source: origin, type: TYPE_PREFIX + type, time: new Date().toISOString() };
  const body = JSON.stringify({ ...about, datacontenttype: 'application/json', data: { message: text } });
  return { id, type, position: null, contentType: CLOUDEVENTS, body };
}

const CLOUDEVENTS = 'application/cloudevents+json; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

function subjectOf({ collection, field, subject }: StoredEvent): string | undefined {
  if (collection !== null) return field === null ? collection : `${collection}/${field}`;
  return subject && `${subject.kind}/${subject.id}`;
}

/** Maximum number of characters of a line in a chat. */
const LONGEST_LINE = 500;

/** Counts code points, because receivers may reject half a surrogate pair. */
const shortened = (text: string): string => {
  const characters = Array.from(visibleText(text).replaceAll('\n', ' '));
  return characters.length > LONGEST_LINE ? `${characters.slice(0, LONGEST_LINE).join('')}…` : characters.join('');
};

function linesOf(event: StoredEvent): string[] {
  const { type, actor, command, reason, position } = event;
  const subject = subjectOf(event);
  const lines = [
    subject === undefined ? type : `${type}: ${subject}`,
    `by ${actorName(actor)} (${command}), position ${position}`,
    ...(reason === null ? [] : [`Reason: ${reason}`]),
  ];
  return lines.map(shortened);
}

/**
 * Creates the body for a chat. Names and reasons are untrusted, so they are sent as plain text, which cannot contain
 * links or notify anyone.
 */
function chatBody(
  format: Exclude<Format, 'cloudevents'>,
  lines: readonly string[],
): Pick<Message, 'contentType' | 'body'> {
  const body = format === 'slack' ? slackBody(lines.join('\n')) : teamsBody(lines);
  return { contentType: JSON_TYPE, body: JSON.stringify(body) };
}

/**
 * Creates the body for an incoming webhook of Slack. Notifications show `text`, in which Slack requires these
 * characters to be escaped.
 */
function slackBody(text: string): object {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { text: escaped, blocks: [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }] };
}

/**
 * Creates a card for the Teams workflow "Post to a channel when a webhook request is received". A TextRun has no
 * Markdown.
 */
function teamsBody(lines: readonly string[]): object {
  const body = lines.map((text, index) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...(index === 0 && { weight: 'Bolder' }) }],
  }));
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body,
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

/** Creates a secret in the format of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Returns the headers of an attempt with its signatures, as Standard Webhooks specifies.
 * @param secrets the current secret and, during a rotation, the former one, which also signs
 */
export function signedHeaders(message: Message, secrets: readonly string[], now: Date): Record<string, string> {
  const { id, contentType, body } = message;
  return {
    'content-type': contentType,
    'user-agent': 'data-platform-service-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, now, body)).join(' '),
  };
}
