# HackMatrix and Goodharts as their wheels install them:
#
#   docker build --tag hackmatrix .
#   docker run --rm hackmatrix hackmatrix evaluate best --games 100
#
# What training writes lies in /home/player; mount a folder there to keep it.
FROM swift:6.2-bookworm AS wheels
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN make wheel

FROM python:3.12-slim-bookworm
ARG EXTRAS=goodharts,play
# An index with builds of torch without gigabytes of CUDA libraries, which pip reads from the environment.
ARG PIP_EXTRA_INDEX_URL
RUN --mount=type=bind,from=wheels,source=/source,target=/source \
    pip install --no-cache-dir \
    --constraint /source/constraints.txt /source/dist/rl*.whl "$(echo /source/dist/hackmatrix-*.whl)[${EXTRAS}]"
RUN useradd --create-home --uid 1000 player
USER 1000
WORKDIR /home/player
CMD ["hackmatrix", "doctor"]
