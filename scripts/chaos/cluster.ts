/** Three processes of the service on one database. Each has its own proxy to the database. */
import { appendFileSync } from 'node:fs';
import { type Proxy, startProxy } from '../../test/support/proxy.js';
import { type ServiceProcess, spawnService } from '../../test/support/process.js';

export interface Node {
  proxy: Proxy;
  /** Null during a restart. */
  url: string | null;
  /** Id of the running process. */
  signal(signal: NodeJS.Signals): void;
  /** Why the process exited by itself; null while it runs. */
  ended(): string | null;
  restart(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export const ADMIN_TOKEN = 'chaos-admin-token-0123456789abcdef';

export type Program = 'source' | 'built';

/** @param log file for the output of the processes, one after the other */
export async function startNode(databaseUrl: string, program: Program, log: string): Promise<Node> {
  const proxy = await startProxy(databaseUrl);
  let service: ServiceProcess;
  const start = async (): Promise<void> => {
    for (let tries = 1; ; tries++) {
      service = spawnService(
        {
          DATABASE_URL: proxy.connectionString,
          ADMIN_TOKEN,
          ADMIN_PASSWORD: 'correct horse battery',
          DB_POOL: '4',
          LOG_LEVEL: 'info',
        },
        program,
      );
      for (const stream of [service.child.stdout, service.child.stderr]) {
        stream?.on('data', (chunk: string) => appendFileSync(log, chunk));
      }
      try {
        node.url = (await service.ready()).url;
        return;
      } catch (error) {
        // The network may be down now. A supervisor would restart the process.
        if (tries === 20) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  };
  const node: Node = {
    proxy,
    url: null,
    signal: (signal) => void service.child.kill(signal),
    ended: () => {
      const { exitCode, signalCode } = service.child;
      return exitCode === null && signalCode === null ? null : `exit code ${exitCode}, signal ${signalCode}`;
    },
    async restart(signal) {
      node.url = null;
      const limit = setTimeout(() => service.child.kill('SIGKILL'), 10_000);
      await service.end(signal);
      clearTimeout(limit);
      await start();
    },
    async stop() {
      service.child.kill('SIGCONT');
      const limit = setTimeout(() => service.child.kill('SIGKILL'), 10_000);
      await service.end('SIGTERM');
      clearTimeout(limit);
      await proxy.close();
    },
  };
  await start();
  return node;
}
