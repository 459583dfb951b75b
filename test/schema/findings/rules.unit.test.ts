import { expect } from 'chai';
import { RULES } from '../../../src/schema/findings/rules/index.js';
import type { Rule } from '../../../src/schema/findings/model.js';

const codes = (is: (rule: Rule) => unknown): string[] =>
  RULES.filter(is)
    .map(({ code }) => code)
    .sort();
const splitWords = (text: string): string[] => text.trim().split(/\s+/);

describe('the rules', () => {
  it('check existing objects only for names, keys and types', () => {
    expect(codes(({ standing }) => standing)).to.deep.equal(
      splitWords(`
        CASCADE_DELETES CHAR_TYPE FOREIGN_KEY_WITHOUT_INDEX INDEX_OF_MANY_COLUMNS JSON_NOT_JSONB KEY_MAY_OVERFLOW
        LOCAL_TIME_DEFAULT NAME_LOOKS_ALIKE NAME_NEEDS_QUOTES NAME_SHORTENED NO_PRIMARY_KEY NULL_ON_REQUIRED
        POLICY_ALWAYS_TRUE PUBLIC_PRIVILEGE RESERVED_NAME ROW_SECURITY_WITHOUT_POLICY SECURITY_DEFINER_SEARCH_PATH SERIAL_COLUMN
        TIME_WITHOUT_ZONE UNLOGGED_TABLE VIEW_BYPASSES_ROW_SECURITY`),
    );
  });

  it('cannot be configured by a policy for files, renames, the trash and dry runs', () => {
    expect(codes(({ shownOnly }) => shownOnly)).to.deep.equal(
      splitWords(`
        ACTS_WHILE_PREPARED DATA_NOT_RESTORED DATA_RESTORED DEFAULT_LEFT_OUT DUPLICATE_LEFT_OUT EXPRESSION_LEFT_OUT
        FIELD_LEFT_OUT FOREIGN_KEY_LEFT_OUT LOOKS_RENAMED MEMBER_LEFT_OUT NOT_RESTORED PRIMARY_KEY_ADDED
        REFERENCE_LEFT_OUT RELATION_LEFT_OUT RENAMED_FROM_NOTHING ROWS_IN_THE_WAY SYSTEM_COLLECTION_LEFT_OUT
        SYSTEM_FIELDS_LEFT_OUT SYSTEM_FIELD_LEFT_OUT TYPE_CHANGED VALUE_LEFT_OUT`),
    );
  });

  it('have the highest level only for losses, rejections and impossible changes', () => {
    expect(codes(({ level }) => level === 'danger')).to.deep.equal(
      splitWords(`
        DATA_NOT_KEPT ENUM_LABEL_IN_SAME_TRANSACTION INHERITED LOSES_DATA NEEDED_ELSEWHERE NOT_ONLINE ROLE_NEEDED
        TYPE_NEEDED`),
    );
  });
});
