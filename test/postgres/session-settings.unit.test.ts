import { expect } from 'chai';
import { startupOptions, transactionSettings } from '../../src/postgres/pool.js';

const SPELLING = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  check_function_bodies: 'off',
  row_security: 'off',
};

/** As the server parses them: backslashes escape blanks and backslashes within a value. */
const started = (options: Parameters<typeof startupOptions>[0]): Record<string, string> =>
  Object.fromEntries(
    [...startupOptions(options).matchAll(/-c (\w+)=((?:\\.|[^\\\s])*)(?: |$)/gs)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/gs, '$1'),
    ]),
  );

/** Names and values in order. */
const set = (options: Parameters<typeof transactionSettings>[0]): [name: string, value: string][] =>
  [...transactionSettings(options).matchAll(/pg_catalog\.set_config\('(\w+)', (NULL|'(?:''|[^'])*'), true\)/g)].map(
    ([, name = '', value = '']) => [name, value],
  );

describe('session settings', () => {
  it('are sent at the start of a direct session, and detect a dead client', () => {
    expect(started({ schema: 'public', applicationName: 'dps' })).to.deep.equal({
      search_path: 'public,pg_temp',
      client_min_messages: 'warning',
      ...SPELLING,
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '5',
      tcp_keepalives_count: '3',
      tcp_user_timeout: '25000',
    });
  });

  it('limit lock waits if configured', () => {
    expect(started({ schema: 'public', applicationName: 'dps', lockTimeout: 1500 })).to.include({
      lock_timeout: '1500',
    });
    expect(set({ schema: 'public', applicationName: 'dps' })).to.deep.include(['lock_timeout', "'0'"]);
    const reported = set({ schema: 'public', applicationName: 'dps', lockTimeout: 1500 });
    expect(reported.filter(([name]) => name === 'lock_timeout')).to.deep.equal([['lock_timeout', "'1500'"]]);
  });

  it('put the managed schema first in search_path, regardless of its name', () => {
    const schema = 'a "b" \\c';
    expect(started({ schema, applicationName: 'dps' })['search_path']).to.equal('"a ""b"" \\c",public,pg_temp');
    expect(startupOptions({ schema: 'a b', applicationName: 'dps' })).to.contain(
      '-c search_path="a\\ b",public,pg_temp -c',
    );
    expect(set({ schema: "it's", applicationName: 'dps' })).to.deep.include([
      'search_path',
      `'"it''s",public,pg_temp'`,
    ]);
  });

  it('are sent with each transaction behind a pooler, role first', () => {
    expect(set({ schema: 'public', applicationName: "o'neil" })).to.deep.equal([
      ['role', 'NULL'],
      ['session_replication_role', 'NULL'],
      ['application_name', "'o''neil'"],
      ['lock_timeout', "'0'"],
      ['search_path', "'public,pg_temp'"],
      ['client_min_messages', "'warning'"],
      ...Object.entries(SPELLING).map(([name, value]) => [name, `'${value}'`]),
      ['statement_timeout', 'NULL'],
      ['idle_in_transaction_session_timeout', 'NULL'],
      ['synchronous_commit', 'NULL'],
      ['default_tablespace', 'NULL'],
      ['default_table_access_method', 'NULL'],
      ['array_nulls', 'NULL'],
      ['transform_null_equals', 'NULL'],
    ]);
  });

  it('reset privileged settings only if someone set them', () => {
    const text = transactionSettings({ schema: 'public', applicationName: 'dps' });
    expect(text).to.match(
      /^SELECT CASE WHEN pg_catalog\.current_setting\('role'\) OPERATOR\(pg_catalog\.<>\) 'none' THEN /,
    );
    expect(text).to.contain(
      ", CASE WHEN pg_catalog.current_setting('session_replication_role') OPERATOR(pg_catalog.<>) 'origin' THEN ",
    );
  });
});
