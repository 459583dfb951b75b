/** What a NOT NULL is called, for whoever wants it to stay away. */
import { postgresName } from '../model/constraint-names.js';
import type { ColumnSchema, Field } from '../model/model.js';

type Column = Pick<Field, 'collection' | 'field'> & { schema: ColumnSchema };

/** As PostgreSQL calls it from 18 on; before, it has no name of its own. */
export const notNullName = ({ collection, field, schema }: Column): string =>
  schema.extras?.not_null_name ?? postgresName(collection, field, '_not_null');
