import { expect } from 'chai';
import { testServer } from '../../support/postgres.js';
import { chinook, imageBoard, pagila, realSchemasAreThere } from './real-schemas.js';
import { type RoundTrip, roundTrip } from './round-trip.js';

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

describe('adopting real databases', () => {
  before(function () {
    if (!realSchemasAreThere()) this.skip();
  });

  it('restores Chinook from its snapshot', async () => {
    const result = await roundTrip(chinook());
    report('chinook', result);
    expect(result.tables).to.equal(11);
  });

  it('restores the image board from its snapshot', async () => {
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
