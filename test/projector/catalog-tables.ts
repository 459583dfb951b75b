/** Tables as read from the catalog. Tests specify only the members that matter to them. */
import type {
  CatalogColumn,
  CatalogConstraint,
  CatalogIndex,
  CatalogTable,
} from '../../src/projector/catalog/model.js';
import type { CatalogObjects, CatalogSequence, Use, UsedType } from '../../src/projector/catalog/objects.js';

export function catalogColumn(name: string, type: string, more: Partial<CatalogColumn> = {}): CatalogColumn {
  return {
    name,
    type,
    builtIn: true,
    nullable: true,
    default: null,
    identity: null,
    generated: null,
    collation: null,
    comment: null,
    sequence: null,
    notNull: null,
    ...more,
  };
}

export function catalogConstraint(
  name: string,
  kind: CatalogConstraint['kind'],
  more: Partial<CatalogConstraint> = {},
): CatalogConstraint {
  return {
    name,
    kind,
    columns: [],
    definition: '',
    validated: true,
    deferrable: false,
    initiallyDeferred: false,
    references: null,
    ...more,
  };
}

/** A single-column foreign key to the `id` of a table in the same schema. */
export function catalogReference(
  name: string,
  column: string,
  table: string,
  more: Partial<CatalogConstraint> = {},
): CatalogConstraint {
  return catalogConstraint(name, 'foreign key', {
    columns: [column],
    definition: `FOREIGN KEY (${column}) REFERENCES ${table}(id)`,
    references: {
      schema: 'public',
      table,
      columns: ['id'],
      onUpdate: 'NO ACTION',
      onDelete: 'NO ACTION',
      match: 'simple',
    },
    ...more,
  });
}

/** A plain index on these columns. */
export function catalogIndex(name: string, columns: string[], more: Partial<CatalogIndex> = {}): CatalogIndex {
  return {
    name,
    columns,
    method: 'btree',
    unique: false,
    valid: true,
    constraint: null,
    tail: `USING btree (${columns.join(', ')})`,
    plain: columns.length === 1,
    ...more,
  };
}

export function catalogTable(name: string, more: Partial<CatalogTable> = {}): CatalogTable {
  return {
    name,
    schema: undefined,
    table: name,
    comment: null,
    partitionOf: null,
    partitionKey: null,
    extension: null,
    columns: [],
    constraints: [],
    indexes: [],
    prepared: [],
    ...more,
  };
}

/** A default sequence for a column of this type. */
export function catalogSequence(name: string, type: string, more: Partial<CatalogSequence> = {}): CatalogSequence {
  const max = { smallint: '32767', integer: '2147483647', bigint: '9223372036854775807' }[type] ?? '';
  return {
    name,
    schema: undefined,
    type,
    start: '1',
    increment: '1',
    min: '1',
    max,
    cache: '1',
    cycle: false,
    owner: null,
    isIdentity: false,
    ...more,
  };
}

export interface Objects {
  /** For the table `t`. */
  uses?: readonly Use[];
  types?: readonly UsedType[];
  sequences?: readonly CatalogSequence[];
  collations?: CatalogObjects['collations'];
  extensions?: readonly string[];
  typeNames?: readonly string[];
}

export function catalogObjects(given: Objects = {}): CatalogObjects {
  const { uses = [], types = [], sequences = [], collations = new Map(), extensions = [], typeNames = [] } = given;
  return {
    uses: new Map([['t', uses]]),
    types: new Map([['t', types]]),
    sequences: new Map(sequences.map((sequence) => [sequence.name, sequence])),
    owned: new Map([['t', sequences.filter(({ owner }) => owner?.table === 't')]]),
    collations,
    typeNames: new Set(typeNames),
    extensions: new Set(extensions),
    schemaOf: (schema) => (schema === 'public' ? undefined : schema),
    isManaged: (schema) => schema === 'public',
  };
}
