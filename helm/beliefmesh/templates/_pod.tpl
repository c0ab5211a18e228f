{{/* Parts that pods share. */}}

{{- define "beliefmesh.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "beliefmesh.security" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* What every container of ours is told: the settings, those that stand in Secrets, and Ray's. */}}
{{- define "beliefmesh.envFrom" -}}
- configMapRef:
    name: {{ include "beliefmesh.fullname" . }}
{{- end -}}

{{- define "beliefmesh.secretEnv" -}}
{{- $from := list -}}
{{- range .Values.secretSettings -}}{{- $from = append $from . -}}{{- end -}}
{{- with .Values.access.jwtSecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "access.jwt_secret" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- with (include "beliefmesh.kafka" . | fromYaml).passwordSecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "kafka.password" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- with .Values.graph.urlSecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "stores.graph" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- with .Values.index.urlSecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "stores.index" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- with .Values.embedder.keySecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "stores.embedder_key" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- with .Values.llm.keySecret -}}{{- if .name -}}{{- $from = append $from (dict "setting" "llm.key" "secret" .name "key" .key) -}}{{- end -}}{{- end -}}
{{- range $from }}
- name: {{ include "beliefmesh.variable" .setting }}
  valueFrom:
    secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}
{{- end -}}
{{- end -}}

{{/* Where a container may write, and what it reads from Secrets. */}}
{{- define "beliefmesh.mounts" -}}
- name: folder
  mountPath: /var/lib/beliefmesh
- name: tmp
  mountPath: /tmp
{{- if include "beliefmesh.onRay" . }}
- name: shm
  mountPath: /dev/shm
{{- end }}
{{- if .Values.access.keysSecret }}
- name: access
  mountPath: /etc/beliefmesh/access
  readOnly: true
{{- end }}
{{- if (include "beliefmesh.kafka" . | fromYaml).caSecret.name }}
- name: kafka-ca
  mountPath: /etc/beliefmesh/kafka
  readOnly: true
{{- end }}
{{- end -}}

{{/* The volumes behind them; the folder is the claim for who owns it, else nobody's but the pod's. */}}
{{- define "beliefmesh.volumes" -}}
{{- $root := .root -}}
- name: folder
  {{- if .keeps }}
  persistentVolumeClaim: {claimName: {{ include "beliefmesh.claim" $root }}}
  {{- else }}
  emptyDir: {sizeLimit: 2Gi}
  {{- end }}
- name: tmp
  emptyDir: {sizeLimit: 2Gi}
{{- if include "beliefmesh.onRay" $root }}
- name: shm
  emptyDir: {medium: Memory, sizeLimit: 512Mi}
{{- end }}
{{- with $root.Values.access.keysSecret }}
- name: access
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- with (include "beliefmesh.kafka" $root | fromYaml).caSecret }}
{{- if .name }}
- name: kafka-ca
  secret:
    secretName: {{ .name }}
    defaultMode: 0440
    items: [{key: {{ .key }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- end -}}

{{/*
Probes of a process that answers for its health at the port named `http`. An embedded mesh has started once what lay in its
log is recallable. In a cluster a backlog is no reason to start a process anew, and a partition where nothing moves none to take all of them out.
*/}}
{{- define "beliefmesh.probes" -}}
startupProbe:
  {{- if include "beliefmesh.clustered" . }}
  httpGet: {path: /health/live, port: http}
  periodSeconds: 5
  failureThreshold: 120
  {{- else }}
  httpGet: {path: /health/started, port: http}
  periodSeconds: 10
  failureThreshold: {{ mul .Values.keeper.startMinutes 6 }}
  {{- end }}
  timeoutSeconds: 5
livenessProbe:
  httpGet: {path: /health/live, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  {{- if include "beliefmesh.clustered" . }}
  httpGet: {path: "/health/ready?group=false", port: http}
  {{- else }}
  httpGet: {path: /health/ready, port: http}
  {{- end }}
  periodSeconds: 10
  timeoutSeconds: 8
  failureThreshold: 2
{{- end -}}

{{/* Ray's processes: nothing reported to anybody, results beside the call and not through shared memory. */}}
{{- define "beliefmesh.rayEnv" -}}
- {name: RAY_USAGE_STATS_ENABLED, value: "0"}
- {name: RAY_AUTH_MODE, value: disabled}
- {name: RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER, value: "1"}
- {name: RAY_max_direct_call_object_size, value: "268435456"}
- {name: RAY_task_rpc_inlined_bytes_limit, value: "268435456"}
{{- end -}}

{{- define "beliefmesh.rayProbes" -}}
startupProbe:
  httpGet: {path: /api/local_raylet_healthz, port: 52365}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /api/local_raylet_healthz, port: 52365}
  periodSeconds: 15
  timeoutSeconds: 10
  failureThreshold: 8
readinessProbe:
  httpGet: {path: /api/local_raylet_healthz, port: 52365}
  periodSeconds: 10
  timeoutSeconds: 5
{{- end -}}

{{/* The node of Ray in a pod that joins: no actor runs on it, since it has neither CPUs nor the actors' resource. */}}
{{- define "beliefmesh.raySidecar" -}}
- name: ray
  image: {{ include "beliefmesh.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  restartPolicy: Always
  command: [tini, -s, --, ray, start]
  args:
    - --address={{ include "beliefmesh.rayAddress" . }}
    - --node-ip-address=$(POD_IP)
    - --num-cpus=0
    - --num-gpus=0
    - --object-store-memory=104857600
    - --dashboard-agent-listen-port=52365
    - --block
  env:
    - name: POD_IP
      valueFrom: {fieldRef: {fieldPath: status.podIP}}
    {{- include "beliefmesh.rayEnv" . | nindent 4 }}
  {{- include "beliefmesh.rayProbes" . | nindent 2 }}
  resources:
    {{- toYaml .Values.ray.sidecar.resources | nindent 4 }}
  securityContext:
    {{- include "beliefmesh.security" . | nindent 4 }}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
    - {name: shm, mountPath: /dev/shm}
{{- end -}}

{{/* What a pod says beside its containers. */}}
{{- define "beliefmesh.podRest" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "beliefmesh.fullname" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- if include "beliefmesh.onRay" $root }}
shareProcessNamespace: true
{{- end }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "beliefmesh.podSecurity" $root | nindent 2 }}
{{- with .place.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .place.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "beliefmesh.spread" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "beliefmesh.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
  {{- end }}
{{- end -}}

{{/* Restarts pods whose settings changed. */}}
{{- define "beliefmesh.podAnnotations" -}}
checksum/settings: {{ include (print .Template.BasePath "/configmap.yaml") . | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The keeper: the whole mesh when embedded; else it has the volume with ledger and archive, and runs the schedule. */}}
{{- define "beliefmesh.keeperContainer" -}}
- name: keeper
  image: {{ include "beliefmesh.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: [serve]
  ports:
    - {name: http, containerPort: {{ .Values.api.port }}}
  envFrom:
    {{- include "beliefmesh.envFrom" . | nindent 4 }}
  env:
    {{- if include "beliefmesh.clustered" . }}
    - {name: BELIEFMESH_STREAMS__WORKER, value: elsewhere}
    {{- end }}
    {{- if include "beliefmesh.onRay" . }}
    {{- if .Values.cronJobs }}
    - {name: BELIEFMESH_JOBS__ENABLED, value: "false"}
    {{- end }}
    {{- include "beliefmesh.rayEnv" . | nindent 4 }}
    {{- end }}
    {{- include "beliefmesh.secretEnv" . | nindent 4 }}
  {{- include "beliefmesh.probes" . | nindent 2 }}
  resources:
    {{- toYaml .Values.keeper.resources | nindent 4 }}
  securityContext:
    {{- include "beliefmesh.security" . | nindent 4 }}
  volumeMounts:
    {{- include "beliefmesh.mounts" . | nindent 4 }}
{{- end -}}
