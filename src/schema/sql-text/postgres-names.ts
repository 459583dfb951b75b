/** Made by `npm run functions` from the catalogs of PostgreSQL 14 to 18: not to be edited. */

/** Names between blanks. */
export interface WrittenNames {
  functions: string;
  types: string;
  operators: string;
  operatorClasses: string;
}

/** Functions: those of which every overload is immutable in every release, and takes and gives a value. */
export const POSTGRES_NAMES: WrittenNames & { searchConfigurations: string } = {
  functions: String.raw`
    abbrev abs aclcontains acldefault aclinsert aclitemeq aclremove acos acosd acosh any_value_transfn area array_append array_cat array_dims array_eq array_fill array_ge array_gt array_larger array_le array_length array_lower array_lt array_ndims array_ne array_position array_positions array_prepend array_remove array_replace array_reverse array_smaller array_sort array_to_tsvector array_upper
    arraycontained arraycontains arrayoverlap ascii asin asind asinh atan atan2 atan2d atand atanh bit bit_count bit_length bit_send bitand bitcat bitcmp biteq bitge bitgt bitle bitlt bitne bitnot bitor bitshiftleft bitshiftright bittypmodin bitxor bool booland_statefunc booleq boolge boolgt boolle boollt boolne boolor_statefunc boolsend bound_box box box_above box_above_eq box_add box_below
    box_below_eq box_center box_contain box_contain_pt box_contained box_distance box_div box_eq box_ge box_gt box_intersect box_le box_left box_lt box_mul box_overabove box_overbelow box_overlap box_overleft box_overright box_right box_same box_send box_sub bpchar bpchar_larger bpchar_pattern_ge bpchar_pattern_gt bpchar_pattern_le bpchar_pattern_lt bpchar_smaller bpcharcmp bpchareq bpcharge bpchargt
    bpchariclike bpcharicnlike bpcharicregexeq bpcharicregexne bpcharle bpcharlike bpcharlt bpcharne bpcharnlike bpcharregexeq bpcharregexne bpchartypmodin broadcast btarraycmp btboolcmp btbpchar_pattern_cmp btcharcmp btequalimage btfloat48cmp btfloat4cmp btfloat84cmp btfloat8cmp btint24cmp btint28cmp btint2cmp btint42cmp btint48cmp btint4cmp btint82cmp btint84cmp btint8cmp btnamecmp btnametextcmp
    btoidcmp btoidvectorcmp btrecordcmp btrecordimagecmp btrim bttext_pattern_cmp bttextcmp bttextnamecmp bttidcmp btvarstrequalimage bytea bytea_larger bytea_smaller byteacat byteacmp byteaeq byteage byteagt byteale bytealike bytealt byteane byteanlike byteasend cardinality casefold cash_cmp cash_div_cash cash_div_flt4 cash_div_flt8 cash_div_int2 cash_div_int4 cash_div_int8 cash_eq cash_ge cash_gt
    cash_le cash_lt cash_mi cash_mul_flt4 cash_mul_flt8 cash_mul_int2 cash_mul_int4 cash_mul_int8 cash_ne cash_pl cash_send cash_words cashlarger cashsmaller cbrt ceil ceiling center char char_length character_length chareq charge chargt charle charlt charne charsend chr cideq cidr cidr_send cidsend circle circle_above circle_add_pt circle_below circle_center circle_contain circle_contain_pt
    circle_contained circle_distance circle_div_pt circle_eq circle_ge circle_gt circle_le circle_left circle_lt circle_mul_pt circle_ne circle_overabove circle_overbelow circle_overlap circle_overleft circle_overright circle_right circle_same circle_send circle_sub_pt close_lb close_ls close_lseg close_pb close_pl close_ps close_sb close_sl cos cosd cosh cot cotd crc32 crc32c date_bin date_cmp
    date_cmp_timestamp date_eq date_eq_timestamp date_ge date_ge_timestamp date_gt date_gt_timestamp date_larger date_le date_le_timestamp date_lt date_lt_timestamp date_mi date_mi_interval date_mii date_ne date_ne_timestamp date_pl_interval date_pli date_send date_smaller datemultirange daterange daterange_canonical daterange_subdiff datetime_pl datetimetz_pl dcbrt decode degrees dexp diagonal
    diameter dist_bl dist_bp dist_bs dist_cpoint dist_cpoly dist_lb dist_lp dist_ls dist_pathp dist_pb dist_pc dist_pl dist_polyc dist_polyp dist_ppath dist_ppoly dist_ps dist_sb dist_sl dist_sp div dlog1 dlog10 dpow dround dsqrt dtrunc elem_contained_by_multirange elem_contained_by_range encode enum_cmp enum_eq enum_ge enum_gt enum_larger enum_le enum_lt enum_ne enum_smaller erf erfc exp factorial
    family float4 float48div float48eq float48ge float48gt float48le float48lt float48mi float48mul float48ne float48pl float4_accum float4abs float4div float4eq float4ge float4gt float4larger float4le float4lt float4mi float4mul float4ne float4pl float4send float4smaller float4um float4up float8 float84div float84eq float84ge float84gt float84le float84lt float84mi float84mul float84ne float84pl
    float8_accum float8_avg float8_combine float8_corr float8_covar_pop float8_covar_samp float8_regr_accum float8_regr_avgx float8_regr_avgy float8_regr_combine float8_regr_intercept float8_regr_r2 float8_regr_slope float8_regr_sxx float8_regr_sxy float8_regr_syy float8_stddev_pop float8_stddev_samp float8_var_pop float8_var_samp float8abs float8div float8eq float8ge float8gt float8larger float8le
    float8lt float8mi float8mul float8ne float8pl float8send float8smaller float8um float8up floor flt4_mul_cash flt8_mul_cash gamma gcd get_bit get_byte gin_cmp_tslexeme gin_compare_jsonb gist_translate_cmptype_common hash_aclitem hash_aclitem_extended hash_array hash_array_extended hash_multirange hash_multirange_extended hash_numeric hash_numeric_extended hash_range hash_range_extended hash_record
    hash_record_extended hashbool hashboolextended hashbpchar hashbpcharextended hashbytea hashbyteaextended hashchar hashcharextended hashcid hashcidextended hashdate hashdateextended hashenum hashenumextended hashfloat4 hashfloat4extended hashfloat8 hashfloat8extended hashinet hashinetextended hashint2 hashint2extended hashint4 hashint4extended hashint8 hashint8extended hashmacaddr hashmacaddr8
    hashmacaddr8extended hashmacaddrextended hashname hashnameextended hashoid hashoidextended hashoidvector hashoidvectorextended hashtext hashtextextended hashtid hashtidextended hashxid hashxid8 hashxid8extended hashxidextended height host hostmask icu_unicode_version inet_merge inet_same_family inet_send inetand inetmi inetmi_int8 inetnot inetor inetpl initcap int2 int24div int24eq int24ge int24gt
    int24le int24lt int24mi int24mul int24ne int24pl int28div int28eq int28ge int28gt int28le int28lt int28mi int28mul int28ne int28pl int2_avg_accum int2_avg_accum_inv int2_mul_cash int2_sum int2abs int2and int2div int2eq int2ge int2gt int2int4_sum int2larger int2le int2lt int2mi int2mod int2mul int2ne int2not int2or int2pl int2send int2shl int2shr int2smaller int2um int2up int2vectorsend int2xor int4
    int42div int42eq int42ge int42gt int42le int42lt int42mi int42mul int42ne int42pl int48div int48eq int48ge int48gt int48le int48lt int48mi int48mul int48ne int48pl int4_avg_accum int4_avg_accum_inv int4_avg_combine int4_mul_cash int4_sum int4abs int4and int4div int4eq int4ge int4gt int4inc int4larger int4le int4lt int4mi int4mod int4mul int4multirange int4ne int4not int4or int4pl int4range
    int4range_canonical int4range_subdiff int4send int4shl int4shr int4smaller int4um int4up int4xor int8 int82div int82eq int82ge int82gt int82le int82lt int82mi int82mul int82ne int82pl int84div int84eq int84ge int84gt int84le int84lt int84mi int84mul int84ne int84pl int8_avg int8_mul_cash int8_sum int8abs int8and int8dec int8dec_any int8div int8eq int8ge int8gt int8inc int8inc_any
    int8inc_float8_float8 int8larger int8le int8lt int8mi int8mod int8mul int8multirange int8ne int8not int8or int8pl int8pl_inet int8range int8range_canonical int8range_subdiff int8send int8shl int8shr int8smaller int8um int8up int8xor integer_pl_date inter_lb inter_sb inter_sl interval interval_accum interval_accum_inv interval_cmp interval_combine interval_div interval_eq interval_ge interval_gt
    interval_hash interval_hash_extended interval_larger interval_le interval_lt interval_mi interval_mul interval_ne interval_pl interval_pl_date interval_pl_time interval_pl_timestamp interval_pl_timetz interval_send interval_smaller interval_um intervaltypmodin is_normalized isclosed isempty isfinite ishorizontal isopen isparallel isperp isvertical json_array_element json_array_element_text
    json_array_length json_extract_path json_extract_path_text json_object json_object_field json_object_field_text json_send json_strip_nulls json_typeof jsonb_array_element jsonb_array_element_text jsonb_array_length jsonb_cmp jsonb_concat jsonb_contained jsonb_contains jsonb_delete jsonb_delete_path jsonb_eq jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text
    jsonb_ge jsonb_gt jsonb_hash jsonb_hash_extended jsonb_insert jsonb_le jsonb_lt jsonb_ne jsonb_object jsonb_object_field jsonb_object_field_text jsonb_path_exists jsonb_path_exists_opr jsonb_path_match jsonb_path_match_opr jsonb_path_query_array jsonb_path_query_first jsonb_pretty jsonb_send jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_typeof jsonpath_send justify_days justify_hours
    justify_interval lcm left lgamma like like_escape line line_distance line_eq line_horizontal line_interpt line_intersect line_parallel line_perp line_send line_vertical ln log log10 lower lower_inc lower_inf lpad lseg lseg_center lseg_distance lseg_eq lseg_ge lseg_gt lseg_horizontal lseg_interpt lseg_intersect lseg_le lseg_length lseg_lt lseg_ne lseg_parallel lseg_perp lseg_send lseg_vertical ltrim
    macaddr macaddr8 macaddr8_and macaddr8_cmp macaddr8_eq macaddr8_ge macaddr8_gt macaddr8_le macaddr8_lt macaddr8_ne macaddr8_not macaddr8_or macaddr8_send macaddr8_set7bit macaddr_and macaddr_cmp macaddr_eq macaddr_ge macaddr_gt macaddr_le macaddr_lt macaddr_ne macaddr_not macaddr_or macaddr_send make_date make_interval make_time make_timestamp makeaclitem masklen md5 min_scale mod mul_d_interval
    multirange multirange_adjacent_multirange multirange_adjacent_range multirange_after_multirange multirange_after_range multirange_before_multirange multirange_before_range multirange_cmp multirange_contained_by_multirange multirange_contained_by_range multirange_contains_elem multirange_contains_multirange multirange_contains_range multirange_eq multirange_ge multirange_gt multirange_intersect
    multirange_intersect_agg_transfn multirange_le multirange_lt multirange_minus multirange_ne multirange_overlaps_multirange multirange_overlaps_range multirange_overleft_multirange multirange_overleft_range multirange_overright_multirange multirange_overright_range multirange_union name nameconcatoid nameeq nameeqtext namege namegetext namegt namegttext nameiclike nameicnlike nameicregexeq
    nameicregexne namele nameletext namelike namelt namelttext namene namenetext namenlike nameregexeq nameregexne netmask network network_cmp network_eq network_ge network_gt network_larger network_le network_lt network_ne network_overlap network_smaller network_sub network_subeq network_sup network_supeq normalize notlike npoints num_nonnulls num_nulls numeric_abs numeric_add numeric_cmp numeric_div
    numeric_div_trunc numeric_eq numeric_exp numeric_ge numeric_gt numeric_inc numeric_larger numeric_le numeric_ln numeric_log numeric_lt numeric_mod numeric_mul numeric_ne numeric_pl_pg_lsn numeric_power numeric_send numeric_smaller numeric_sqrt numeric_sub numeric_uminus numeric_uplus numerictypmodin nummultirange numnode numrange numrange_subdiff octet_length oid oideq oidge oidgt oidlarger oidle
    oidlt oidne oidsend oidsmaller oidvectoreq oidvectorge oidvectorgt oidvectorle oidvectorlt oidvectorne oidvectorsend on_pb on_pl on_ppath on_ps on_sb on_sl overlay parse_ident path path_add path_add_pt path_center path_contain_pt path_distance path_div_pt path_inter path_length path_mul_pt path_n_eq path_n_ge path_n_gt path_n_le path_n_lt path_npoints path_send path_sub_pt pclose
    pg_encoding_max_length pg_indexam_progress_phasename pg_lsn pg_lsn_cmp pg_lsn_eq pg_lsn_ge pg_lsn_gt pg_lsn_hash pg_lsn_hash_extended pg_lsn_larger pg_lsn_le pg_lsn_lt pg_lsn_mi pg_lsn_mii pg_lsn_ne pg_lsn_pli pg_lsn_send pg_lsn_smaller pg_partition_root pg_size_bytes pg_size_pretty pg_snapshot_send pg_snapshot_xmax pg_snapshot_xmin pg_visible_in_snapshot pg_wal_lsn_diff pg_walfile_name
    pg_walfile_name_offset pi point point_above point_add point_below point_distance point_div point_eq point_horiz point_left point_mul point_ne point_right point_send point_sub point_vert poly_above poly_below poly_center poly_contain poly_contain_pt poly_contained poly_distance poly_left poly_npoints poly_overabove poly_overbelow poly_overlap poly_overleft poly_overright poly_right poly_same
    poly_send polygon popen position postgresql_fdw_validator pow power pt_contained_circle pt_contained_poly querytree quote_ident radians radius range_adjacent range_adjacent_multirange range_after range_after_multirange range_before range_before_multirange range_cmp range_contained_by range_contained_by_multirange range_contains range_contains_elem range_contains_multirange range_eq range_ge
    range_gt range_intersect range_intersect_agg_transfn range_le range_lt range_merge range_minus range_ne range_overlaps range_overlaps_multirange range_overleft range_overleft_multirange range_overright range_overright_multirange range_union record_eq record_ge record_gt record_image_eq record_image_ge record_image_gt record_image_le record_image_lt record_image_ne record_larger record_le record_lt
    record_ne record_smaller regclasssend regcollationsend regconfigsend regdictionarysend regexp_count regexp_instr regexp_like regexp_match regexp_replace regexp_split_to_array regexp_substr regnamespacesend regoperatorsend regopersend regproceduresend regprocsend regrolesend regtypesend repeat replace reverse right round rpad rtrim satisfies_hash_partition scale set_bit set_byte set_masklen
    setweight sha224 sha256 sha384 sha512 sign similar_escape similar_to_escape sin sind sinh slope spg_poly_quad_compress split_part sqrt starts_with string_to_array strip strpos substr substring tan tand tanh text text_ge text_gt text_larger text_le text_lt text_pattern_ge text_pattern_gt text_pattern_le text_pattern_lt text_smaller textcat texteq texteqname textgename textgtname texticlike
    texticnlike texticregexeq texticregexne textlen textlename textlike textltname textne textnename textnlike textregexeq textregexne tideq tidge tidgt tidlarger tidle tidlt tidne tidsend tidsmaller time_cmp time_eq time_ge time_gt time_hash time_hash_extended time_larger time_le time_lt time_mi_interval time_mi_time time_ne time_pl_interval time_send time_smaller timedate_pl timestamp_cmp
    timestamp_cmp_date timestamp_eq timestamp_eq_date timestamp_ge timestamp_ge_date timestamp_gt timestamp_gt_date timestamp_hash timestamp_hash_extended timestamp_larger timestamp_le timestamp_le_date timestamp_lt timestamp_lt_date timestamp_mi timestamp_mi_interval timestamp_ne timestamp_ne_date timestamp_pl_interval timestamp_send timestamp_smaller timestamptypmodin timestamptz_cmp timestamptz_eq
    timestamptz_ge timestamptz_gt timestamptz_hash timestamptz_hash_extended timestamptz_larger timestamptz_le timestamptz_lt timestamptz_mi timestamptz_ne timestamptz_send timestamptz_smaller timestamptztypmodin timetypmodin timetz_cmp timetz_eq timetz_ge timetz_gt timetz_hash timetz_hash_extended timetz_larger timetz_le timetz_lt timetz_mi_interval timetz_ne timetz_pl_interval timetz_send
    timetz_smaller timetzdate_pl timetztypmodin to_ascii to_bin to_hex to_oct translate trim_array trim_scale trunc ts_delete ts_filter ts_lexize ts_match_qv ts_match_vq ts_rank ts_rank_cd tsmultirange tsq_mcontained tsq_mcontains tsquery_and tsquery_cmp tsquery_eq tsquery_ge tsquery_gt tsquery_le tsquery_lt tsquery_ne tsquery_not tsquery_or tsquery_phrase tsquerysend tsrange tsrange_subdiff
    tstzmultirange tstzrange tstzrange_subdiff tsvector_cmp tsvector_concat tsvector_eq tsvector_ge tsvector_gt tsvector_le tsvector_lt tsvector_ne tsvector_to_array tsvectorsend txid_snapshot_send txid_snapshot_xmax txid_snapshot_xmin txid_visible_in_snapshot unicode_assigned unicode_version unistr unknownsend upper upper_inc upper_inf uuid_cmp uuid_eq uuid_extract_timestamp uuid_extract_version
    uuid_ge uuid_gt uuid_hash uuid_hash_extended uuid_le uuid_lt uuid_ne uuid_send varbit varbit_send varbitcmp varbiteq varbitge varbitgt varbitle varbitlt varbitne varbittypmodin varchar varchartypmodin width width_bucket xid xid8_larger xid8_smaller xid8cmp xid8eq xid8ge xid8gt xid8le xid8lt xid8ne xid8send xideq xideqint4 xidneq xidneqint4 xidsend xml_is_well_formed_content
    xml_is_well_formed_document xmlcomment xmlconcat2 xmlexists xmltext xmlvalidate xpath xpath_exists
  `,
  types: String.raw`
    aclitem bit bool box bpchar bytea char cid cidr circle date datemultirange daterange float4 float8 gtsvector inet int2 int4 int4multirange int4range int8 int8multirange int8range interval json jsonb jsonpath line lseg macaddr macaddr8 money name numeric nummultirange numrange oid path pg_brin_bloom_summary pg_brin_minmax_multi_summary pg_dependencies pg_lsn pg_mcv_list pg_ndistinct pg_node_tree
    pg_snapshot point polygon refcursor regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype text tid time timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector txid_snapshot uuid varbit varchar xid xid8 xml
  `,
  operators: String.raw`!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^ = > >= >> >>= >^ ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`,
  operatorClasses: String.raw`
    aclitem_ops array_ops bit_minmax_ops bit_ops bool_ops box_inclusion_ops box_ops bpchar_bloom_ops bpchar_minmax_ops bpchar_ops bpchar_pattern_ops bytea_bloom_ops bytea_minmax_ops bytea_ops char_bloom_ops char_minmax_ops char_ops cid_ops cidr_ops circle_ops date_bloom_ops date_minmax_multi_ops date_minmax_ops date_ops enum_ops float4_bloom_ops float4_minmax_multi_ops float4_minmax_ops float4_ops
    float8_bloom_ops float8_minmax_multi_ops float8_minmax_ops float8_ops inet_bloom_ops inet_inclusion_ops inet_minmax_multi_ops inet_minmax_ops inet_ops int2_bloom_ops int2_minmax_multi_ops int2_minmax_ops int2_ops int4_bloom_ops int4_minmax_multi_ops int4_minmax_ops int4_ops int8_bloom_ops int8_minmax_multi_ops int8_minmax_ops int8_ops interval_bloom_ops interval_minmax_multi_ops interval_minmax_ops
    interval_ops jsonb_ops jsonb_path_ops kd_point_ops macaddr8_bloom_ops macaddr8_minmax_multi_ops macaddr8_minmax_ops macaddr8_ops macaddr_bloom_ops macaddr_minmax_multi_ops macaddr_minmax_ops macaddr_ops money_ops multirange_ops name_bloom_ops name_minmax_ops name_ops numeric_bloom_ops numeric_minmax_multi_ops numeric_minmax_ops numeric_ops oid_bloom_ops oid_minmax_multi_ops oid_minmax_ops oid_ops
    oidvector_ops pg_lsn_bloom_ops pg_lsn_minmax_multi_ops pg_lsn_minmax_ops pg_lsn_ops point_ops poly_ops quad_point_ops range_inclusion_ops range_ops record_image_ops record_ops text_bloom_ops text_minmax_ops text_ops text_pattern_ops tid_bloom_ops tid_minmax_multi_ops tid_minmax_ops tid_ops time_bloom_ops time_minmax_multi_ops time_minmax_ops time_ops timestamp_bloom_ops timestamp_minmax_multi_ops
    timestamp_minmax_ops timestamp_ops timestamptz_bloom_ops timestamptz_minmax_multi_ops timestamptz_minmax_ops timestamptz_ops timetz_bloom_ops timetz_minmax_multi_ops timetz_minmax_ops timetz_ops tsquery_ops tsvector_ops uuid_bloom_ops uuid_minmax_multi_ops uuid_minmax_ops uuid_ops varbit_minmax_ops varbit_ops varchar_ops varchar_pattern_ops xid8_ops xid_ops
  `,
  searchConfigurations: String.raw`arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian serbian simple spanish swedish tamil turkish yiddish`,
};

