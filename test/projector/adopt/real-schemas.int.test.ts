/** Databases that aren't ours: ADOPT_SCHEMAS, or a folder beside the checkout, holds three real schemas, or this is skipped. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { testServer } from '../../support/postgres.js';
import { type RoundTrip, roundTrip } from './round-trip.js';

const GIVEN = process.env['ADOPT_SCHEMAS'];
const FOLDER =
  GIVEN === undefined ? new URL('../../../../shared/adopt/', import.meta.url) : pathToFileURL(join(GIVEN, '/'));

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/**
 * What the embedded server can't run is taken out: it has no extension `vector`, so film_embedding goes with it. Owners
 * go too, because no role is called postgres everywhere.
 */
function pagila(): string {
  return read('pagila-postgres18.sql')
    .replace(/^(CREATE|COMMENT ON) EXTENSION [^;]*;/gm, '')
    .replace(/^CREATE TABLE public\.film_embedding [^;]*;/gm, '')
    .replace(/^ALTER TABLE (ONLY )?public\.film_embedding[^;]*;/gm, '')
    .replace(/^CREATE (UNIQUE )?INDEX [^;]*ON public\.film_embedding[^;]*;/gm, '')
    .replace(/^CREATE TRIGGER [^;]*ON public\.film_embedding[^;]*;/gm, '')
    .replace(/^ALTER [A-Z ]+ [^;]* OWNER TO [^;]*;/gm, '');
}

/** Without the extension that only a superuser may create, and that no table needs. */
function imageBoard(): string {
  return read('image-board.sql').replace(/^(CREATE|COMMENT ON) EXTENSION (IF NOT EXISTS )?pgstattuple[^;]*;/gm, '');
}

const PAGILA_ROWS = `
INSERT INTO country (country) VALUES ('Chile'), ('Peru');
INSERT INTO city (city, country_id) SELECT 'city ' || n, 1 FROM generate_series(1, 50) n;
INSERT INTO address (address, district, city_id, phone) SELECT 'street ' || n, 'd', n, '1' FROM generate_series(1, 50) n;
INSERT INTO language (name) VALUES ('Spanish');
INSERT INTO film (title, release_year, language_id, rating, special_features) VALUES ('A', 1999, 1, 'PG-13', '{a,b}');`;

function report(name: string, { tables, adoption, lines, reading, adopting }: RoundTrip): void {
  const { notRepresented, refused, relations } = adoption;
  const kinds = new Map<string, number>();
  for (const { kind } of notRepresented) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const listed = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  process.stdout.write(
    `      ${name}: ${tables} tables, ${relations.length} relations, ${lines} catalog entries equal; ` +
      `catalog read in ${reading.toFixed(0)} ms, adopted in ${adopting.toFixed(0)} ms; ` +
      `${refused.length} tables refused; listed: ${listed || 'nothing'}\n`,
  );
}

describe('adopting real databases', function () {
  this.timeout(120_000);

  before(function () {
    if (!existsSync(FOLDER)) {
      process.stdout.write('      no real schemas (ADOPT_SCHEMAS names their folder): skipped\n');
      this.skip();
    }
  });

  it('Chinook', async () => {
    const result = await roundTrip(read('chinook.sql'));
    report('chinook', result);
    expect(result.tables).to.equal(11);
  });

  it('the image board', async () => {
    const result = await roundTrip(imageBoard());
    report('image-board', result);
    expect(result.tables).to.equal(66);
  });

  for (const [title, rows] of [
    ['Pagila', ''],
    ['Pagila with rows', PAGILA_ROWS],
  ] as const) {
    it(title, async function () {
      if ((await testServer()).majorVersion < 18) this.skip();
      const result = await roundTrip(pagila(), rows);
      report('pagila', result);
      expect(result.tables).to.be.greaterThan(60);
    });
  }
});
