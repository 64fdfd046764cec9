FROM python:3.11-slim AS base
WORKDIR /app
COPY requirements.lock requirements-build.lock pyproject.toml README.md LICENSE ./
RUN apt-get update && apt-get install -y --no-install-recommends openssh-client && rm -rf /var/lib/apt/lists/* \
 && pip install --no-cache-dir --require-hashes -r requirements.lock -r requirements-build.lock
COPY bot bot
COPY tools tools
COPY prompts prompts
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

FROM base AS lab
RUN apt-get update && apt-get install -y --no-install-recommends openssh-server && rm -rf /var/lib/apt/lists/*
COPY tests tests

FROM base AS perfsleuth
RUN useradd --create-home perfsleuth
USER perfsleuth
ENTRYPOINT ["perfsleuth"]
