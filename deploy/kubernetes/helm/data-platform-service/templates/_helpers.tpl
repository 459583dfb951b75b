{{- define "dps.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{/* The labels that select the pods of a component: primary or replicas. */}}
{{- define "dps.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "dps.labels" -}}
{{ include "dps.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "dps.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{/*
The objects of a component. The argument has the members root, component, name, replicas, settings and secret.
*/}}
{{- define "dps.component" -}}
{{- $values := .root.Values -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels:
    {{- include "dps.labels" . | nindent 4 }}
data:
  {{- range $setting, $value := .settings }}
  {{ $setting }}: {{ $value | quote }}
  {{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    {{- include "dps.labels" . | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels:
      {{- include "dps.selector" . | nindent 6 }}
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  template:
    metadata:
      labels:
        {{- include "dps.labels" . | nindent 8 }}
      annotations:
        # A change of a setting replaces the pods.
        checksum/settings: {{ .settings | toJson | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      automountServiceAccountToken: false
      # Otherwise, Kubernetes adds variables for every Service of the namespace.
      enableServiceLinks: false
      # Running requests get 30 seconds to finish, after the pause of preStop.
      terminationGracePeriodSeconds: 50
      {{- with $values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        # The user "node" of the image.
        runAsUser: 1000
        runAsGroup: 1000
        # The group can read the mounted secrets.
        fsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "dps.selector" . | nindent 14 }}
      containers:
        - name: service
          image: {{ include "dps.image" .root | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          ports:
            - { name: http, containerPort: 8055 }
          envFrom:
            - configMapRef: { name: {{ .name | quote }} }
          env:
            {{- range $setting, $key := .secret.files }}
            - { name: {{ $setting }}_FILE, value: /run/secrets/dps/{{ $key }} }
            {{- end }}
          volumeMounts:
            - { name: secrets, mountPath: /run/secrets/dps, readOnly: true }
            - { name: tmp, mountPath: /tmp }
          # The process responds to /server/live as soon as it listens, and migrates its tables afterwards.
          startupProbe:
            httpGet: { path: /server/live, port: http }
            periodSeconds: 2
            failureThreshold: 30
          # A restart repairs neither a missing database nor a stopped projection, so this asks only for a response.
          livenessProbe:
            httpGet: { path: /server/live, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          # Its checks of the database take at most three seconds.
          readinessProbe:
            httpGet: { path: /server/ready, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          lifecycle:
            # After SIGTERM the service accepts no new requests. Until then, load balancers learn that the pod ends.
            preStop:
              exec: { command: [sleep, '5'] }
          resources:
            {{- toYaml $values.resources | nindent 12 }}
      volumes:
        - name: secrets
          secret:
            secretName: {{ .secret.name | default .name | quote }}
            # 0440 in decimal, because YAML 1.2 reads 0440 as a decimal number.
            defaultMode: 288
            items:
              {{- range $key := .secret.files | values | sortAlpha | uniq }}
              - { key: {{ $key | quote }}, path: {{ $key | quote }} }
              {{- end }}
        - name: tmp
          emptyDir: { sizeLimit: 1Gi }
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
    {{- include "dps.labels" . | nindent 4 }}
  {{- with $values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $values.service.type }}
  selector:
    {{- include "dps.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ $values.service.port }}, targetPort: http }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "dps.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "dps.selector" . | nindent 6 }}
{{- end }}
