import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { ROOT } from './support/documents.js';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  environment?: Record<string, string>;
}

describe('docker-compose.yml', () => {
  const schema = CORE_SCHEMA.withTags(mergeTag);
  const { services, secrets } = load(read('docker-compose.yml'), { schema }) as {
    services: Record<string, Service>;
    secrets: Record<string, { file: string }>;
  };

  for (const [name, service] of Object.entries(services)) {
    it(`runs "${name}" read-only, without capabilities and without new privileges`, () => {
      expect(service.read_only).equal(true);
      expect(service.cap_drop).deep.equal(['ALL']);
      expect(service.security_opt).deep.equal(['no-new-privileges:true']);
    });

    it(`publishes the ports of "${name}" on this machine only`, () => {
      for (const port of service.ports ?? []) expect(port).match(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/);
    });

    it(`passes secrets to "${name}" as files`, () => {
      for (const [variable, value] of Object.entries(service.environment ?? {})) {
        const isSecret = /PASSWORD|TOKEN|SECRET|(^|_)DATABASE_URL/.test(variable);
        if (isSecret) expect(`${variable}=${value}`).match(/^[A-Z_]+_FILE=\/run\/secrets\//);
      }
    });

    it(`pins the image of "${name}" by digest`, () => {
      if (service.image !== undefined) expect(service.image).match(/@sha256:[0-9a-f]{64}$/);
    });
  }

  it('has a secret file for every mounted secret', () => {
    const script = read('scripts/docker/create-secrets.sh');
    for (const name of Object.keys(secrets)) {
      const [, host] = /^database_url_(.+)$/.exec(name) ?? [];
      expect(script).match(new RegExp(`^for (name|host) in .*(?<= )${host ?? name}[ ;]`, 'm'));
    }
  });
});

describe('the Dockerfiles', () => {
  for (const file of ['Dockerfile', 'scripts/docker/pgbouncer/Dockerfile'])
    it(`pin every base image of ${file} by digest`, () => {
      const images = [...read(file).matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
      expect(images).not.empty;
      for (const image of images) expect(image).match(/@sha256:[0-9a-f]{64}$/);
    });
});

describe('the packages in package-lock.json', () => {
  interface Lock {
    packages: Record<string, { engines?: { node?: string } }>;
  }

  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  const { packages } = JSON.parse(read('package-lock.json')) as Lock;
  const numbersOf = (version: string): number[] => version.split('.').map(Number);

  const isAtLeast = (version: number[], other: number[]): boolean => {
    const at = [0, 1, 2].find((index) => version[index] !== (other[index] ?? 0));
    return at === undefined || (version[at] ?? 0) > (other[at] ?? 0);
  };

  /** The forms of ranges that occur: `>=18`, `<21.0.0`, `^20.19.0`, `16`, `10.*` and their combinations. */
  function admits(range: string, version: number[]): boolean {
    return range.split('||').some((alternative) =>
      [...alternative.matchAll(/(>=|<|\^|)\s*v?(\d+(?:\.\d+)*)/g)].every(([, operator, text = '']) => {
        const limit = numbersOf(text);
        if (operator === '>=') return isAtLeast(version, limit);
        if (operator === '<') return !isAtLeast(version, limit);
        return version[0] === limit[0] && isAtLeast(version, limit);
      }),
    );
  }

  it('run on the oldest Node.js that package.json admits', () => {
    const oldest = numbersOf(engines.node.replace('>=', ''));
    expect(admits('^20.19.0 || >=22.12.0', oldest)).equal(true);
    expect(['>=22', '^18 || >= 20.20', '>=18 <20'].filter((range) => admits(range, oldest))).deep.equal([]);
    const others = Object.entries(packages).filter(
      ([, { engines: needs }]) => needs?.node !== undefined && !admits(needs.node, oldest),
    );
    expect(others.map(([path]) => path)).deep.equal([]);
  });
});
