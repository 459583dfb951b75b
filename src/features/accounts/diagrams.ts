/** The arrangements of diagrams that users have saved. They are no part of the schema, so no event records them. */
import type { Pool } from 'pg';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import { own } from '../../postgres/own-tables.js';
import { write } from './queries.js';

/** The arrangement of one view. */
interface SavedDiagram {
  depth: 'names' | 'keys' | 'columns';
  /** Null for the whole schema. */
  folder: string | null;
  places: { collection: string; x: number; y: number }[];
}

export interface Diagrams {
  list(userId: string): Promise<SavedDiagram[]>;
  /**
   * Replaces the arrangement of one view. Without places, deletes it. Returns INVALID_STATE if the user has too many
   * others.
   */
  save(userId: string, diagram: SavedDiagram): Promise<Result<SavedDiagram>>;
}

/** Maximum number of arrangements per user. */
const DIAGRAMS_PER_USER = 100;

export const createDiagrams = ({ pool }: { pool: Pool }): Diagrams => ({
  async list(userId) {
    const { rows } = await pool.query<SavedDiagram>(
      `select depth, nullif(folder, ''::text) as folder, places from ${own.presets}
        where user_id = $1 order by depth, folder collate "C"`,
      [userId],
    );
    return rows;
  },

  async save(userId, saved) {
    const { depth, folder, places } = saved;
    const view = [userId, depth, folder ?? ''];
    if (places.length === 0) {
      await write(pool, `delete from ${own.presets} where user_id = $1 and depth = $2 and folder = $3`, view);
      return ok(saved);
    }
    const { rowCount } = await write(pool, SAVE, [...view, JSON.stringify(places)]);
    return rowCount > 0 ? ok(saved) : refuse({ code: 'INVALID_STATE', message: TOO_MANY });
  },
});

const SAVE = `
insert into ${own.presets} as d (user_id, depth, folder, places)
select $1::uuid, $2, $3, $4::jsonb where (
  select count(*) from ${own.presets} where user_id = $1 and (depth, folder) <> ($2, $3)) < ${DIAGRAMS_PER_USER}
on conflict (user_id, depth, folder) do update set places = excluded.places`;

const TOO_MANY = `You have saved ${DIAGRAMS_PER_USER} arrangements, the maximum. Reset one of them first.`;
