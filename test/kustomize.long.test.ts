/** Renders the manifests as docs/kubernetes.md describes, with `kubectl`, which contains Kustomize. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dump, load, loadAll } from 'js-yaml';
import { ROOT, blocksOf } from './support/documents.js';
import { validateManifest } from './support/kubernetes.js';

type Labels = Record<string, string>;

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels: Labels };
  data: Record<string, string>;
  spec: {
    selector: Labels & { matchLabels: Labels };
    template: {
      metadata: { labels: Labels };
      spec: {
        containers: { image: string; envFrom: { configMapRef: { name: string } }[] }[];
        topologySpreadConstraints: { labelSelector: { matchLabels: Labels } }[];
      };
    };
  };
}

/** Returns the major version of the Kustomize in kubectl. 0 without kubectl, or before 1.24, which does not report it. */
function readKustomizeVersion(): number {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  if (status !== 0) return 0;
  const { kustomizeVersion = '' } = JSON.parse(stdout) as { kustomizeVersion?: string };
  return Number(/^v(\d+)\./.exec(kustomizeVersion)?.[1] ?? 0);
}

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the rendered kustomizations of docs/kubernetes.md', () => {
  let folder: string;
  let primary: Manifest[];
  let replicas: Manifest[];

  before(function () {
    if (readKustomizeVersion() < 4) {
      console.warn('The kustomizations are not rendered: this needs kubectl 1.24 or newer.');
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'dps-kustomize-'));
    cpSync(join(ROOT, 'deploy/kubernetes'), join(folder, 'kubernetes'), { recursive: true });
    const [first, second] = blocksOf('docs/kubernetes.md')
      .filter(({ content }) => content.includes('kind: Kustomization'))
      .map(({ content }) => load(content.replace('sha256:…', DIGEST)) as object);
    // The page adds the component for metrics to the first kustomization.
    primary = render('primary', { ...first, components: ['../kubernetes/monitoring'] });
    replicas = render('read', second ?? {});
  });
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  function render(name: string, kustomization: object): Manifest[] {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'kustomization.yaml'), dump(kustomization));
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(folder, name)], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    return loadAll(stdout) as Manifest[];
  }

  const named = (manifests: readonly Manifest[], kind: string): Manifest =>
    manifests.find((each) => each.kind === kind) ?? expect.fail(`no ${kind}`);

  it('match the schemas of Kubernetes and of the Prometheus Operator', () => {
    const kinds = ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service'];
    expect(primary.map(({ kind }) => kind)).to.have.members([...kinds, 'ServiceMonitor']);
    expect(replicas.map(({ kind }) => kind)).to.have.members(kinds);
    for (const manifest of [...primary, ...replicas]) {
      validateManifest(manifest);
      expect(manifest.metadata.namespace, manifest.kind).to.equal('dps');
    }
  });

  it('have the image and the settings, which the pods read', () => {
    const [container] = named(primary, 'Deployment').spec.template.spec.containers;
    expect(container?.image).to.equal(`registry.example.com/data-platform-service@${DIGEST}`);
    expect(named(primary, 'ConfigMap').data).to.include({ ADMIN_EMAIL: 'you@example.com', TRUST_PROXY: '1' });
    expect(named(replicas, 'ConfigMap').data).to.include({ PRIMARY_URL: 'https://dps.example.com' });
    for (const manifests of [primary, replicas]) {
      const { envFrom } = named(manifests, 'Deployment').spec.template.spec.containers[0] ?? {};
      expect(envFrom).to.deep.equal([{ configMapRef: { name: named(manifests, 'ConfigMap').metadata.name } }]);
    }
  });

  it('select the pods of their own Deployment only', () => {
    const labelsOf = (manifests: readonly Manifest[]): Labels =>
      named(manifests, 'Deployment').spec.template.metadata.labels;
    for (const [own, other] of [
      [primary, replicas],
      [replicas, primary],
    ] as const) {
      const { spec } = named(own, 'Deployment');
      const [spread] = spec.template.spec.topologySpreadConstraints;
      for (const selector of [
        spec.selector.matchLabels,
        spread?.labelSelector.matchLabels ?? {},
        named(own, 'Service').spec.selector,
        named(own, 'PodDisruptionBudget').spec.selector.matchLabels,
      ]) {
        expect(labelsOf(own)).to.include(selector);
        expect(labelsOf(other)).not.to.include(selector);
      }
    }
    const names = [primary, replicas].map((manifests) => named(manifests, 'Service').metadata.name);
    expect(names).to.deep.equal(['data-platform-service', 'data-platform-service-replicas']);
    for (const manifests of [primary, replicas])
      expect(named(manifests, 'Service').metadata.labels).to.include(
        named(primary, 'ServiceMonitor').spec.selector.matchLabels,
      );
  });
});
