{{- define "beliefmesh.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "beliefmesh.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "beliefmesh.labels" -}}
{{ include "beliefmesh.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "beliefmesh.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "beliefmesh.clustered" -}}
{{- if eq .Values.topology "cluster" }}true{{ end -}}
{{- end -}}

{{- define "beliefmesh.onRay" -}}
{{- if and (eq .Values.topology "cluster") .Values.ray.enabled }}true{{ end -}}
{{- end -}}

{{- define "beliefmesh.claim" -}}
{{- default (printf "%s-folder" (include "beliefmesh.fullname" .)) .Values.persistence.existingClaim -}}
{{- end -}}

{{- define "beliefmesh.rayAddress" -}}
{{ include "beliefmesh.fullname" . }}-head-svc:6379
{{- end -}}

{{/* The variable of a setting: BELIEFMESH_MESH__FOLDER for mesh.folder. */}}
{{- define "beliefmesh.variable" -}}
BELIEFMESH_{{ . | upper | replace "." "__" }}
{{- end -}}

{{/* Kafka as pods are told of it: that of the values, or the one that Strimzi makes. */}}
{{- define "beliefmesh.kafka" -}}
{{- $kafka := deepCopy .Values.kafka -}}
{{- if .Values.kafka.strimzi.enabled -}}
{{- $name := include "beliefmesh.fullname" . -}}
{{- $_ := set $kafka "bootstrap" (list (printf "%s-kafka-bootstrap.%s.svc:9093" $name .Release.Namespace)) -}}
{{- $_ := set $kafka "tls" true -}}
{{- $_ := set $kafka "caSecret" (dict "name" (printf "%s-cluster-ca-cert" $name) "key" "ca.crt") -}}
{{- $_ := set $kafka "sasl" "scram-sha-512" -}}
{{- $_ := set $kafka "username" $name -}}
{{- $_ := set $kafka "passwordSecret" (dict "name" $name "key" "password") -}}
{{- end -}}
{{- toYaml $kafka -}}
{{- end -}}

{{/* URLs of the graph and the index that are no secret: those given, or those of what operators make. */}}
{{- define "beliefmesh.graphUrl" -}}
{{- with .Values.graph -}}
{{- if .url -}}{{ .url }}
{{- else if and .operator.enabled (not .urlSecret.name) -}}
nebula://{{ include "beliefmesh.fullname" $ }}-graph-graphd-svc.{{ $.Release.Namespace }}.svc:9669/beliefmesh?replicas={{ ge (int .operator.storaged.replicas) 3 | ternary 3 1 }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "beliefmesh.indexUrl" -}}
{{- with .Values.index -}}
{{- if .url -}}{{ .url }}
{{- else if and .operator.enabled (not .urlSecret.name) -}}
milvus://{{ include "beliefmesh.fullname" $ }}-index-milvus.{{ $.Release.Namespace }}.svc:19530/beliefmesh
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "beliefmesh.nebulaClaim" -}}
resources: {requests: {storage: {{ .size }}}}
{{- with .class }}
storageClassName: {{ . }}
{{- end }}
{{- end -}}
