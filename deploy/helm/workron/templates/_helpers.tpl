{{- define "workron.labels" -}}
app.kubernetes.io/name: workron
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "workron.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "workron.scheme" -}}
{{ if .Values.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- define "workron.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "workron.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Takes the secret that holds the token of the pod. */ -}}
{{- define "workron.volumes" -}}
- name: tmp
  emptyDir: {}
- name: token
  secret:
    secretName: {{ .name }}
    # Workron refuses a token file that all users can read.
    defaultMode: 0440
    items:
      - { key: {{ .key }}, path: token }
{{- end }}

{{- define "workron.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: token, mountPath: /run/workron, readOnly: true }
{{- end }}
