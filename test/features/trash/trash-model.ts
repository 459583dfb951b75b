/**
 * A small model of the trash rules for tables, fields and rows. Tests apply the same steps to a service and compare.
 * Objects are numbered like the service's identities.
 */

type Row = Map<number, string | null>;

export interface ModelTable {
  id: number;
  name: string;
  /** Names by number. */
  fields: Map<number, string>;
  /** Keyed by primary key value. */
  rows: Map<number, Row>;
}

/** In the trash: a whole table, or a field's values by row key. */
export type Kept =
  | { kind: 'table'; table: ModelTable }
  | { kind: 'field'; of: number; field: number; name: string; values: Map<number, string | null> };

/** The schema at a point in time. */
export type Moment = readonly Pick<ModelTable, 'id' | 'name' | 'fields'>[];

export class Model {
  /** Keyed by number. */
  tables = new Map<number, ModelTable>();
  /** Keyed by the position of the deletion. */
  trash = new Map<number, Kept>();
  #next = 1;

  number(): number {
    return this.#next++;
  }

  findTable(name: string): ModelTable | undefined {
    return [...this.tables.values()].find((table) => table.name === name);
  }

  create(name: string, fields: readonly string[]): void {
    const id = this.number();
    const named = new Map(fields.map((field) => [this.number(), field]));
    this.tables.set(id, { id, name, fields: named, rows: new Map() });
  }

  addField(table: ModelTable, name: string): void {
    const id = this.number();
    table.fields.set(id, name);
    for (const row of table.rows.values()) row.set(id, null);
  }

  insert(table: ModelTable, key: number, values: ReadonlyMap<string, string>): void {
    table.rows.set(key, new Map([...table.fields].map(([id, name]) => [id, values.get(name) ?? null])));
  }

  deleteTable(table: ModelTable, position: number): void {
    this.tables.delete(table.id);
    this.trash.set(position, { kind: 'table', table });
  }

  deleteField(table: ModelTable, field: number, position: number): void {
    this.trash.set(position, this.#keepField(table, field));
  }

  #keepField(table: ModelTable, field: number): Kept {
    const values = new Map([...table.rows].map(([key, row]) => [key, row.get(field) ?? null]));
    const name = table.fields.get(field) ?? '';
    table.fields.delete(field);
    for (const row of table.rows.values()) row.delete(field);
    return { kind: 'field', of: table.id, field, name, values };
  }

  /** The obstacle to a restore; null if there is none. */
  findObstacle(kept: Kept, as: string | undefined): string | null {
    if (kept.kind === 'table') return this.findTable(as ?? kept.table.name) === undefined ? null : 'the name is taken';
    const table = this.tables.get(kept.of);
    if (table === undefined) return 'there is no table';
    return [...table.fields.values()].includes(as ?? kept.name) ? 'the name is taken' : null;
  }

  restore(position: number, as: string | undefined): void {
    const kept = this.trash.get(position) as Kept;
    this.trash.delete(position);
    if (kept.kind === 'table') this.tables.set(kept.table.id, { ...kept.table, name: as ?? kept.table.name });
    else this.#returnField(this.tables.get(kept.of) as ModelTable, kept, as ?? kept.name);
  }

  #returnField(table: ModelTable, { field, values }: Kept & { kind: 'field' }, name: string): void {
    table.fields.set(field, name);
    for (const [key, row] of table.rows) row.set(field, values.get(key) ?? null);
  }

  copyTables(): Moment {
    return [...this.tables.values()].map(({ id, name, fields }) => ({ id, name, fields: new Map(fields) }));
  }

  #positionOf(is: (kept: Kept) => boolean): number | undefined {
    return [...this.trash].find(([, kept]) => is(kept))?.[0];
  }

  /**
   * Reverts the schema. Existing objects stay, objects in the trash are restored, others are recreated empty.
   * @param deleted receives what goes to the trash; the caller finds its position
   */
  goBack(moment: Moment): { restored: number; empty: number; deleted: Kept[] } {
    const counts = { restored: 0, empty: 0, deleted: [] as Kept[] };
    const there = new Map<number, ModelTable>();
    for (const then of moment) there.set(then.id, this.#tableOf(then, counts));
    for (const table of this.tables.values()) if (!there.has(table.id)) counts.deleted.push({ kind: 'table', table });
    this.tables = new Map();
    for (const [then, table] of [...moment].map((each) => [each, there.get(each.id) as ModelTable] as const)) {
      const fields = new Map(then.fields);
      for (const field of Array.from(table.fields.keys()))
        if (!fields.has(field)) counts.deleted.push(this.#keepField(table, field));
      const ordered = new Map<number, string>();
      for (const [field, name] of fields) ordered.set(this.#fieldOf(table, field, { name, found: counts }), name);
      table.fields = ordered;
      table.name = then.name;
      this.tables.set(table.id, table);
    }
    return counts;
  }

  #tableOf({ id, name }: Moment[number], counts: { restored: number; empty: number }): ModelTable {
    const now = this.tables.get(id);
    if (now !== undefined) return now;
    const position = this.#positionOf((kept) => kept.kind === 'table' && kept.table.id === id);
    if (position === undefined) {
      counts.empty += 1;
      return { id: this.number(), name, fields: new Map(), rows: new Map() };
    }
    const { table } = this.trash.get(position) as Kept & { kind: 'table' };
    this.trash.delete(position);
    counts.restored += 1;
    return table;
  }

  /** @returns its new number */
  #fieldOf(
    table: ModelTable,
    field: number,
    { name, found }: { name: string; found: { restored: number; empty: number } },
  ): number {
    if (table.fields.has(field)) return field;
    const position = this.#positionOf((kept) => kept.kind === 'field' && kept.of === table.id && kept.field === field);
    if (position !== undefined) {
      this.#returnField(table, this.trash.get(position) as Kept & { kind: 'field' }, name);
      this.trash.delete(position);
      found.restored += 1;
      return field;
    }
    const created = this.number();
    for (const row of table.rows.values()) row.set(created, null);
    return created;
  }
}
