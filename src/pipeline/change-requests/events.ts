/** Events about change requests, and who causes those that nobody asked for. */
import type { Cause, LogEvent, OtherEventData } from '../../schema/model/events.js';
import type { ChangeEvent, ChangeRequest } from '../../schema/change-requests/model.js';
import { CHANGE } from '../../schema/change-requests/model.js';

/** An event of a change request, as decided: without position, batch and actor, which come when it is appended. */
export function changeEvent<T extends ChangeEvent['type']>(type: T, id: string, data: OtherEventData[T]): LogEvent {
  return { type, version: 1, collection: null, field: null, subject: { kind: CHANGE, id }, data } as LogEvent;
}

/** What the service does of a request by itself. */
export function ownCause(command: string): Cause {
  return {
    actor: { id: 'service', name: 'Data Platform Service' },
    command,
    reason: null,
    request_id: null,
    ip: null,
    user_agent: null,
  };
}

/** The change is that of whoever wants it applied, whoever carries it out. */
export function applicantsCause({ author, applicant, operation, reason }: ChangeRequest): Cause {
  return { ...ownCause(operation), actor: applicant ?? author, reason };
}
