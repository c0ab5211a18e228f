# What the checks of helm/ and k8s/ are made with, and from where the schemas of the custom resources come.
HELM := helm.sh/helm/v3/cmd/helm@v3.20.2
KUSTOMIZE := sigs.k8s.io/kustomize/kustomize/v5@v5.8.1
RESOURCES := \
	github.com/ray-project/kuberay/ray-operator@v1.5.0:config/crd/bases/ray.io_rayclusters.yaml \
	github.com/kedacore/keda/v2@v2.16.1:config/crd/bases/keda.sh_scaledobjects.yaml \
	github.com/kedacore/keda/v2@v2.16.1:config/crd/bases/keda.sh_triggerauthentications.yaml \
	github.com/prometheus-operator/prometheus-operator@v0.85.0:example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml \
	github.com/prometheus-operator/prometheus-operator@v0.85.0:example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml

deploy-tools: .cache/deploy/.ready ## build helm and kustomize, fetch schemas, once: `make test` checks the deployment where they are there (needs Go)

.cache/deploy/.ready: tests/deployment/tools.mk
	@command -v go >/dev/null || { echo "Helm and kustomize are built by Go 1.25 or newer: install it, or do without the checks of helm/ and k8s/"; exit 1; }
	@rm -rf $(@D) && mkdir -p $(@D)/bin $(@D)/resources
	cd $(@D) && GOBIN=$(abspath $(@D))/bin GOFLAGS="-trimpath -buildvcs=false" go install -ldflags "-s -w" $(KUSTOMIZE)
	cd $(@D) && GOBIN=$(abspath $(@D))/bin GOFLAGS="-trimpath -buildvcs=false" go install -ldflags "-s -w" $(HELM)
	@cd $(@D) && for each in $(RESOURCES); do \
	  module=$$(go mod download -json "$${each%%:*}" | sed -n 's/^.*"Dir": "\(.*\)",*$$/\1/p') && cp "$$module/$${each#*:}" resources/ || exit 1; \
	done
	@touch $@

k8s: $(READY) deploy-tools ## write k8s/ anew from the chart
	PYTHONPATH=tests/deployment $(BIN)/python tests/deployment/render_k8s.py
