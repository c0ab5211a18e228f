{{/* What values.schema.json cannot say: values that need one another. */}}
{{- define "beliefmesh.checks" -}}
{{- $inSecret := list -}}
{{- range .Values.secretSettings }}{{ $inSecret = append $inSecret .setting }}{{ end -}}
{{- with .Values.access -}}
{{- if not (or .keysSecret .jwks .jwtSecret.name .unauthenticated) -}}
{{- fail "access: set keysSecret, jwks or jwtSecret; or unauthenticated, if something before it decides who may ask" -}}
{{- end -}}
{{- if and .unauthenticated (or .keysSecret .jwks .jwtSecret.name) -}}
{{- fail "access.unauthenticated: keys or tokens are set; drop one of them" -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.topology "cluster" -}}
{{- if not (or .Values.kafka.bootstrap .Values.kafka.strimzi.enabled) }}{{ fail "kafka.bootstrap: topology cluster needs the brokers, or kafka.strimzi" }}{{ end -}}
{{- if not (or .Values.graph.url .Values.graph.urlSecret.name .Values.graph.operator.enabled) }}{{ fail "graph: topology cluster needs url or urlSecret, or graph.operator" }}{{ end -}}
{{- if not (or .Values.index.url .Values.index.urlSecret.name .Values.index.operator.enabled) }}{{ fail "index: topology cluster needs url or urlSecret, or index.operator" }}{{ end -}}
{{- if and .Values.kafka.strimzi.enabled (or .Values.kafka.bootstrap .Values.kafka.passwordSecret.name) }}{{ fail "kafka.strimzi: makes brokers and a user; leave out kafka.bootstrap and its login" }}{{ end -}}
{{- if and .Values.kafka.strimzi.enabled (gt (int .Values.kafka.replication) (int .Values.kafka.strimzi.replicas)) }}{{ fail "kafka.replication: is above kafka.strimzi.replicas" }}{{ end -}}
{{- if gt (int .Values.worker.autoscaling.minReplicas) (int .Values.kafka.partitions) }}{{ fail "worker.autoscaling.minReplicas: is above kafka.partitions" }}{{ end -}}
{{- else if or .Values.kafka.strimzi.enabled .Values.graph.operator.enabled .Values.index.operator.enabled -}}
{{- fail "kafka.strimzi, graph.operator, index.operator: need topology cluster" -}}
{{- else if .Values.ray.enabled -}}
{{- fail "ray.enabled: needs topology cluster" -}}
{{- end -}}
{{- if and .Values.cronJobs (not .Values.ray.enabled) }}{{ fail "cronJobs: need ray.enabled; elsewhere the keeper runs jobs by settings.jobs" }}{{ end -}}
{{- if and (ne .Values.kafka.sasl "none") (not .Values.kafka.strimzi.enabled) (not .Values.kafka.passwordSecret.name) }}{{ fail "kafka.passwordSecret: sasl needs it" }}{{ end -}}
{{- end -}}
