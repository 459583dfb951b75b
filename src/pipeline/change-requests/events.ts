/** Creates events about change requests, and the causes of those without a requester. */
import type { Cause, LogEvent, OtherEventData } from '../../schema/model/events.js';
import type { ChangeEvent, ChangeRequest } from '../../schema/change-requests/model.js';
import { CHANGE } from '../../schema/change-requests/model.js';

/** An event of a change request before it is appended, so without position, batch and actor. */
export function changeEvent<T extends ChangeEvent['type']>(type: T, id: string, data: OtherEventData[T]): LogEvent {
  return { type, version: 1, collection: null, field: null, subject: { kind: CHANGE, id }, data } as LogEvent;
}

/** The cause of actions that the service takes on its own. */
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

/** Attributes the change to the user who applies it, whichever process carries it out. */
export function applicantsCause({ author, applicant, operation, reason }: ChangeRequest): Cause {
  return { ...ownCause(operation), actor: applicant ?? author, reason };
}
