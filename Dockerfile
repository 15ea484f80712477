# syntax=docker/dockerfile:1
# An image of Workron, built from this clone:  docker build -t workron .

FROM node:26-bookworm-slim AS build
WORKDIR /src
COPY . .
# The tests' own runtime and database are not needed to build.
RUN npm ci --ignore-scripts --no-audit --no-fund
RUN npm run build && npm run build:ui && npm run docs
RUN npm pack --ignore-scripts --pack-destination /tmp
RUN mkdir /opt/workron && cd /opt/workron && npm install --omit=dev --no-audit --no-fund /tmp/workron-*.tgz

FROM node:26-bookworm-slim
# tini is process 1: it passes signals on and collects what jobs leave behind.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/workron /opt/workron
RUN ln -s /opt/workron/node_modules/.bin/workron /usr/local/bin/workron \
  && useradd --system --uid 10001 --user-group --home-dir /var/lib/workron --create-home workron
USER 10001:10001
WORKDIR /var/lib/workron
VOLUME /var/lib/workron
ENV WORKRON_HOST=0.0.0.0
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WORKRON_PORT ?? 8080) + '/health').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "workron"]
CMD ["up"]
