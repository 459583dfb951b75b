/* Lists the functions, types, operators and operator classes that SQL from outside may use. */
import { EXTENSION_NAMES, POSTGRES_NAMES, type WrittenNames } from './postgres-names.js';

/**
 * Manual decisions about functions and types, with reasons. All others follow from the catalogs of PostgreSQL 14 to 18
 * (postgres-names.ts). `npm run docs -- functions` writes both to docs/functions.md.
 */

export interface Group {
  /** The reason, as the end of a sentence such as "allowed, because …". */
  why: string;
  names: readonly string[];
}

const group = (why: string, names: string): Group => ({ why, names: names.split(/\s+/) });

/** Functions of PostgreSQL that are not immutable in every release or overload. */
export const CHOSEN_FUNCTIONS: readonly Group[] = [
  group('they read the clock', 'now clock_timestamp statement_timestamp transaction_timestamp timeofday'),
  group('they generate random values', 'random random_normal gen_random_uuid uuidv4 uuidv7'),
  group(
    'they depend on session settings such as the time zone, and change nothing',
    `age date date_add date_part date_subtract date_trunc extract interval_pl_timestamptz make_timestamptz overlaps time
     timestamp timestamptz timetz timezone to_char to_date to_number to_timestamp money numeric`,
  ),
  group(
    'they depend on the text format of types, and change nothing',
    `array_to_json array_to_string concat concat_ws json_build_array json_build_object jsonb_build_array
     jsonb_build_object jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz jsonb_path_query_first_tz
     quote_literal quote_nullable row_to_json to_json to_jsonb`,
  ),
  group('they depend on the encoding of the database', 'convert convert_from convert_to length'),
  group(
    'they depend on text search configurations',
    'json_to_tsvector jsonb_to_tsvector phraseto_tsquery plainto_tsquery to_tsquery to_tsvector websearch_to_tsquery',
  ),
  group('they depend on the labels of an enum', 'enum_first enum_last enum_range'),
  group('it reads only the value', 'pg_column_size'),
  group(
    'they return the user and the address of the connection, like `CURRENT_USER`',
    'current_database current_schema inet_client_addr inet_client_port',
  ),
];

/** Functions that are allowed only with literal arguments. */
export const GUARDED_FUNCTIONS: readonly Group[] = [
  group('the sequence is a literal, and the table lists it in `needs`', 'nextval'),
  group('the setting is a literal with a dot in it, and the second argument is `true`', 'current_setting'),
  group('the length is a literal number of at most 10,000', 'lpad repeat rpad'),
  group('the lengths are a literal array of numbers, with at most 10,000 elements in all', 'array_fill'),
];

/** Functions that are rejected although they are immutable in every release. */
export const REFUSED_FUNCTIONS: readonly Group[] = [
  group(
    'they read the catalog or the state of the server',
    `acldefault aclcontains aclinsert aclitemeq aclremove hash_aclitem hash_aclitem_extended makeaclitem
     pg_encoding_max_length pg_indexam_progress_phasename pg_partition_root pg_walfile_name pg_walfile_name_offset
     satisfies_hash_partition ts_lexize icu_unicode_version unicode_version`,
  ),
  group('a large number makes it run for minutes', 'factorial'),
  group(
    'they parse XML, which can name files and expand without limit',
    `xml_is_well_formed_content xml_is_well_formed_document xmlcomment xmlconcat2 xmlexists xmltext xmlvalidate xpath
     xpath_exists`,
  ),
  group(
    'they are internal to the server',
    'gist_translate_cmptype_common pg_snapshot_send postgresql_fdw_validator spg_poly_quad_compress',
  ),
];

/** Types whose values name catalog objects, or that only the server uses. */
export const REFUSED_TYPES: readonly Group[] = [
  group(
    'PostgreSQL looks up their values in the catalog',
    `aclitem regclass regcollation regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype
     refcursor`,
  ),
  group(
    'they are internal to the server',
    `cid gtsvector pg_brin_bloom_summary pg_brin_minmax_multi_summary pg_dependencies pg_mcv_list pg_ndistinct
     pg_node_tree pg_snapshot tid txid_snapshot`,
  ),
];

/** The type of a literal that names a text search configuration of PostgreSQL. */
export const SEARCH_CONFIGURATION_TYPE = 'regconfig';

/** Functions of extensions that are not immutable. */
export const CHOSEN_EXTENSION_FUNCTIONS: ReadonlyMap<string, Group> = new Map([
  ['pgcrypto', group('they generate random values', 'gen_random_bytes gen_random_uuid')],
  ['unaccent', group('it reads a separate dictionary', 'unaccent')],
  [
    'uuid-ossp',
    group('they generate values from the clock and at random', 'uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4'),
  ],
]);

