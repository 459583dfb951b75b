import type pg from 'pg';
import { type Moment, beginMoment, contentsOf } from '../../backup/take.js';
import { tablesOf } from '../../backup/contents.js';
import { writeFileWhole } from '../../backup/file.js';
import { type Header, writeBackup } from '../../backup/format.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { readDatabase } from '../../postgres/database.js';
import { migrationsOf } from '../../postgres/migrate.js';
import { withClient } from '../../postgres/pool.js';
import { verify } from '../../projector/verify/index.js';
import { readRelease } from '../../release.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { describeDifference } from '../../doctor/differences.js';
import { json } from '../output.js';
import { type Workplace, withPipeline } from '../connections/pipeline.js';
import { createProgress } from '../progress.js';

/**
 * Writers wait only until the moment of the backup has begun. @throws OperatorError; what was in the file's place stays
 * then
 */
export function backup(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  return withPipeline(invocation, (place) =>
    withClient(place.pool, (client) => take({ invocation, file, place, client })),
  );
}

interface Work {
  invocation: Invocation;
  file: string;
  place: Workplace;
  /** Whose transaction is the moment. */
  client: pg.ClientBase;
}

async function take(work: Work): Promise<ExitCode> {
  const { invocation, file, place, client } = work;
  const moment = await begin(work);
  const { applied: migration } = await migrationsOf(client);
  const { database: name, version } = await readDatabase(client);
  const progress = createProgress(invocation.terminal, 'tables');
  const about = { release: readRelease(), migration, database: { name, version }, onRows: progress.at };
  const contents = await contentsOf(client, { ...moment, schema: place.schema }, about);
  const bytes = await writeFileWhole(file, writeBackup(contents));
  progress.end();
  await client.query('ROLLBACK');
  show(invocation, contents.header, { file, bytes, tables: moment.tables.length });
  return 0;
}

/** The log's lock is held until the backup's transaction has begun and its tables can't be changed any more. */
function begin({ invocation, place, client }: Work): Promise<Moment> {
  const { schema, pipeline } = place;
  const { lockTimeout } = invocation.config();
  return pipeline.underLock(async (locked, { state, head }) => {
    const { position, hash } = head;
    const moment = { schema, head: { position, hash }, tables: tablesOf(state), lockTimeout };
    await beginMoment(client, moment);
    const { ok, differences } = await verify(locked, state, schema);
    if (ok) return moment;
    throw new OperatorError(
      `Nothing was written: the database is not what the log says, so a backup of it could not be restored. "dps drift" shows how to put that right.\n${differences.map(describeDifference).join('\n')}`,
    );
  });
}

interface Written {
  file: string;
  bytes: number;
  tables: number;
}

function show({ values, terminal }: Invocation, { head, not_included: left }: Header, written: Written): void {
  if (isSet(values, 'json')) return terminal.print(json({ ...written, head, not_included: left }));
  const { file, bytes, tables } = written;
  const names = Object.entries(left).map(([kind, all]) => `  ${kind}: ${all.join(', ')}`);
  terminal.print(
    [
      `${file}: position ${head.position}, ${tables} tables, users and tokens; ${bytes} bytes.`,
      ...(names.length === 0 ? [] : ['Not in it:', ...names]),
    ].join('\n'),
  );
}
