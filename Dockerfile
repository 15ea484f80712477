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
  && useradd --system --uid 10001 --user-group --home-dir /var/lib/workron --create-home workron \
  && useradd --system --uid 10002 --user-group --home-dir /tmp --no-create-home jobs
WORKDIR /var/lib/workron
VOLUME /var/lib/workron
ENV WORKRON_HOST=0.0.0.0
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "require(process.env.WORKRON_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.WORKRON_PORT ?? 8080, path: '/health', rejectUnauthorized: false }, (reply) => process.exit(reply.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "workron"]
# Root starts commands as the user `jobs`, which can read neither token nor database. A scheduler needs no root: --user 10001:10001.
CMD ["up", "--run-as", "jobs"]
