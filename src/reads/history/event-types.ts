/** Every type of event, collections first: a batch's summary begins with what it is most about. */
import { EVENT_SCHEMAS } from '../../schema/event-schemas.js';
import type { EventType } from '../../schema/events.js';

export const EVENT_TYPES = Object.keys(EVENT_SCHEMAS) as [EventType, ...EventType[]];