/** Of the trusted extensions of PostgreSQL's own distribution. */
export const EXTENSION_NAMES: { readonly [extension: string]: WrittenNames } = {
  btree_gin: {
    functions: String.raw`gin_enum_cmp gin_numeric_cmp`,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw`bit_ops bool_ops bpchar_ops bytea_ops char_ops cidr_ops date_ops enum_ops float4_ops float8_ops inet_ops int2_ops int4_ops int8_ops interval_ops macaddr8_ops macaddr_ops money_ops name_ops numeric_ops oid_ops text_ops time_ops timestamp_ops timestamptz_ops timetz_ops uuid_ops varbit_ops varchar_ops`,
  },
  btree_gist: {
    functions: String.raw`cash_dist date_dist float4_dist float8_dist gist_translate_cmptype_btree int2_dist int4_dist int8_dist interval_dist oid_dist time_dist ts_dist tstz_dist`,
    types: String.raw`gbtreekey16 gbtreekey32 gbtreekey4 gbtreekey8 gbtreekey_var`,
    operators: String.raw`<->`,
    operatorClasses: String.raw`gist_bit_ops gist_bpchar_ops gist_bytea_ops gist_cash_ops gist_cidr_ops gist_date_ops gist_enum_ops gist_float4_ops gist_float8_ops gist_inet_ops gist_int2_ops gist_int4_ops gist_int8_ops gist_interval_ops gist_macaddr8_ops gist_macaddr_ops gist_numeric_ops gist_oid_ops gist_text_ops gist_time_ops gist_timestamp_ops gist_timestamptz_ops gist_timetz_ops gist_uuid_ops gist_vbit_ops`,
  },
  citext: {
    functions: String.raw`citext citext_cmp citext_eq citext_ge citext_gt citext_hash citext_hash_extended citext_larger citext_le citext_lt citext_ne citext_pattern_cmp citext_pattern_ge citext_pattern_gt citext_pattern_le citext_pattern_lt citext_smaller regexp_match regexp_replace regexp_split_to_array replace split_part strpos texticlike texticnlike texticregexeq texticregexne translate`,
    types: String.raw`citext`,
    operators: String.raw`!~ !~* !~~ !~~* < <= <> = > >= ~ ~* ~<=~ ~<~ ~>=~ ~>~ ~~ ~~*`,
    operatorClasses: String.raw`citext_ops citext_pattern_ops`,
  },
  cube: {
    functions: String.raw`cube cube_cmp cube_contained cube_contains cube_coord cube_coord_llur cube_dim cube_distance cube_enlarge cube_eq cube_ge cube_gt cube_inter cube_is_point cube_le cube_ll_coord cube_lt cube_ne cube_overlap cube_send cube_size cube_subset cube_union cube_ur_coord distance_chebyshev distance_taxicab`,
    types: String.raw`cube`,
    operators: String.raw`&& -> < <#> <-> <= <=> <> <@ = > >= @> ~>`,
    operatorClasses: String.raw`cube_ops gist_cube_ops`,
  },
  dict_int: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  fuzzystrmatch: {
    functions: String.raw`daitch_mokotoff difference dmetaphone dmetaphone_alt levenshtein levenshtein_less_equal metaphone soundex text_soundex`,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  hstore: {
    functions: String.raw`
      akeys avals defined delete exist exists_all exists_any fetchval hs_concat hs_contained hs_contains hstore hstore_cmp hstore_eq hstore_ge hstore_gt hstore_hash hstore_hash_extended hstore_le hstore_lt hstore_ne hstore_send hstore_to_array hstore_to_json hstore_to_json_loose hstore_to_jsonb hstore_to_jsonb_loose hstore_to_matrix hstore_version_diag isdefined isexists populate_record slice slice_array
      tconvert
    `,
    types: String.raw`ghstore hstore`,
    operators: String.raw`#<# #<=# #= #># #>=# %# %% - -> <> <@ = ? ?& ?| @> ||`,
    operatorClasses: String.raw`btree_hstore_ops gin_hstore_ops gist_hstore_ops hash_hstore_ops`,
  },
  intarray: {
    functions: String.raw`_int_contained _int_contains _int_different _int_inter _int_overlap _int_same _int_union boolop icount idx intarray_del_elem intarray_push_array intarray_push_elem intset intset_subtract intset_union_elem querytree rboolop sort sort_asc sort_desc subarray uniq`,
    types: String.raw`intbig_gkey query_int`,
    operators: String.raw`# & && + - <@ @> @@ | ~~`,
    operatorClasses: String.raw`gin__int_ops gist__int_ops gist__intbig_ops`,
  },
  isn: {
    functions: String.raw`btean13cmp btisbn13cmp btisbncmp btismn13cmp btismncmp btissn13cmp btissncmp btupccmp hashean13 hashisbn hashisbn13 hashismn hashismn13 hashissn hashissn13 hashupc is_valid isbn isbn13 ismn ismn13 isneq isnge isngt isnle isnlt isnne issn issn13 make_valid upc`,
    types: String.raw`ean13 isbn isbn13 ismn ismn13 issn issn13 upc`,
    operators: String.raw`< <= <> = > >=`,
    operatorClasses: String.raw`ean13_ops isbn13_ops isbn_ops ismn13_ops ismn_ops issn13_ops issn_ops upc_ops`,
  },
  lo: {
    functions: String.raw`lo_oid`,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  ltree: {
    functions: String.raw`
      _lt_q_regex _lt_q_rregex _ltq_extract_regex _ltq_regex _ltq_rregex _ltree_extract_isparent _ltree_extract_risparent _ltree_isparent _ltree_r_isparent _ltree_r_risparent _ltree_risparent _ltxtq_exec _ltxtq_extract_exec _ltxtq_rexec hash_ltree hash_ltree_extended index lca lquery_send lt_q_regex lt_q_rregex ltq_regex ltq_rregex ltree2text ltree_addltree ltree_addtext ltree_cmp ltree_eq ltree_ge
      ltree_gt ltree_isparent ltree_le ltree_lt ltree_ne ltree_risparent ltree_send ltree_textadd ltxtq_exec ltxtq_rexec ltxtq_send nlevel subltree subpath text2ltree
    `,
    types: String.raw`lquery ltree ltree_gist ltxtquery`,
    operators: String.raw`< <= <> <@ = > >= ? ?<@ ?@ ?@> ?~ @ @> ^<@ ^? ^@ ^@> ^~ || ~`,
    operatorClasses: String.raw`gist__ltree_ops gist_ltree_ops ltree_ops`,
  },
  pg_trgm: {
    functions: String.raw`show_trgm similarity similarity_dist strict_word_similarity strict_word_similarity_dist_commutator_op strict_word_similarity_dist_op word_similarity word_similarity_dist_commutator_op word_similarity_dist_op`,
    types: String.raw`gtrgm`,
    operators: String.raw`% %> %>> <% <-> <->> <->>> <<% <<-> <<<->`,
    operatorClasses: String.raw`gin_trgm_ops gist_trgm_ops`,
  },
  pgcrypto: {
    functions: String.raw`armor crypt dearmor decrypt decrypt_iv digest encrypt encrypt_iv hmac pgp_key_id pgp_pub_decrypt pgp_pub_decrypt_bytea pgp_sym_decrypt pgp_sym_decrypt_bytea`,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  seg: {
    functions: String.raw`seg_center seg_cmp seg_contained seg_contains seg_different seg_ge seg_gt seg_inter seg_le seg_left seg_lower seg_lt seg_over_left seg_over_right seg_overlap seg_right seg_same seg_size seg_union seg_upper`,
    types: String.raw`seg`,
    operators: String.raw`&& &< &> < << <= <> <@ = > >= >> @>`,
    operatorClasses: String.raw`gist_seg_ops seg_ops`,
  },
  tablefunc: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  tcn: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  tsm_system_rows: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  tsm_system_time: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  unaccent: {
    functions: String.raw``,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
  'uuid-ossp': {
    functions: String.raw`uuid_generate_v3 uuid_generate_v5 uuid_nil uuid_ns_dns uuid_ns_oid uuid_ns_url uuid_ns_x500`,
    types: String.raw``,
    operators: String.raw``,
    operatorClasses: String.raw``,
  },
};
