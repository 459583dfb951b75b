import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Privilege {
  name: string;
  columns?: string[];
  grantable?: true;
}

interface SchemaObject {
  kind:
    | 'view'
    | 'materialized_view'
    | 'function'
    | 'aggregate'
    | 'trigger'
    | 'policy'
    | 'row_security'
    | 'statistics'
    | 'rule'
    | 'privileges'
    | 'table_options'
    | 'sequence'
    | 'type';
  id: string;
  definition: string | Privilege[];
  comment: string | null;
  indexes?: { name: string; definition: string; unique?: true }[];
  enabled?: string;
}

interface Snapshot {
  fields: { collection: string; field: string; type: string; schema: { data_type: string } | null }[];
  objects: SchemaObject[];
}

interface Diff {
  hash: string;
  diff: { collections: object[]; fields: object[]; relations: object[]; objects?: object[] };
}

/** Numbers from 0 to 1 that depend only on the seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const below = (random: () => number, limit: number): number => Math.floor(random() * limit);

interface Signature {
  name: string;
  second: string;
  /** The function that it calls, or an empty text. */
  called: string;
}

function randomFunction(random: () => number, { name, second, called }: Signature): SchemaObject {
  const argument = `value${below(random, 2)}`;
  const result = below(random, 2) === 0 ? 'bigint' : 'numeric';
  const value = `${called}(${argument} + ${below(random, 3)})`;
  const body = below(random, 2) === 0 ? `RETURN ${value}` : `LANGUAGE sql AS $$ SELECT ${value} $$`;
  const quoted = name === 'Leap' ? '"Leap"' : name;
  return {
    kind: 'function',
    id: `${quoted}(bigint${second === '' ? '' : ', text'})`,
    definition: `CREATE FUNCTION ${quoted}(${argument} bigint${second}) RETURNS ${result} ${body}`,
    comment: below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`,
  };
}

/** Functions of one or two arguments. A later one calls an earlier one in a body that PostgreSQL parses. */
function randomFunctions(random: () => number): SchemaObject[] {
  const functions: SchemaObject[] = [];
  for (const [name, second] of [
    ['step', ''],
    ['step', ', other text'],
    ['Leap', ''],
  ] as const) {
    if (below(random, 4) === 0) continue;
    const called = name === 'Leap' && functions[0]?.id === 'step(bigint)' ? 'step' : '';
    functions.push(randomFunction(random, { name, second, called }));
  }
  return functions;
}

const TOUCH: SchemaObject = {
  kind: 'function',
  id: 'touch()',
  definition: 'CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
  comment: null,
};

/** Triggers of the table with their function. Some name the column that the views read. */
function randomTriggers(random: () => number): SchemaObject[] {
  const triggers = ['first', 'Second'].flatMap((name): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const time = ['BEFORE INSERT', 'AFTER UPDATE OF amount', 'AFTER INSERT OR DELETE'][below(random, 3)];
    const level = below(random, 2) === 0 ? '' : ' FOR EACH ROW';
    return [
      {
        kind: 'trigger',
        id: `${name === 'first' ? name : `"${name}"`} on orders`,
        definition: `CREATE TRIGGER "${name}" ${time} ON orders${level} EXECUTE FUNCTION touch('${below(random, 2)}')`,
        comment: below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`,
        enabled: ['origin', 'disabled', 'replica', 'always'][below(random, 4)],
      },
    ];
  });
  return triggers.length === 0 ? [] : [TOUCH, ...triggers];
}

