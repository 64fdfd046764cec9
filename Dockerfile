# perfsleuth: the command.  lab: a host with sshd and fake GPU commands, to try it on.
FROM python:3.11-slim AS base
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home perfsleuth && install -d -o perfsleuth /lab /state
COPY requirements.lock requirements-build.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY tools tools
COPY prompts prompts
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

FROM base AS lab
RUN apt-get update && apt-get install -y --no-install-recommends openssh-server \
 && rm -rf /var/lib/apt/lists/* && install -d /run/sshd
COPY tests tests
USER perfsleuth
ENTRYPOINT ["python", "-m", "tests.lab"]

FROM base AS perfsleuth
USER perfsleuth
ENV MPLCONFIGDIR=/home/perfsleuth/.config/matplotlib XDG_STATE_HOME=/state
RUN python -c "import matplotlib.font_manager"  # its cache costs seconds, once here
ENTRYPOINT ["perfsleuth"]
