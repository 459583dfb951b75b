import { expect } from 'chai';
import type { ProblemCode } from '../../src/kernel/problem.js';
import { createMetrics } from '../../src/metrics/index.js';
import type { Outcome, Pipeline } from '../../src/pipeline/types.js';
import { withRelations } from '../support/library.js';

type Metrics = ReturnType<typeof createMetrics>;
type Sources = Parameters<Metrics['watch']>[0];

/** The value of a series, `name{label="value"}`; undefined if it does not exist. */
async function valueOf(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('metrics of commands', () => {
  let metrics: Metrics;
  beforeEach(() => (metrics = createMetrics()));

  const apply = (answer: () => Promise<unknown>): Promise<unknown> => {
    const pipeline = { apply: answer } as unknown as Pipeline;
    return metrics.commands.counted(pipeline).apply('create-collection', {} as never, {} as never);
  };
  const total = (outcome: string, code = '') =>
    valueOf(metrics, `dps_commands_total{command="create-collection",outcome="${outcome}",code="${code}"}`);
  const refusal = (code: ProblemCode) => () =>
    Promise.resolve({ kind: 'refused', problems: [{ code, message: 'no' }] });

  it('count accepted commands and their events', async () => {
    const outcome = { kind: 'done', events: [{}, {}] };
    expect(await apply(() => Promise.resolve(outcome)), 'the answer is handed on').to.equal(outcome);
    await apply(() => Promise.resolve({ kind: 'done', events: [] } as unknown as Outcome));
    await apply(() => Promise.resolve({ kind: 'replayed' }));
    expect([await total('accepted'), await total('unchanged'), await total('replayed')]).to.deep.equal([1, 1, 1]);
    expect(await valueOf(metrics, 'dps_events_appended_total')).to.equal(2);
    expect(
      await valueOf(metrics, 'dps_command_duration_seconds_count{command="create-collection"}'),
      'each took its time',
    ).to.equal(3);
  });

  it('distinguish rejections by PostgreSQL and temporary ones from invalid commands', async () => {
    const CODES: [ProblemCode, string][] = [
      ['DATABASE_REFUSED', 'refused'],
      ['LOCK_TIMEOUT', 'refused'],
      ['LOG_DIVERGED', 'refused'],
      ['LOG_UNREADABLE', 'refused'],
      ['READ_ONLY', 'refused'],
      ['UNAVAILABLE', 'refused'],
      ['INVALID_PAYLOAD', 'rejected'],
      ['NOT_FOUND', 'rejected'],
      ['SCHEMA_CHANGED', 'rejected'],
    ];
    for (const [code, outcome] of CODES) {
      await apply(refusal(code));
      expect(await total(outcome, code), code).to.equal(1);
    }
    expect(await valueOf(metrics, 'dps_events_appended_total')).to.equal(0);
  });

  it('count a bug and rethrow it', async () => {
    const error: unknown = await apply(() => Promise.reject(new Error('bug'))).catch((reason: unknown) => reason);
    expect((error as Error).message).to.equal('bug');
    expect(await total('failed', 'INTERNAL')).to.equal(1);
    expect(await valueOf(metrics, 'dps_command_duration_seconds_count{command="create-collection"}')).to.equal(1);
  });
});

describe('metrics of requests', () => {
  it('have a series per route, status and known method', async () => {
    const metrics = createMetrics();
    const started = performance.now() - 700;
    for (const method of ['GET', 'GET', 'BREW']) {
      metrics.request({ method, route: '/fields/:collection', status: 200, started } as never);
    }
    const series = (name: string, method: string, more = '') =>
      valueOf(
        metrics,
        `dps_http_request_duration_seconds_${name}{${more}method="${method}",route="/fields/:collection",status="200"}`,
      );
    expect([await series('count', 'GET'), await series('count', 'other')]).to.deep.equal([2, 1]);
    expect(await series('count', 'BREW')).to.equal(undefined);
    expect(await series('sum', 'other'), 'in seconds').to.be.at.least(0.7);
    expect(await series('bucket', 'other', 'le="0.5",')).to.equal(0);
  });
});

describe('metrics of the service', () => {
  const state = withRelations();
  const SOURCES: Sources = {
    release: '1.2.3',
    databaseVersion: '18.4',
    changes: () => Promise.resolve(new Map([['preparing', 2]])),
    projections: () =>
      Promise.resolve({
        head: 9,
        projections: [
          { name: 'tables', lag: 2, status: 'failed' },
          { name: 'metadata', lag: 0, status: 'running' },
        ] as never,
      }),
    state: () => state,
    rendered: () => ({ answers: 3, bytes: 400, renderings: 14 }),
    pool: { totalCount: 5, idleCount: 3, waitingCount: 1 },
    listening: () => true,
    server: () => ({ standby: true, lag: 7 }),
    divergences: () => 4,
    checkpoints: () => ({ position: 8, failures: 6 }),
    webhooks: {
      counts: () => ({ delivered: 11, failed: 12 }),
      countByState: () => Promise.resolve({ states: new Map([['failing', 1]]), behind: 13 }),
    },
    comparisons: { faults: new Map([['drift', 14]]) },
  };
  const watching = (more: Partial<Sources> = {}): Metrics => {
    const metrics = createMetrics();
    metrics.watch({ ...SOURCES, ...more });
    return metrics;
  };

  it('are read on each scrape', async () => {
    const metrics = watching();
    const VALUES: Record<string, number> = {
      'dps_info{release="1.2.3",database_version="18.4"}': 1,
      'dps_database_pool_connections{state="idle"}': 3,
      'dps_database_pool_connections{state="in_use"}': 2,
      dps_database_pool_waiting_requests: 1,
      dps_state_position: state.position,
      'dps_state_objects{kind="collection"}': 5,
      'dps_state_objects{kind="field"}': [...state.collections.values()].reduce(
        (sum, { fields }) => sum + fields.size,
        0,
      ),
      'dps_state_objects{kind="relation"}': 5,
      dps_rendered_answers: 3,
      dps_rendered_bytes: 400,
      dps_renderings_total: 14,
      dps_listener_connected: 1,
      dps_standby: 1,
      dps_log_lag_seconds: 7,
      dps_log_divergence_total: 4,
      dps_checkpoint_position: 8,
      dps_checkpoint_failures_total: 6,
      'dps_webhooks{state="failing"}': 1,
      dps_webhook_events_behind: 13,
      'dps_webhook_deliveries_total{result="delivered"}': 11,
      'dps_webhook_deliveries_total{result="failed"}': 12,
      dps_database_up: 1,
      dps_log_head_position: 9,
      'dps_projection_lag_events{projection="tables"}': 2,
      'dps_projection_lag_events{projection="metadata"}': 0,
      'dps_projection_failed{projection="tables"}': 1,
      'dps_projection_failed{projection="metadata"}': 0,
    };
    for (const scrape of [1, 2]) {
      for (const [series, value] of Object.entries(VALUES)) {
        expect(await valueOf(metrics, series), `${series}, scrape ${scrape}`).to.equal(value);
      }
    }
  });

  it('have types that match their names, and histograms for durations', async () => {
    const metrics = watching();
    const lines = (await metrics.text()).split('\n');
    const types = lines.flatMap((line) => /^# TYPE (dps_\S+) (\S+)$/.exec(line)?.slice(1).join(' ') ?? []);
    expect(types.sort()).to.deep.equal([
      'dps_change_requests gauge',
      'dps_change_step_duration_seconds histogram',
      'dps_checkpoint_failures_total counter',
      'dps_checkpoint_position gauge',
      'dps_command_duration_seconds histogram',
      'dps_commands_total counter',
      'dps_comparison_faults gauge',
      'dps_database_pool_connections gauge',
      'dps_database_pool_waiting_requests gauge',
      'dps_database_up gauge',
      'dps_events_appended_total counter',
      'dps_http_request_duration_seconds histogram',
      'dps_info gauge',
      'dps_listener_connected gauge',
      'dps_log_divergence_total counter',
      'dps_log_head_position gauge',
      'dps_log_lag_seconds gauge',
      'dps_overload_refusals_total counter',
      'dps_projection_failed gauge',
      'dps_projection_lag_events gauge',
      'dps_rendered_answers gauge',
      'dps_rendered_bytes gauge',
      'dps_renderings_total counter',
      'dps_sign_ins_total counter',
      'dps_spans_total counter',
      'dps_standby gauge',
      'dps_state_objects gauge',
      'dps_state_position gauge',
      'dps_unsent_answer_bytes gauge',
      'dps_webhook_deliveries_total counter',
      'dps_webhook_events_behind gauge',
      'dps_webhooks gauge',
      'dps_work_waiting gauge',
    ]);
    for (const state of ['open', 'queued', 'preparing', 'applied', 'withdrawn']) {
      const count = await valueOf(metrics, `dps_change_requests{state="${state}"}`);
      expect(count, state).to.equal(state === 'preparing' ? 2 : 0);
    }
    const kinds = lines.flatMap(
      (line) => /^dps_change_step_duration_seconds_count\{kind="(\w+)"\} 0$/.exec(line)?.[1] ?? [],
    );
    expect(kinds).to.deep.equal(['add', 'validate', 'index', 'note', 'copy']);
    metrics.changes.step('index', 2_500);
    expect(await valueOf(metrics, 'dps_change_step_duration_seconds_sum{kind="index"}')).to.equal(2.5);
    metrics.request({ method: 'GET', route: '/', status: 200, started: performance.now() } as never);
    await metrics.commands
      .counted({ apply: () => Promise.resolve({ kind: 'replayed' }) } as unknown as Pipeline)
      .apply('create-collection', {} as never, {} as never);
    const messagesOf = (await metrics.text()).split('\n');
    const buckets = (name: string) => [
      ...new Set(messagesOf.flatMap((line) => new RegExp(`^${name}_bucket\\{le="([^"]+)"`).exec(line)?.[1] ?? [])),
    ];
    expect(buckets('dps_change_step_duration_seconds')).to.deep.equal([
      '0.1',
      '1',
      '5',
      '15',
      '60',
      '300',
      '900',
      '3600',
      '14400',
      '86400',
      '+Inf',
    ]);
    expect(buckets('dps_command_duration_seconds')).to.deep.equal([
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.1',
      '0.25',
      '0.5',
      '1',
      '2.5',
      '5',
      '10',
      '30',
      '60',
      '+Inf',
    ]);
    expect(buckets('dps_http_request_duration_seconds')).to.deep.equal([
      '0.0005',
      '0.001',
      '0.0025',
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.1',
      '0.25',
      '0.5',
      '1',
      '2.5',
      '5',
      '10',
      '30',
      '+Inf',
    ]);
  });

  it('contain the known methods only', async () => {
    const metrics = createMetrics();
    const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT', 'SEARCH'];
    for (const method of METHODS) metrics.request({ method, route: '/', status: 200, started: 0 } as never);
    for (const method of METHODS) {
      const series = `dps_http_request_duration_seconds_count{method="${method}",route="/",status="200"}`;
      expect(await valueOf(metrics, series), method).to.equal(1);
    }
  });

  it('show missing notifications on a primary', async () => {
    const metrics = watching({ listening: () => false, server: () => ({ standby: false, lag: 0 }) });
    expect([await valueOf(metrics, 'dps_listener_connected'), await valueOf(metrics, 'dps_standby')]).to.deep.equal([
      0, 0,
    ]);
  });

  it('have no value while the database is unavailable', async () => {
    let up = true;
    const projections = () => (up ? SOURCES.projections() : Promise.reject(new Error('gone')));
    const changes = () => (up ? SOURCES.changes() : Promise.reject(new Error('gone')));
    const metrics = watching({ projections, changes });
    expect(await valueOf(metrics, 'dps_log_head_position')).to.equal(9);
    expect(await valueOf(metrics, 'dps_change_requests{state="preparing"}')).to.equal(2);
    up = false;
    expect(await valueOf(metrics, 'dps_change_requests{state="preparing"}')).to.equal(undefined);
    expect(await valueOf(metrics, 'dps_database_up')).to.equal(0);
    expect(await valueOf(metrics, 'dps_log_head_position')).to.equal(undefined);
    expect(await valueOf(metrics, 'dps_projection_failed{projection="tables"}')).to.equal(undefined);
  });

  it('query the database once per scrape', async () => {
    let requestCount = 0;
    const metrics = watching({ projections: () => ((requestCount += 1), SOURCES.projections()) });
    await metrics.text();
    expect(requestCount).to.equal(1);
    await metrics.text();
    expect(requestCount).to.equal(2);
  });
});
