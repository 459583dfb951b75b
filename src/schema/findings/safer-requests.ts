/** The requests of safer alternatives. */
import type { Operation } from 'fast-json-patch';
import type { NewEvent } from '../model/events.js';
import type { SafeRequest } from './model.js';

const segment = encodeURIComponent;

/** The online request for one event. For events without a request of their own, the whole diff. */
export function onlineRequest(event: NewEvent): SafeRequest {
  const { collection, field } = event;
  const whole: SafeRequest = { method: 'POST', path: '/schema/apply?online' };
  switch (event.type) {
    case 'field.updated': {
      const body = bodyOf(event.data.patch);
      if (body === undefined) return whole;
      return { method: 'PATCH', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online`, body };
    }
    case 'field.deleted':
      return { method: 'DELETE', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online` };
    case 'relation.created':
      return { method: 'POST', path: '/relations?online', body: relationBody(event.data.relation) };
    default:
      return whole;
  }
}

function relationBody({ many_collection, many_field, one_collection, schema }: RelationCreated): unknown {
  const key = schema === null ? null : { on_delete: schema.on_delete };
  return { collection: many_collection, field: many_field, related_collection: one_collection, schema: key };
}

type RelationCreated = Extract<NewEvent, { type: 'relation.created' }>['data']['relation'];

/** Returns the body of a PATCH request for a patch of whole members: `/schema/is_nullable`. */
function bodyOf(patch: readonly Operation[]): unknown {
  const body: { [member: string]: unknown } = {};
  for (const each of patch) {
    const path = each.path.split('/').slice(1);
    const [part = '', member] = path;
    if (path.length > 2 || (each.op !== 'add' && each.op !== 'replace')) return undefined;
    if (member === undefined) body[part] = each.value;
    else body[part] = { ...(body[part] as object | undefined), [member]: each.value };
  }
  return body;
}
