/** /fields and /relations */
import { type FieldDoc, fieldsOf, json, tablesOf } from '../world.js';
import { fieldChange, someField as newField, someFieldMeta } from './columns.js';
import {
  at,
  collectionName,
  type Context,
  fieldNameOf,
  flag,
  maybe,
  randomTrialFlags,
  type Rules,
  someField,
  tableName,
} from './context.js';

type Doc = Record<string, unknown>;

const same = (reply: { status: number; appended: number }): string | null =>
  reply.status === 200 && reply.appended === 0
    ? null
    : `sent back as it was read: ${reply.status}, ${reply.appended} events`;

/** A new field needs an interface. */
function withInterface(field: Doc): Doc {
  const meta = field['meta'] as Doc | undefined;
  return meta?.['interface'] == null ? { ...field, meta: { ...meta, interface: 'input' } } : field;
}

/** How a change fills existing rows. Most changes fill none. */
function randomBackfill(context: Context): Doc {
  const { random } = context;
  if (random.chance(0.85)) return {};
  const field = someField(context).field;
  const expression = random.pick(['now', 'gen_random_uuid', 'lower', 'upper', 'trim', 'random()']);
  const backfill = random.pick<unknown>([
    { value: random.pick<unknown>([0, 1.5, 'text', true, null, '2026-01-31', [], { a: 'b' }]) },
    { field },
    { expression },
    { expression, field },
    { value: 1, field },
    null,
  ]);
  return { backfill };
}

const FIELDS: Rules = {
  'GET /fields': {
    weight: 1,
    make: ({ random }) => ({ path: '/fields', query: maybe(random, { limit: [0.3, () => String(random.below(9))] }) }),
  },
  'GET /fields/{collection}': { weight: 2, make: (context) => ({ path: at`/fields/${collectionName(context)}` }) },
  'POST /fields/{collection}': {
    weight: 10,
    make: (context) => ({
      path: at`/fields/${tableName(context)}`,
      query: maybe(context.random, {
        concurrentIndexCreation: [0.1, flag(context.random)],
        online: [0.1, flag(context.random)],
      }),
      body: json({ ...withInterface(newField(context)), ...randomBackfill(context) }),
    }),
  },
  'PATCH /fields/{collection}': {
    weight: 5,
    make(context) {
      const { random, world } = context;
      const collection = tableName(context);
      const fields = fieldsOf(world, collection).slice(0, 3);
      const value = fields.map(({ field, type }, sort) =>
        random.chance(0.6)
          ? { field, meta: { ...someFieldMeta(context), sort } }
          : { field, ...fieldChange(context, type), ...randomBackfill(context) },
      );
      return { path: at`/fields/${collection}`, body: json(value) };
    },
  },
  'GET /fields/{collection}/{field}': {
    weight: 2,
    make(context) {
      const { collection, field } = someField(context);
      return { path: at`/fields/${collection}/${field}`, query: randomTrialFlags(context) };
    },
  },
  'PATCH /fields/{collection}/{field}': {
    weight: 14,
    make(context) {
      const field = someField(context);
      const path = at`/fields/${field.collection}/${field.field}`;
      if (context.random.chance(0.05) && field.field !== 'nothing') return { path, body: json(field), expects: same };
      return { path, body: json({ ...fieldChange(context, field.type), ...randomBackfill(context) }) };
    },
  },
  'POST /fields/{collection}/{field}/rename': {
    weight: 4,
    make(context) {
      const { collection, field } = someField(context);
      return { path: at`/fields/${collection}/${field}/rename`, body: json({ to: newField(context)['field'] }) };
    },
  },
  'DELETE /fields/{collection}/{field}': {
    weight: 5,
    make(context) {
      const { collection, field } = someField(context);
      return { path: at`/fields/${collection}/${field}` };
    },
  },
};

const ACTIONS = ['NO ACTION', 'SET NULL', 'CASCADE', 'RESTRICT', 'SET DEFAULT'];

const NOWHERE: FieldDoc = { collection: 'nowhere', field: 'nothing', type: 'integer', meta: {}, schema: {} };

/** A target table, mostly one with a suitable key. */
function target({ random, world }: Context, type: string): string {
  const fitting = world.snapshot.fields.filter(
    (each) => each.schema?.['is_primary_key'] === true && each.type === type,
  );
  const chosen = random.chance(0.85) ? random.some(fitting) : random.some(tablesOf(world));
  return chosen?.collection ?? 'nowhere';
}

function newRelation(context: Context): Doc {
  const { random, world } = context;
  const many = random.some(world.snapshot.fields) ?? NOWHERE;
  const one = target(context, many.type);
  const schema = random.chance(0.8) ? { on_delete: random.pick(ACTIONS), on_update: random.pick(ACTIONS) } : null;
  if (random.chance(0.3)) return nested(many, one, schema);
  const flat = { many_collection: many.collection, many_field: many.field, schema };
  if (random.chance(0.15)) return { ...flat, ...manyToAny(context, many.collection), schema: null };
  const alias = fieldsOf(world, one).filter(({ type }) => type === 'alias');
  const junction = random.chance(0.2) && { junction_field: fieldNameOf(context, many.collection) };
  return { ...flat, one_collection: one, one_field: random.some(alias)?.field ?? null, ...junction };
}

const nested = (many: { collection: string; field: string }, related: string, schema: Doc | null): Doc => ({
  collection: many.collection,
  field: many.field,
  related_collection: related,
  meta: { one_deselect_action: 'nullify' },
  schema,
});

function manyToAny({ random, world }: Context, collection: string): Doc {
  const texts = fieldsOf(world, collection).filter(({ type }) => type === 'string' || type === 'text');
  return {
    one_collection: null,
    one_allowed_collections: tablesOf(world)
      .slice(0, 2)
      .map((each) => each.collection),
    one_collection_field: random.some(texts)?.field ?? 'kind',
  };
}

const someRelation = ({ random, world }: Context): { many_collection: string; many_field: string } =>
  (random.chance(0.95) ? random.some(world.snapshot.relations) : undefined) ?? {
    many_collection: 'nowhere',
    many_field: 'nothing',
  };

const place = (context: Context): string => {
  const { many_collection, many_field } = someRelation(context);
  return at`/relations/${many_collection}/${many_field}`;
};

const RELATIONS: Rules = {
  'GET /relations': { weight: 1, make: () => ({ path: '/relations' }) },
  'POST /relations': { weight: 9, make: (context) => ({ path: '/relations', body: json(newRelation(context)) }) },
  'GET /relations/{collection}': {
    weight: 1,
    make: (context) => ({ path: at`/relations/${collectionName(context)}` }),
  },
  'GET /relations/{collection}/{field}': { weight: 1, make: (context) => ({ path: place(context) }) },
  'PATCH /relations/{collection}/{field}': {
    weight: 4,
    make(context) {
      const { random } = context;
      const value = random.pick<Doc>([
        { one_deselect_action: random.pick(['nullify', 'delete']) },
        { schema: { on_delete: random.pick(ACTIONS) } },
        { schema: { constraint_name: random.pick(['its key', 'x'.repeat(63), 'c0']) } },
        { schema: null },
        { schema: {} },
        { sort_field: 'sort', junction_field: null },
        { meta: { one_field: null } },
        newRelation(context),
      ]);
      return { path: place(context), body: json(value) };
    },
  },
  'DELETE /relations/{collection}/{field}': {
    weight: 2,
    make: (context) => ({ path: place(context), query: randomTrialFlags(context) }),
  },
};

export const FIELDS_AND_RELATIONS: Rules = { ...FIELDS, ...RELATIONS };
