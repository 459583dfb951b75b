/** What a table uses beside itself: what of it a snapshot can make, and what has to be there. */
import { quoted } from '../../kernel/quoted.js';
import { type Need, type SequenceOptions, TRUSTED_EXTENSIONS } from '../../schema/model/extras.js';
import { needLabel, needsOfNode } from '../../schema/model/needs.js';
import { checkSqlText } from '../../schema/sql-text/check-sql-text.js';
import type { TextContext } from '../../schema/sql-text/text-context.js';
import { textsOfDomain } from '../../schema/sql-text/texts.js';
import { type SequenceType, unusualOptions } from '../../schema/model/sequence-options.js';
import { byName } from '../../schema/model/state.js';
import type { CatalogSequence, Use, UsedType } from '../catalog/objects.js';
import { type Converting, note } from './context.js';
import { keepNeeds } from './unsendable-sql.js';

const usesOf = ({ objects, table }: Converting): readonly Use[] => objects.uses.get(table.name) ?? [];

/** Extensions, then collations, then types, bases before what is made of them, then sequences. */
export function needsOf(converting: Converting): Need[] {
  const types = [...(converting.objects.types.get(converting.table.name) ?? [])].sort(
    (a, b) => b.depth - a.depth || byName(a.name, b.name),
  );
  const extensions = new Set([...types, ...usesOf(converting)].flatMap(({ extension }) => extension ?? []));
  const needs = [
    ...[...extensions].sort(byName).flatMap((name) => extensionNeed(name, converting)),
    ...collationNeeds(types, converting),
    ...types.flatMap((type) => typeNeed(type, converting)),
    ...sequenceNeeds(converting),
  ];
  const around = keepNeeds(converting, needs);
  const listed = needs.filter((need) => isListed(need, around, converting));
  keepNeeds(converting, listed);
  return listed;
}

/** A domain whose rules could not be sent has to be there, as the types that no snapshot can make. */
function isListed(need: Need, around: TextContext, converting: Converting): boolean {
  if (need.kind !== 'domain' || isSaid(need, converting)) return true;
  const faults = textsOfDomain(need, []).flatMap(({ kind, text }) => checkSqlText(kind, text, around) ?? []);
  if (faults.length === 0) return true;
  const message = `domain ${quoted(need.name)} ${faults[0]}: it has to be there before a snapshot with this table is applied elsewhere`;
  note(converting, { kind: 'type', name: need.name, code: 'TYPE_NEEDED', message });
  return false;
}

const isSaid = (need: Need, { like }: Converting): boolean =>
  needsOfNode(like).some((each) => needLabel(each) === needLabel(need));

function extensionNeed(name: string, converting: Converting): Need[] {
  if (TRUSTED_EXTENSIONS.has(name)) return [{ kind: 'extension', name }];
  const message = `extension ${quoted(name)} has to be there before a snapshot with this table is applied elsewhere`;
  note(converting, { kind: 'extension', name, code: 'EXTENSION_NEEDED', message });
  return [];
}

/** Those of the schema. One of another schema has to be there, which unrepresented.ts says of columns. */
function collationNeeds(types: readonly UsedType[], converting: Converting): Need[] {
  const used = usesOf(converting)
    .filter(({ uses, extension }) => uses === 'collation' && extension === null)
    .map(({ schema, what }) => ({ schema, name: what }));
  const own = [...used, ...types.flatMap((type) => (type.extension === null ? type.collations : []))]
    .filter(({ schema }) => schema === converting.schema)
    .map(({ name }) => name);
  return [...new Set(own)].sort(byName).flatMap((name): Need[] => {
    const collation = converting.objects.collations.get(name);
    return collation === undefined ? [] : [{ kind: 'collation', name, ...collation }];
  });
}

function typeNeed(type: UsedType, converting: Converting): Need[] {
  if (type.extension !== null) return [];
  if (type.schema === converting.schema && type.kind === 'e') {
    return [{ kind: 'enum', name: type.name, labels: type.labels }];
  }
  if (type.schema === converting.schema && type.kind === 'd') return [domainNeed(type)];
  const message = `type ${quoted(type.name)} has to be there before a snapshot with this table is applied elsewhere`;
  note(converting, { kind: 'type', name: type.name, code: 'TYPE_NEEDED', message });
  return [];
}

function domainNeed({ name, base, collation, notNull, default: value, checks }: UsedType): Need {
  return {
    kind: 'domain',
    name,
    type: base ?? '',
    ...(collation === null ? {} : { collation }),
    ...(notNull ? { not_null: true as const } : {}),
    ...(value === null ? {} : { default: value }),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

/** Those that its defaults count by, and those that a column of it owns, whatever counts by them. */
function sequenceNeeds(converting: Converting): Need[] {
  const { objects, schema, table } = converting;
  const used = usesOf(converting).filter((use) => use.uses === 'sequence' && use.schema === schema);
  const owned = (objects.owned.get(table.name) ?? []).map(({ name }) => name);
  return [...new Set([...used.map((use) => use.what), ...owned])].sort(byName).flatMap((name): Need[] => {
    const sequence = objects.sequences.get(name);
    if (sequence === undefined || sequence.isIdentity) return [];
    const owner = sequence.owner?.table === table.name ? { owned_by: sequence.owner.column } : {};
    return [{ kind: 'sequence', name, ...owner, ...sequenceOptions(sequence, 'bigint') }];
  });
}

/** What isn't as PostgreSQL makes a sequence unasked. @param type the one it has unasked */
export const sequenceOptions = (sequence: CatalogSequence, type: string): SequenceOptions =>
  unusualOptions({ ...sequence, type: sequence.type as SequenceType }, type);

/** Functions, operators or collations that something uses and a snapshot can't make; null: none. */
export function unmanagedUse(converting: Converting, kind: Use['kind'], name: string): string | null {
  const found = usesOf(converting).find(
    (use) => use.kind === kind && use.name === name && !isRepresented(use, converting),
  );
  if (found === undefined) return null;
  return found.uses === 'function' ? found.what : `${found.uses} ${found.what}`;
}

/**
 * What an extension brings is there as soon as the extension is installed. The sequence of an identity column
 * is made with that, and may be made later than what counts by it too.
 */
function isRepresented({ uses, schema, extension, what }: Use, converting: Converting): boolean {
  if (uses !== 'sequence') return extension !== null || (uses === 'collation' && schema === converting.schema);
  return schema === converting.schema && converting.objects.sequences.get(what)?.isIdentity === false;
}
