/** Verification after each single manual change to rows and catalog, compared with `test/fixtures/tampered.txt`. */
import { describeDifference } from '../../../src/doctor/differences.js';
import { verify } from '../../../src/projector/verify/index.js';
import { exampleSchema } from '../../support/answers.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { testServer } from '../../support/postgres.js';
import { createTranscript } from '../../support/transcript.js';

const ROWS = [
  `UPDATE service.service_collections SET meta = meta || '{"note": "x"}' WHERE collection = 'posts'`,
  `UPDATE service.service_collections SET meta = meta - 'icon' WHERE collection = 'group'`,
  `UPDATE service.service_collections SET meta = meta || '{"extra": null}' WHERE collection = 'group'`,
  `UPDATE service.service_collections SET schema = '{"comment": "x"}' WHERE collection = 'users'`,
  `UPDATE service.service_collections SET schema = NULL WHERE collection = 'users'`,
  `UPDATE service.service_collections SET collection = 'other' WHERE collection = 'group'`,
  `DELETE FROM service.service_collections WHERE collection = 'posts'`,
  `INSERT INTO service.service_collections (collection, meta) VALUES ('more', '{}')`,
  `UPDATE service.service_fields SET type = 'text' WHERE collection = 'posts' AND field = 'title'`,
  `UPDATE service.service_fields SET schema = schema || '{"max_length": 7}' WHERE collection = 'posts' AND field = 'title'`,
  `UPDATE service.service_fields SET meta = meta || '{"hidden": true}' WHERE collection = 'posts' AND field = 'fans'`,
  `DELETE FROM service.service_fields WHERE collection = 'users' AND field = 'name'`,
  `INSERT INTO service.service_fields (collection, field, type, meta) VALUES ('posts', 'more', 'alias', '{}')`,
  `DELETE FROM service.service_relations`,
  `UPDATE service.service_relations SET one_collection = 'posts'`,
  `UPDATE service.service_relations SET schema = schema || '{"on_delete": "CASCADE"}'`,
];

const CATALOG = [
  'DROP TABLE posts CASCADE',
  'ALTER TABLE posts RENAME TO articles',
  'CREATE TABLE "group" (id int)',
  `COMMENT ON TABLE posts IS 'x'`,
  `COMMENT ON COLUMN posts.title IS 'x'`,
  'ALTER TABLE posts DROP COLUMN title',
  'ALTER TABLE posts ADD COLUMN more int',
  'ALTER TABLE posts RENAME COLUMN title TO headline',
  'ALTER TABLE posts ALTER COLUMN title TYPE text',
  'ALTER TABLE posts ALTER COLUMN title TYPE character varying(50)',
  `ALTER TABLE posts ALTER COLUMN title SET DEFAULT 'other'`,
  'ALTER TABLE posts ALTER COLUMN title DROP DEFAULT',
  'ALTER TABLE posts ALTER COLUMN title SET NOT NULL',
  'ALTER TABLE posts ALTER COLUMN price DROP NOT NULL',
  'ALTER TABLE posts ALTER COLUMN price TYPE numeric(9,2)',
  'ALTER TABLE posts ALTER COLUMN id DROP IDENTITY',
  'ALTER TABLE posts DROP COLUMN twice, ADD COLUMN twice int',
  'ALTER TABLE posts DROP COLUMN twice, ADD COLUMN twice int GENERATED ALWAYS AS (author * 3) STORED',
  'ALTER TABLE posts DROP CONSTRAINT posts_pkey CASCADE',
  'ALTER TABLE posts DROP CONSTRAINT posts_pkey CASCADE, ADD PRIMARY KEY (id, price)',
  'ALTER TABLE posts RENAME CONSTRAINT posts_pkey TO key',
  'ALTER TABLE posts DROP CONSTRAINT posts_author_foreign',
  'ALTER TABLE posts RENAME CONSTRAINT posts_author_foreign TO other',
  'ALTER TABLE posts DROP CONSTRAINT posts_author_foreign, ADD CONSTRAINT posts_author_foreign FOREIGN KEY (author) REFERENCES users ON DELETE CASCADE ON UPDATE CASCADE',
  'ALTER TABLE posts DROP CONSTRAINT posts_author_foreign, ADD CONSTRAINT posts_author_foreign FOREIGN KEY (author) REFERENCES users ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED',
  'ALTER TABLE posts DROP CONSTRAINT posts_author_foreign, ADD CONSTRAINT posts_author_foreign FOREIGN KEY (author) REFERENCES posts ON DELETE SET NULL',
  'ALTER TABLE users ADD CONSTRAINT more FOREIGN KEY (favourite) REFERENCES posts',
  'ALTER TABLE posts ADD CHECK (price > 0)',
  'ALTER TABLE posts ADD UNIQUE (title)',
  'ALTER TABLE posts ADD UNIQUE (title, price)',
  'CREATE INDEX ON posts (title)',
  'CREATE INDEX ON posts (lower(title))',
  'CREATE UNIQUE INDEX ON posts (title) WHERE price > 0',
  'CREATE INDEX ON posts USING hash (title)',
  'CREATE INDEX ON posts (title) INCLUDE (price)',
];

describe('verification after manual changes', () => {
  let projected: Projected;

  before(async function () {
    // Names and messages depend on the release.
    if ((await testServer()).majorVersion !== 18) this.skip();
    projected = await startProjected();
    await projected.become(exampleSchema());
  });
  after(() => projected?.stop());

  it('matches the recorded differences', async () => {
    const { client, schema } = projected;
    const transcript = createTranscript('tampered.txt');
    for (const statement of [...ROWS, ...CATALOG]) {
      await client.query('BEGIN');
      await client.query(statement);
      const { differences } = await verify(client, projected.state(), schema);
      await client.query('ROLLBACK');
      transcript.add([statement, ...differences.map(describeDifference)].join('\n'));
    }
    await transcript.expectAsBefore();
  });
});
