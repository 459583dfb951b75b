import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { scriptOf } from '../../../src/reads/history/index.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { KEY, column, stateOf } from '../../schema/invariants/states.js';

const scriptFor = (state: State, schema: string, occurred_at: string | null): string => {
  const point = { state, head: { position: 7, hash: '', occurred_at } };
  return runToEnd(scriptOf(point, { schema, serviceSchema: 'own' })).toString();
};

const ABOUT = `tables, keys, indexes and comments, without data.
-- Folders, aliases and the metadata of fields exist in the service only.

BEGIN;
SET LOCAL client_encoding = 'UTF8';
`;

const TABLE = `"t" (
  "id" integer NOT NULL,
  CONSTRAINT "t_pkey" PRIMARY KEY ("id")
);`;

describe('the schema as an SQL script', () => {
  it('is empty for an empty schema', () => {
    expect(scriptFor(initialState(), 'public', null)).to.equal(
      `-- The schema at position 7: ${ABOUT}SET LOCAL search_path = "public";\n\n\nCOMMIT;\n`,
    );
  });

  it('creates the target schema unless it is public', () => {
    const state = stateOf({ t: { fields: [KEY] } });
    const time = '2026-01-01T00:00:00.000Z';
    expect(scriptFor(state, 'public', time)).to.equal(
      `-- The schema at position 7 (${time}): ${ABOUT}SET LOCAL search_path = "public";

CREATE TABLE "public".${TABLE}

COMMIT;
`,
    );
    expect(scriptFor(state, 'my "own"', time)).to.equal(
      `-- The schema at position 7 (${time}): ${ABOUT}SET LOCAL search_path = "my ""own""", public;
CREATE SCHEMA IF NOT EXISTS "my ""own""";

CREATE TABLE "my ""own""".${TABLE}

COMMIT;
`,
    );
  });

  it('creates required extensions', () => {
    const state = stateOf({ t: { fields: [KEY, { field: 'place', type: 'geometry', schema: {} }] } });
    expect(scriptFor(state, 'public', null)).to.include(
      'SET LOCAL search_path = "public";\nCREATE EXTENSION IF NOT EXISTS postgis;\n\nCREATE TABLE',
    );
  });

  it('creates referenced service tables with their key', () => {
    const ends = { many_collection: 't', many_field: 'by', one_collection: 'service_users' };
    const schema = { on_delete: 'SET NULL', on_update: 'NO ACTION', constraint_name: 't_by_fkey' } as never;
    const state = stateOf({ t: { fields: [KEY, column('by', 'uuid')] } }, [{ ...ends, schema }]);
    const script = scriptFor(state, 'public', null);
    expect(script.slice(script.indexOf('SET LOCAL search_path'))).to.equal(`SET LOCAL search_path = "public";

-- The table of the service, reduced to its key: foreign keys below reference it.
CREATE SCHEMA IF NOT EXISTS "own";
CREATE TABLE IF NOT EXISTS "own".service_users ("id" uuid PRIMARY KEY);

CREATE TABLE "public"."t" (
  "id" integer NOT NULL,
  "by" uuid,
  CONSTRAINT "t_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "public"."t" ADD CONSTRAINT "t_by_fkey" FOREIGN KEY ("by") REFERENCES "own".service_users ("id") ON DELETE SET NULL;

COMMIT;
`);
  });
});