/** Policies of the table, some of which use the column that the views read, and row security. */
function randomPolicies(random: () => number): SchemaObject[] {
  const policies = ['first', 'Second'].flatMap((name): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const form = ['', ' AS RESTRICTIVE FOR SELECT', ' FOR UPDATE TO pg_monitor, pg_read_all_data'][below(random, 3)];
    const using = ['true', `amount > ${below(random, 3)}`, 'EXISTS (SELECT 1 FROM orders o WHERE o.id < orders.id)'];
    return [
      {
        kind: 'policy',
        id: `${name === 'first' ? name : `"${name}"`} on orders`,
        definition: `CREATE POLICY "${name}" ON orders${form} USING (${using[below(random, 3)]})`,
        comment: below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`,
      },
    ];
  });
  const switches = ['', 'ENABLE ROW LEVEL SECURITY', 'FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY'];
  const chosen = switches[below(random, 3)] ?? '';
  if (chosen === '') return policies;
  return [
    ...policies,
    { kind: 'row_security', id: 'orders', definition: `ALTER TABLE orders ${chosen}`, comment: null },
  ];
}

/** Options of the table. */
function randomOptions(random: () => number): SchemaObject[] {
  const parameters = [`fillfactor = ${70 + below(random, 3)}`, 'autovacuum_enabled = off', 'parallel_workers = 1'];
  const set = parameters.filter(() => below(random, 2) === 0);
  const identity = ['', 'REPLICA IDENTITY FULL', 'REPLICA IDENTITY NOTHING'][below(random, 3)] ?? '';
  const commands = [set.length === 0 ? '' : `SET (${set.join(', ')})`, identity].filter((command) => command !== '');
  if (commands.length === 0) return [];
  return [
    { kind: 'table_options', id: 'orders', definition: `ALTER TABLE orders ${commands.join(', ')}`, comment: null },
  ];
}

/** Types, and a view with a value of one of them. */
function randomTypes(random: () => number): SchemaObject[] {
  const types = ['moods', 'Moods'].flatMap((id): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const tails = [
      "ENUM ('a', 'b')",
      "ENUM ('b', 'c', 'a')",
      "ENUM ('a', 'x', 'b')",
      '(a integer, b text)',
      '(a text)',
    ];
    const comment = below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`;
    return [{ kind: 'type', id, definition: `CREATE TYPE "${id}" AS ${tails[below(random, tails.length)]}`, comment }];
  });
  const [first] = types;
  if (first === undefined || below(random, 2) === 0) return types;
  const definition = `CREATE VIEW felt AS SELECT NULL::"${first.id}" AS value`;
  return [...types, { kind: 'view', id: 'felt', definition, comment: null }];
}

/** Sequences, and a view that reads one of them. */
function randomSequences(random: () => number): SchemaObject[] {
  const sequences = ['numbers', 'Numbers'].flatMap((id): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const options = ['', ' AS smallint INCREMENT BY -1', ` START WITH ${5 + below(random, 3)} CYCLE`][below(random, 3)];
    const comment = below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`;
    const on = `pg_monitor on sequence ${id === 'numbers' ? id : `"${id}"`}`;
    const definition = [{ name: 'SELECT' }, { name: 'USAGE' }].filter(() => below(random, 2) === 0);
    return [
      { kind: 'sequence', id, definition: `CREATE SEQUENCE "${id}"${options}`, comment },
      ...(definition.length === 0 ? [] : [{ kind: 'privileges' as const, id: on, definition, comment: null }]),
    ];
  });
  const [first] = sequences;
  if (first === undefined || below(random, 2) === 0) return sequences;
  const definition = `CREATE VIEW upcoming AS SELECT nextval('"${first.id}"') AS value`;
  return [...sequences, { kind: 'view', id: 'upcoming', definition, comment: null }];
}

/** Statistics objects of the table, which use the column that the views read. */
function randomStatistics(random: () => number): SchemaObject[] {
  return ['counts', 'Sums'].flatMap((id): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const columns = [' (mcv) ON id, amount', ' ON amount, (id + 1)', ' ON (amount % 2)'][below(random, 3)];
    const comment = below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`;
    return [{ kind: 'statistics', id, definition: `CREATE STATISTICS "${id}"${columns} FROM orders`, comment }];
  });
}

/** Rules of the table. Their commands use the column that the views read, and some read a view. */
function randomRules(random: () => number, views: readonly SchemaObject[]): SchemaObject[] {
  return ['keep', 'Also'].flatMap((name): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const view = views.find(({ kind }) => kind === 'view' || kind === 'materialized_view');
    const commands = [
      'INSTEAD NOTHING',
      'ALSO (UPDATE orders SET amount = old.amount WHERE id > old.id; DELETE FROM orders WHERE id = old.id + 1)',
      `ALSO INSERT INTO orders (amount) SELECT v.${view === undefined ? 'amount FROM orders' : `total FROM "${view.id}"`} v WHERE v.id = old.id`,
    ];
    const event = ['DELETE TO orders', 'UPDATE TO orders WHERE old.amount > 1'][below(random, 2)];
    return [
      {
        kind: 'rule',
        id: `${name === 'keep' ? name : `"${name}"`} on orders`,
        definition: `CREATE RULE "${name}" AS ON ${event} DO ${commands[below(random, 3)]}`,
        comment: below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`,
        enabled: ['origin', 'disabled', 'replica', 'always'][below(random, 4)],
      },
    ];
  });
}

/** Aggregates with a function of their own, and a view that uses one of them. */
function randomAggregates(random: () => number): SchemaObject[] {
  const argument = `value${below(random, 2)}`;
  const add: SchemaObject = {
    kind: 'function',
    id: 'plus(bigint, bigint)',
    definition: `CREATE FUNCTION plus(state bigint, ${argument} bigint) RETURNS bigint RETURN state + ${argument}`,
    comment: null,
  };
  const aggregates = ['total', 'Total'].flatMap((name): SchemaObject[] => {
    if (below(random, 3) === 0) return [];
    const quoted = name === 'total' ? name : `"${name}"`;
    const [types, list] = [
      ['bigint', 'bigint'],
      ['bigint', 'value bigint'],
      ['text, bigint', 'text ORDER BY bigint'],
    ][below(random, 3)] as [string, string];
    const option = ['', ', PARALLEL = SAFE', ', SSPACE = 16'][below(random, 3)];
    return [
      {
        kind: 'aggregate',
        id: `${quoted}(${types})`,
        definition: `CREATE AGGREGATE ${quoted}(${list}) (SFUNC = plus, STYPE = bigint${option}, INITCOND = '${below(random, 2)}')`,
        comment: below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`,
      },
    ];
  });
  if (aggregates.length === 0) return [];
  const used = aggregates.find(({ id }) => id === 'total(bigint)');
  const definition = 'CREATE VIEW summed AS SELECT total(id) AS total FROM orders';
  const view: SchemaObject = { kind: 'view', id: 'summed', definition, comment: null };
  return [add, ...aggregates, ...(used === undefined ? [] : [view])];
}

