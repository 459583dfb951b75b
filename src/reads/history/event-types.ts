/** All event types, collections first, because a batch summary begins with the most important change. */
import { EVENT_KINDS } from '../../schema/fold/event-schemas.js';
import type { EventType } from '../../schema/model/events.js';

export const EVENT_TYPES = Object.keys(EVENT_KINDS) as [EventType, ...EventType[]];
