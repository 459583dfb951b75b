/** All rules, in the display order of findings about one statement or document. */
import type { Rule } from '../model.js';
import { allowsNull } from './allows-null.js';
import { breaksClients } from './breaks-clients.js';
import { cascadeDeletes } from './cascade-deletes.js';
import { charType } from './char-type.js';
import { checkUnderLock } from './check-under-lock.js';
import { counterOverRows } from './counter-over-rows.js';
import { createsExtension } from './creates-extension.js';
import { createsType } from './creates-type.js';
import { defaultForNewRows } from './default-for-new-rows.js';
import { dropsConstraint } from './drops-constraint.js';
import { dropsDefault } from './drops-default.js';
import { dropsIndex } from './drops-index.js';
import { exclusionUnderLock } from './exclusion-under-lock.js';
import { foreignKeyUnderLock } from './foreign-key-under-lock.js';
import { foreignKeyWithoutIndex } from './foreign-key-without-index.js';
import { generatedOverRows } from './generated-over-rows.js';
import { IMPORTED } from './imported.js';
import { indexOfManyColumns } from './index-of-many-columns.js';
import { indexUnderLock } from './index-under-lock.js';
import { indexedTypeChange } from './indexed-type-change.js';
import { jsonNotJsonb } from './json-not-jsonb.js';
import { keyMayOverflow } from './key-may-overflow.js';
import { localTimeDefault } from './local-time-default.js';
import { longLock } from './long-lock.js';
import { losesData } from './loses-data.js';
import { mayFail } from './may-fail.js';
import { nameLooksAlike } from './name-looks-alike.js';
import { nameNeedsQuotes } from './name-needs-quotes.js';
import { nameShortened } from './name-shortened.js';
import { narrowsType } from './narrows-type.js';
import { neededElsewhere } from './needed-elsewhere.js';
import { noPrimaryKey } from './no-primary-key.js';
import { notOnline } from './not-online.js';
import { notNullOverRows } from './not-null-over-rows.js';
import { NOTICED } from './noticed-elsewhere.js';
import { nullOnRequired } from './null-on-required.js';
import { primaryKeyOverRows } from './primary-key-over-rows.js';
import { requiredField } from './required-field.js';
import { reservedName } from './reserved-name.js';
import { rewritesTable } from './rewrites-table.js';
import { serialColumn } from './serial-column.js';
import { timeWithoutZone } from './time-without-zone.js';
import { typeNeeded } from './type-needed.js';
import { uniqueOverRows } from './unique-over-rows.js';
import { volatileDefault } from './volatile-default.js';

export const RULES: readonly Rule[] = [
  losesData,
  rewritesTable,
  longLock,
  mayFail,
  notOnline,
  breaksClients,
  neededElsewhere,
  requiredField,
  notNullOverRows,
  uniqueOverRows,
  primaryKeyOverRows,
  indexUnderLock,
  foreignKeyUnderLock,
  checkUnderLock,
  exclusionUnderLock,
  narrowsType,
  indexedTypeChange,
  volatileDefault,
  counterOverRows,
  generatedOverRows,
  dropsConstraint,
  dropsIndex,
  allowsNull,
  defaultForNewRows,
  dropsDefault,
  nullOnRequired,
  cascadeDeletes,
  foreignKeyWithoutIndex,
  noPrimaryKey,
  keyMayOverflow,
  localTimeDefault,
  timeWithoutZone,
  jsonNotJsonb,
  charType,
  serialColumn,
  reservedName,
  nameLooksAlike,
  nameNeedsQuotes,
  nameShortened,
  indexOfManyColumns,
  createsExtension,
  createsType,
  typeNeeded,
  ...NOTICED,
  ...IMPORTED,
];