/**
 * Functions and types of PostGIS, which is not part of PostgreSQL. The list contains what PostGIS columns usually
 * need in checks, indexes and expressions.
 */
const POSTGIS = {
  functions: `geometrytype st_area st_asewkt st_asgeojson st_astext st_buffer st_centroid st_coorddim st_distance
    st_dwithin st_envelope st_force2d st_geogfromtext st_geohash st_geometryfromtext st_geometrytype st_geomfromewkt
    st_geomfromgeojson st_geomfromtext st_isempty st_isvalid st_length st_makepoint st_ndims st_npoints st_perimeter
    st_point st_pointfromtext st_setsrid st_simplify st_srid st_transform st_x st_y st_z`,
  types: 'geometry geography box2d box3d',
  operators: '&& &&& @ ~ = < <= > >= <-> <#> |&> <<| << >> &< &> |>> ~=',
  operatorClasses: `gist_geometry_ops_2d gist_geometry_ops_nd gist_geography_ops brin_geometry_inclusion_ops_2d
    spgist_geometry_ops_2d spgist_geography_ops_nd btree_geometry_ops`,
};

/** Immutable functions of extensions that are rejected. */
export const REFUSED_EXTENSION_FUNCTIONS: ReadonlyMap<string, Group> = new Map([
  [
    'pgcrypto',
    group(
      'one argument makes them run for hours, or they decrypt',
      `crypt decrypt decrypt_iv encrypt encrypt_iv pgp_key_id pgp_pub_decrypt pgp_pub_decrypt_bytea pgp_sym_decrypt
       pgp_sym_decrypt_bytea`,
    ),
  ],
  ['isn', group('it changes a setting of the session', 'isn_weak')],
  ['hstore', group('it is internal to the extension', 'hstore_version_diag')],
]);

/** Returns the names of all groups in the order of the groups. There may be duplicates. */
export const namesOf = (groups: readonly Group[]): string[] => groups.flatMap(({ names }) => names);

export interface AllowedNames {
  functions: ReadonlySet<string>;
  types: ReadonlySet<string>;
  operators: ReadonlySet<string>;
  operatorClasses: ReadonlySet<string>;
}

const splitWords = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const withoutAll = (names: readonly string[], refused: Iterable<string>): string[] => {
  const excluded = new Set(refused);
  return names.filter((name) => !excluded.has(name));
};

/** Names of PostgreSQL itself, which may be qualified with `pg_catalog.`. */
export const OWN_NAMES: AllowedNames = {
  functions: new Set([
    ...withoutAll(splitWords(POSTGRES_NAMES.functions), namesOf([...REFUSED_FUNCTIONS, ...GUARDED_FUNCTIONS])),
    ...namesOf(CHOSEN_FUNCTIONS),
  ]),
  types: new Set(withoutAll(splitWords(POSTGRES_NAMES.types), [...namesOf(REFUSED_TYPES), SEARCH_CONFIGURATION_TYPE])),
  operators: new Set(splitWords(POSTGRES_NAMES.operators)),
  operatorClasses: new Set(splitWords(POSTGRES_NAMES.operatorClasses)),
};

export const SEARCH_CONFIGURATIONS: ReadonlySet<string> = new Set(splitWords(POSTGRES_NAMES.searchConfigurations));

/** The allowed names by extension. */
export const NAMES_OF_EXTENSIONS: ReadonlyMap<string, AllowedNames> = new Map(
  Object.entries({ ...EXTENSION_NAMES, postgis: POSTGIS }).map(([extension, names]) => [
    extension,
    namesOfExtension(extension, names),
  ]),
);

function namesOfExtension(extension: string, names: WrittenNames): AllowedNames {
  const refused = REFUSED_EXTENSION_FUNCTIONS.get(extension)?.names ?? [];
  const chosen = CHOSEN_EXTENSION_FUNCTIONS.get(extension)?.names ?? [];
  return {
    functions: new Set([...withoutAll(splitWords(names.functions), refused), ...chosen]),
    types: new Set(splitWords(names.types)),
    operators: new Set(splitWords(names.operators)),
    operatorClasses: new Set(splitWords(names.operatorClasses)),
  };
}

/** Returns the extensions that contain an object with that name and that a table may need, in order. */
export function extensionsWith(kind: keyof AllowedNames, name: string): string[] {
  return Object.keys(EXTENSION_NAMES).filter((each) => NAMES_OF_EXTENSIONS.get(each)?.[kind].has(name));
}