/** Privileges on the table, on the column that the views read, and on views. */
function randomPrivileges(random: () => number, views: readonly SchemaObject[]): SchemaObject[] {
  const tables = ['orders', ...views.flatMap(({ kind, id }) => (kind.endsWith('view') ? [id] : []))];
  return tables.flatMap((table) =>
    ['pg_monitor', 'public'].flatMap((role): SchemaObject[] => {
      const column = table === 'orders' ? 'amount' : 'total';
      const definition = [
        { name: 'DELETE' },
        { name: 'SELECT', ...(role !== 'public' && below(random, 2) === 0 && { grantable: true as const }) },
        { name: 'SELECT', columns: [column, 'id'].sort() },
        { name: 'UPDATE', columns: [column] },
      ].filter(() => below(random, 2) === 0);
      if (definition.length === 0) return [];
      const quoted = /^[a-z]/.test(table) ? table : `"${table}"`;
      return [{ kind: 'privileges', id: `${role} on ${quoted}`, definition, comment: null }];
    }),
  );
}

/** EXECUTE on functions and USAGE on types for one role, and for no other role. */
function randomUse(random: () => number, objects: readonly SchemaObject[]): SchemaObject[] {
  const used = objects.filter(({ kind }) => ['function', 'aggregate', 'type'].includes(kind));
  return used.flatMap(({ kind, id }) => {
    const grantable = below(random, 2) === 0 && { grantable: true as const };
    const name = kind === 'type' ? 'USAGE' : 'EXECUTE';
    const on = kind === 'type' ? `type ${id === 'moods' ? id : `"${id}"`}` : id;
    const both = [
      { id: `pg_monitor on ${on}`, definition: [{ name, ...grantable }] },
      { id: `public on ${on}`, definition: [] },
    ];
    return both
      .filter(() => below(random, 2) === 0)
      .map((each) => ({ kind: 'privileges' as const, ...each, comment: null }));
  });
}

function randomForm(random: () => number, id: string, query: string): Omit<SchemaObject, 'comment'> {
  if (below(random, 3) === 0) {
    const indexes = below(random, 2) === 0 ? [] : [{ name: `${id}_total`, definition: 'USING btree (total)' }];
    return { kind: 'materialized_view', id, definition: `CREATE MATERIALIZED VIEW "${id}" AS ${query}`, indexes };
  }
  const options = below(random, 2) === 0 ? '' : ' WITH (security_barrier = true)';
  return { kind: 'view', id, definition: `CREATE VIEW "${id}"${options} AS ${query}` };
}

/** Views that read a table or an earlier view, some with a function, and objects of the table. Each view has the columns id and total. */
function randomObjects(random: () => number): SchemaObject[] {
  const functions = randomFunctions(random);
  const views: SchemaObject[] = [];
  const hasStep = functions[0]?.id === 'step(bigint)';
  for (const id of ['first', 'Second', 'third', 'fourth', 'fifth']) {
    if (below(random, 4) === 0) continue;
    const earlier = views[below(random, views.length + 1)];
    const source = earlier === undefined ? 'orders' : `"${earlier.id}"`;
    const total = earlier === undefined ? 'amount' : 'total';
    const plus = hasStep && below(random, 2) === 0 ? `step(${total}::bigint)` : `${total} + ${below(random, 3)}`;
    const query = `SELECT id, ${plus} AS total FROM ${source} WHERE id > ${below(random, 3)}`;
    const comment = below(random, 2) === 0 ? null : `Comment ${below(random, 3)}`;
    views.push({ ...randomForm(random, id, query), comment });
  }
  return [...functions, ...views, ...randomTriggers(random), ...randomPolicies(random)];
}

const byName = (a: SchemaObject, b: SchemaObject): number => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1);

