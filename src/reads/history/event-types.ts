/** Every type of event, collections first: a batch's summary begins with what it is most about. */
import { EVENT_KINDS } from '../../schema/fold/event-schemas.js';
import type { EventType } from '../../schema/model/events.js';

export const EVENT_TYPES = Object.keys(EVENT_KINDS) as [EventType, ...EventType[]];
