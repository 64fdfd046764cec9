# perfsleuth: the command and the bot.  lab: a host with sshd and fake GPU commands, to try it on.
# Runs as a user of its own and with a read-only root; what it keeps is in /state.
FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements.lock requirements-build.lock ./
RUN python -m venv /opt/perfsleuth \
 && /opt/perfsleuth/bin/pip install --no-cache-dir --require-hashes -r requirements.lock -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY tools tools
COPY prompts prompts
RUN /opt/perfsleuth/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/perfsleuth/bin/pip uninstall --yes --quiet hatchling setuptools pip

FROM python:3.11-slim AS runtime
RUN apt-get update && apt-get install -y --no-install-recommends openssh-client tini \
 && rm -rf /var/lib/apt/lists/* \
 && python -m pip uninstall --yes --quiet --root-user-action=ignore setuptools wheel pip \
 && rm -rf /usr/local/lib/python3.11/ensurepip \
 && useradd --uid 10001 --create-home perfsleuth \
 && install -d -o perfsleuth -m 0700 /state && install -d -o perfsleuth /lab
COPY --from=build /opt/perfsleuth /opt/perfsleuth
ENV PATH=/opt/perfsleuth/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    XDG_STATE_HOME=/state XDG_CACHE_HOME=/state/cache MPLCONFIGDIR=/state/matplotlib \
    PERFSLEUTH_METRICS=127.0.0.1:9464
USER 10001:10001
RUN ["python", "-c", "import matplotlib.font_manager"]
VOLUME ["/state"]

FROM runtime AS lab
USER root
RUN apt-get update && apt-get install -y --no-install-recommends openssh-server \
 && rm -rf /var/lib/apt/lists/* && install -d /run/sshd
WORKDIR /app
COPY bot bot
COPY tools tools
COPY tests tests
USER 10001:10001
ENTRYPOINT ["tini", "--", "python", "-m", "tests.lab"]

FROM runtime AS perfsleuth
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=4 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9464/healthz', timeout=8)"]
ENTRYPOINT ["tini", "--", "perfsleuth"]
CMD ["bot"]
