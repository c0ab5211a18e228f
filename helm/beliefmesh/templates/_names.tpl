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
