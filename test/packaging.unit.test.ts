import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { SECRETS, SETTINGS } from '../src/config.js';
import { ROOT, filesUnder } from './support/documents.js';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image?: string;
  build?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
}

interface ComposeFile {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes?: Record<string, null>;
}

const composeFile = (file: string): ComposeFile =>
  load(read(file), { schema: CORE_SCHEMA.withTags(mergeTag) }) as ComposeFile;

/** Files that are passed to `docker compose` after docker-compose.yml. */
const OVERLAYS = filesUnder('deploy/compose', '.yml');

const base = composeFile('docker-compose.yml');
const files = ['docker-compose.yml', ...OVERLAYS].map((file) => ({ file, ...composeFile(file) }));

for (const { file, services, secrets, volumes = {} } of files) {
  const names = { secrets: { ...base.secrets, ...secrets }, volumes: { ...base.volumes, ...volumes } };

  describe(file, () => {
    for (const [name, service] of Object.entries(services)) {
      const isNew = file === 'docker-compose.yml' || base.services[name] === undefined;

      if (isNew)
        it(`runs "${name}" read-only, without capabilities and without new privileges`, () => {
          expect(service.read_only).equal(true);
          expect(service.cap_drop).deep.equal(['ALL']);
          expect(service.security_opt).deep.equal(['no-new-privileges:true']);
          expect(service.image ?? service.build).a('string');
        });

      it(`publishes the ports of "${name}" on this machine only`, () => {
        for (const port of service.ports ?? []) expect(port).match(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/);
      });

      it(`passes secrets to "${name}" as files`, () => {
        for (const [variable, value] of Object.entries(service.environment ?? {})) {
          const isSecret = /PASSWORD|TOKEN|SECRET|(^|_)DATABASE_URL|DB_URI/.test(variable);
          if (!isSecret) continue;
          const [, secret = ''] =
            /^(?:[A-Z_]+_FILE=|PGRST_[A-Z_]+=@)\/run\/secrets\/(.+)$/.exec(`${variable}=${value}`) ?? [];
          expect(secret, variable).not.equal('');
        }
      });

      it(`pins the image of "${name}" by digest`, () => {
        if (service.image !== undefined) expect(service.image).match(/@sha256:[0-9a-f]{64}$/);
      });

      it(`mounts only files, secrets and volumes in "${name}" that exist`, () => {
        expect(Object.keys(names.secrets)).to.include.members(service.secrets ?? []);
        for (const volume of service.volumes ?? []) {
          const [source = ''] = volume.split(':');
          if (source.startsWith('.')) expect(existsSync(join(ROOT, source)), source).equal(true);
          else expect(Object.keys(names.volumes)).to.include(source);
        }
      });
    }

    it('sets only settings that the service reads', () => {
      const known = [...SETTINGS, ...SECRETS.map((name) => `${name}_FILE`)];
      for (const [name, { environment = {} }] of Object.entries(services))
        if (name.startsWith('service')) expect(known).to.include.members(Object.keys(environment));
    });
  });
}

describe('scripts/docker/create-secrets.sh', () => {
  const script = 'scripts/docker/create-secrets.sh';
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'dps-secrets-'));
    mkdirSync(join(directory, 'scripts/docker'), { recursive: true });
    copyFileSync(join(ROOT, script), join(directory, script));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const contents = () =>
    Object.fromEntries(
      readdirSync(join(directory, 'secrets')).map((name) => [
        name,
        readFileSync(join(directory, 'secrets', name), 'utf8'),
      ]),
    );

  it('writes every secret that the Compose files mount, and keeps existing ones', () => {
    execFileSync('bash', [join(directory, script)]);
    const written = contents();
    const mounted = files.flatMap(({ secrets }) => Object.values(secrets).map(({ file }) => file));
    expect(Object.keys(written).map((name) => `./secrets/${name}`)).to.have.members([...new Set(mounted)]);
    for (const text of Object.values(written)) expect(text).match(/^\S{32,}$/);
    execFileSync('bash', [join(directory, script)]);
    expect(contents()).deep.equal(written);
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
