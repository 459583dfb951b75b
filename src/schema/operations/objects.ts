/** create-object, update-object, rename-object, delete-object. */
import { isObject } from '../../kernel/json.js';
import { type Problem, type Result, invalidProblem, ok, refuse, unknownMembers } from '../../kernel/problem.js';
import { KINDS, OBJECT_KINDS, isType, type ObjectKind, type ObjectName, objectLabel } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { objectNameParts, renamedId } from '../model/object-ids.js';
import { collectionsNeeding } from '../model/order.js';
import { type State, getObject } from '../model/state.js';
import { toNfc, identifierFault } from '../normal-form/names.js';
import { mergeObject, readNewObject } from '../normal-form/object.js';
import { defaultPrivilegesOn } from '../sql-text/object-table.js';
import { Draft } from '../transition/draft.js';
import { columnsOfRenamed } from '../transition/objects.js';
import { type Operation, decideDraft } from './operation.js';

interface CreateObject {
  object: SchemaObject;
  defaultSchema: string | undefined;
}

interface CreateObjectInput {
  body: unknown;
  /** The name of the default schema. If absent, no default privileges apply. */
  defaultSchema?: string | undefined;
}

export const createObject: Operation<'create-object', CreateObjectInput, CreateObject> = {
  name: 'create-object',

  parse({ body, defaultSchema }) {
    const object = readNewObject(body, []);
    return object.ok ? ok({ object: object.value, defaultSchema }) : object;
  },

  decide(state, { object, defaultSchema }) {
    if (getObject(state, object) !== undefined) {
      const message = `${objectLabel(object)} already exists`;
      return refuse({ code: 'ALREADY_EXISTS', message, path: 'definition', object: nameOf(object) });
    }
    const draft = new Draft(state);
    draft.putObject(object);
    // A sequence or a type that tables need exists in the database.
    if (defaultSchema !== undefined && collectionsNeeding(state, object).length === 0)
      for (const privileges of defaultPrivilegesOn(state.objects, object, defaultSchema)) draft.putObject(privileges);
    return decideDraft(state, draft, {}, LOCATIONS);
  },
};

interface ObjectInput {
  kind: string;
  id: string;
}

interface UpdateObject extends ObjectName {
  body: { [member: string]: unknown };
}

export const updateObject: Operation<'update-object', ObjectInput & { body: unknown }, UpdateObject> = {
  name: 'update-object',

  parse({ kind, id, body }) {
    const name = readName({ kind, id });
    if (!name.ok) return name;
    return isObject(body)
      ? ok({ ...name.value, body })
      : refuse(invalidProblem([], 'the body must be an object with the members to change'));
  },

  decide(state, { kind, id, body }) {
    const existing = existingObject(state, { kind, id });
    if (!existing.ok) return existing;
    const merged = mergeObject(existing.value, body, []);
    if (!merged.ok) return merged;
    const draft = new Draft(state);
    draft.putObject(merged.value);
    return decideDraft(state, draft, {}, LOCATIONS);
  },
};

interface RenameObject extends ObjectName {
  /** The new name, without argument types. */
  to: string;
}

export const renameObject: Operation<'rename-object', ObjectInput & { body: unknown }, RenameObject> = {
  name: 'rename-object',

  parse({ kind, id, body }) {
    const name = readName({ kind, id });
    if (!name.ok) return name;
    if (!isObject(body)) return refuse(invalidProblem([], 'the body must be an object with the new name: {"to": "…"}'));
    const problems = unknownMembers(body, new Set(['to']), []);
    const to = toNfc(body['to']);
    if (typeof to !== 'string')
      problems.push(invalidProblem(['to'], 'to is required and must be the new name, as a string'));
    else {
      const fault = identifierFault(to);
      if (fault !== null) problems.push(invalidProblem(['to'], `the name of an object ${fault}`));
    }
    return problems.length > 0 ? refuse(...problems) : ok({ ...name.value, to: to as string });
  },

  decide(state, { kind, id, to }) {
    const existing = existingObject(state, { kind, id });
    if (!existing.ok) return existing;
    if (to === objectNameParts({ kind, id }).name) return ok([]);
    if (KINDS[kind].onTable === 'single') {
      const message = `${objectLabel({ kind, id })} has the name of its table. Rename the table instead`;
      return refuse(invalidProblem(['to'], message));
    }
    if (kind === 'privileges') {
      const message = `${objectLabel({ kind, id })} has the name of its role. Create privileges for the other role instead`;
      return refuse(invalidProblem(['to'], message));
    }
    const newId = renamedId({ kind, id }, to);
    if (getObject(state, { kind, id: newId }) !== undefined)
      return refuse({
        code: 'ALREADY_EXISTS',
        message: `${objectLabel({ kind, id: newId })} already exists`,
        path: 'to',
        object: { kind, id },
      });
    const draft = new Draft(state);
    const node = draft.extractObject({ kind, id });
    if (node !== undefined) draft.putRenamed([{ node, to: newId }]);
    if (isType({ kind }))
      for (const field of columnsOfRenamed(state, { former: id, now: newId })) draft.putField(field);
    return decideDraft(state, draft, {}, { object: () => ({ at: ['to'], stepsTo: () => [] }) });
  },
};

export const deleteObject: Operation<'delete-object', ObjectInput, ObjectName> = {
  name: 'delete-object',

  parse: readName,

  decide(state, { kind, id }) {
    const existing = existingObject(state, { kind, id });
    if (!existing.ok) return existing;
    const draft = new Draft(state);
    draft.removeObject({ kind, id });
    return decideDraft(state, draft);
  },
};

/** The location of all problems is the definition. */
const LOCATIONS = { object: () => ({ at: ['definition'], stepsTo: () => [] }) };

const nameOf = ({ kind, id }: ObjectName): ObjectName => ({ kind, id });

function readName({ kind, id }: ObjectInput): Result<ObjectName> {
  return OBJECT_KINDS.includes(kind as ObjectKind)
    ? ok({ kind: kind as ObjectKind, id })
    : refuse(missingObject({ kind: kind as ObjectKind, id }));
}

/** Returns the object, or the problem NOT_FOUND. */
export function existingObject(state: State, name: ObjectName): Result<SchemaObject> {
  const object = getObject(state, name);
  return object === undefined ? refuse(missingObject(name)) : ok(object);
}

export const OBJECTS_OFF =
  'this instance does not manage views, functions and other objects; set OBJECTS=on to manage them';

export const missingObject = (name: ObjectName): Problem => ({
  code: 'NOT_FOUND',
  message: `${objectLabel(name)} does not exist`,
  object: nameOf(name),
});
