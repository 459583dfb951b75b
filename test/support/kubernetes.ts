/** Validates manifests against the schemas of Kubernetes and of the Prometheus Operator. */
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';

const MODELS: Record<string, new (manifest: never) => { validate(): void }> = {
  'v1 ConfigMap': ConfigMap,
  'v1 Service': Service,
  'apps/v1 Deployment': Deployment,
  'policy/v1 PodDisruptionBudget': PodDisruptionBudget,
  'monitoring.coreos.com/v1 ServiceMonitor': ServiceMonitor,
};

/** @throws if the manifest has an unknown kind, or a member that its schema rejects */
export function validateManifest(manifest: { apiVersion?: string; kind: string; metadata: { name: string } }): void {
  const kind = `${manifest.apiVersion} ${manifest.kind}`;
  const Model = MODELS[kind];
  if (Model === undefined) throw new Error(`There is no schema of ${kind}`);
  try {
    new Model(manifest as never).validate();
  } catch (error) {
    throw new Error(`${kind} ${manifest.metadata.name}: ${(error as Error).message}`, { cause: error });
  }
}