function randomSchemaPrivileges(random: () => number): SchemaObject[] {
  const roles = ['pg_monitor', 'public'].filter(() => below(random, 2) === 0);
  return roles.map((role) => {
    const grantable = role !== 'public' && below(random, 2) === 0 && { grantable: true as const };
    const definition = [
      ...(below(random, 2) === 0 ? [{ name: 'CREATE' as const }] : []),
      { name: 'USAGE' as const, ...grantable },
    ];
    return { kind: 'privileges', id: `${role} on schema billing`, definition, comment: null };
  });
}

function randomDefaults(random: () => number): SchemaObject[] {
  const ids = ['pg_monitor on new tables', 'public on new tables in schema public', 'pg_monitor on new functions'];
  const drawn = ids.filter(() => below(random, 2) === 0);
  return [
    ...drawn.map((id): SchemaObject => {
      const names = id.endsWith('functions') ? ['EXECUTE'] : ['DELETE', 'SELECT'].slice(0, 1 + below(random, 2));
      return { kind: 'privileges', id, definition: names.map((name) => ({ name })), comment: null };
    }),
    ...['public on new functions', 'public on new types']
      .filter(() => below(random, 2) === 0)
      .map((id): SchemaObject => ({ kind: 'privileges', id, definition: [], comment: null })),
  ];
}

describe('random schemas with views, functions, aggregates, triggers, policies, statistics objects, rules, privileges and table options', () => {
  const { api } = withService({
    settings: { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' },
    each: true,
    consistent: true,
  });

  beforeEach(() =>
    api.ok('POST', '/collections', {
      collection: 'orders',
      schema: {},
      fields: [{ field: 'amount', type: 'integer', interface: 'input' }],
    }),
  );

  const snapshot = () => api.client('/schema/snapshot');
  const diffTo = (target: object) => api.ok<Diff>('POST', '/schema/diff', target);
  const NOTHING = { collections: [], fields: [], relations: [] };

  /** The snapshot with other objects, and with a different type of the column that they read. */
  function withObjects(current: Snapshot, objects: SchemaObject[], type: 'integer' | 'bigInteger'): Snapshot {
    const copy = structuredClone(current);
    const amount = copy.fields.find(({ field }) => field === 'amount');
    if (amount?.schema == null) throw new Error('the column is missing');
    amount.type = type;
    amount.schema.data_type = type === 'integer' ? 'integer' : 'bigint';
    return { ...copy, objects };
  }

  for (const seed of [1, 2, 3])
    it(`are reached by their diff, read back unchanged, and reached again, with the seed ${seed}`, async () => {
      const random = numbersFrom(seed);
      const other = numbersFrom(seed + 100);
      const ofRules = numbersFrom(seed + 200);
      const ofAggregates = numbersFrom(seed + 300);
      const ofPrivileges = numbersFrom(seed + 400);
      const ofUse = numbersFrom(seed + 500);
      const ofOptions = numbersFrom(seed + 600);
      const ofTypes = numbersFrom(seed + 700);
      const ofSchemas = numbersFrom(seed + 800);
      const ofDefaults = numbersFrom(seed + 900);
      const past: { position: number; text: string }[] = [];
      for (let round = 0; round < 4; round += 1) {
        const drawn = randomObjects(random);
        const aggregates = randomAggregates(ofAggregates);
        const types = randomTypes(ofTypes);
        const objects = [
          ...drawn,
          ...randomStatistics(other),
          ...randomSequences(other),
          ...types,
          ...randomRules(ofRules, drawn),
          ...aggregates,
          ...randomPrivileges(ofPrivileges, drawn),
          ...randomUse(ofUse, [...drawn, ...aggregates, ...types]),
          ...randomSchemaPrivileges(ofSchemas),
          ...randomDefaults(ofDefaults),
          ...randomOptions(ofOptions),
        ];
        const target = withObjects(
          (await snapshot()).json as Snapshot,
          objects,
          round % 2 === 0 ? 'bigInteger' : 'integer',
        );
        await api.ok('POST', '/schema/apply', await diffTo(target));
        const now = await snapshot();
        expect([...(now.json as Snapshot).objects].sort(byName)).to.deep.equal([...objects].sort(byName));
        expect((await diffTo(target)).diff, 'the same snapshot again').to.deep.equal(NOTHING);
        past.push({ position: await api.head(), text: now.text });
      }
      for (const { position, text } of past)
        expect((await api.client(`/history/snapshot?at=${position}`)).text, `position ${position}`).to.equal(text);
      for (const { position, text } of past.reverse()) {
        await api.ok('POST', '/schema/apply', await api.ok<Diff>('GET', `/history/diff?to=${position}`));
        expect((await snapshot()).text, `back to position ${position}`).to.equal(text);
      }
    });
});
