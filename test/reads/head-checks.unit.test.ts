import { mock } from 'node:test';
import { expect } from 'chai';
import type { HeadCheck } from '../../src/log/divergence.js';
import { createHeadChecks } from '../../src/reads/state-store.js';

describe('head checks', () => {
  /** Milliseconds on the clock of the process. */
  let now = 0;
  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.restoreAll());

  const hash = (digit: string): string => digit.repeat(64);
  const ended = (position: number): HeadCheck => ({
    head: { position, hash: hash('a') },
    forgotten: null,
    pending: null,
    acknowledged: 0,
    timeline: null,
  });

  /** A process that has folded 42 events. */
  function createWorld(server: { standby: boolean; lag: number }, patience = 10_000) {
    const world = { examined: 0, reloaded: 0 };
    const head = { position: 42, hash: hash('b'), occurred_at: null };
    const point = { head } as never;
    const checks = createHeadChecks({
      store: {
        point: () => point,
        reload: () => {
          world.reloaded += 1;
          return Promise.resolve();
        },
      },
      watch: {
        admit: () => undefined,
        examine: (check) => {
          world.examined += 1;
          return Promise.resolve(check.head.position < 42);
        },
      },
      role: { current: () => server },
      patience,
    });
    const examine = (position: number): Promise<string> =>
      checks.examine(ended(position), head).then(
        () => 'answered',
        (error: unknown) => (error as Error).message,
      );
    return { world, server, examine };
  }

  it('treat a shorter log on a primary as truncated', async () => {
    const { world, examine } = createWorld({ standby: false, lag: 0 });
    expect(await examine(40)).to.equal('answered');
    expect(world).to.deep.equal({ examined: 1, reloaded: 1 });
  });

  it('serve nothing older on a lagging standby, and resume when it has caught up', async () => {
    const { world, examine } = createWorld({ standby: true, lag: 30 }, 20);
    expect(await examine(40)).to.match(
      /behind this process, which has already shown position 42. The log of the standby ends at 40/,
    );
    now += 40;
    expect(await examine(41)).to.match(/behind/);
    expect(world).to.deep.equal({ examined: 0, reloaded: 0 });
    expect(await examine(42)).to.equal('answered');
    expect(world).to.deep.equal({ examined: 1, reloaded: 0 });
  });

  it('treat a shorter log as a different one if the standby has long received everything', async () => {
    const { world, server, examine } = createWorld({ standby: true, lag: 0 }, 60);
    expect(await examine(40)).to.match(/behind/);
    now += 30;
    server.lag = 1;
    expect(await examine(40)).to.match(/behind/);
    server.lag = 0;
    now += 45;
    expect(await examine(40)).to.match(/behind/);
    now += 70;
    expect(await examine(40)).to.equal('answered');
    expect(world).to.deep.equal({ examined: 1, reloaded: 1 });
  });
});
