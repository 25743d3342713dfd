# Builds one image for each service, for example: `docker build --target gateway -t kith-gateway .`
# A build needs no network, because it uses the packages that are installed on the host (`npm ci`). On a host other than Linux
# with glibc, install them with `npm ci --os=linux --cpu=arm64 --libc=glibc`, or with `--cpu=x64` (README.md).
# In production, name the Node image by its digest, node:24-bookworm-slim@sha256:…, because a tag can change (docs/hosting.md).
ARG NODE_IMAGE=node:24-bookworm-slim

# Makes a folder for each image, with only the packages that this image needs (docs/adr/0059).
FROM ${NODE_IMAGE} AS trees
LABEL dev.kith.stage="trees"
WORKDIR /kith
COPY . .
RUN ["node", "tools/images.ts", "/trees"]

FROM ${NODE_IMAGE} AS base
ARG NODE_IMAGE
ENV NODE_ENV=production HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0 INTERNAL_PORT=9090
LABEL org.opencontainers.image.base.name="${NODE_IMAGE}" \
      dev.kith.sbom="/app/sbom.cdx.json" \
      dev.kith.licences="/app/licences.txt"
WORKDIR /app
RUN mkdir -p /var/cache/kith && chown node:node /var/cache/kith
# Node's compile cache for the sources and the drivers. It halves the work of a start. Node uses a cache only if it runs as the
# same user and with the same flags.
ENV NODE_COMPILE_CACHE=/var/cache/kith
USER node
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["node", "tools/healthcheck.mjs"]

# This image makes the credentials for all processes, so it contains the manifests of all services. It also contains the command
# line (see docker-compose.yml).
FROM base AS setup
# <setup> made by tools/deployment.ts
COPY --from=trees /trees/setup .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['./apps/kith/src/credentials/credentials.ts', './apps/kith/src/keeper/consumers.ts', '@kith/bus/nats', 'mongodb']) await import(name)"]
LABEL org.opencontainers.image.title="kith-setup" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="0BSD AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND ISC AND LGPL-3.0-or-later AND MIT AND MIT-0 AND Unlicense"
# </setup>
USER root
# A named volume gets the owner of the folder at which it is mounted.
RUN for user in server mongo redis ca databases keeper operator $(ls services); do \
      install -d -o node -g node -m 700 /etc/kith/$user; done
USER node
HEALTHCHECK NONE
ENTRYPOINT ["node"]
CMD ["apps/kith/src/credentials/setup.ts", "/etc/kith", "/data"]

# The flags are the same as in apps/kith/src/forms/node-flags.ts.
FROM base AS service
ENTRYPOINT ["node", "--min-semi-space-size=16"]

# <targets> made by tools/deployment.ts
FROM service AS identity
COPY --from=trees /trees/identity .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/identity', '@kith/bus/nats', '@kith/store/mongo']) await import(name)"]
LABEL org.opencontainers.image.title="kith-identity" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND ISC AND MIT AND MIT-0 AND Unlicense"
CMD ["services/identity/src/main.ts"]

FROM service AS crypto
COPY --from=trees /trees/crypto .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/crypto', '@kith/bus/nats']) await import(name)"]
LABEL org.opencontainers.image.title="kith-crypto" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND ISC AND MIT AND Unlicense"
CMD ["services/crypto/src/main.ts"]

FROM service AS connections
COPY --from=trees /trees/connections .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/connections', '@kith/bus/nats', '@kith/store/mongo']) await import(name)"]
LABEL org.opencontainers.image.title="kith-connections" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND BSD-2-Clause AND ISC AND MIT AND Unlicense"
CMD ["services/connections/src/main.ts"]

FROM service AS collections
COPY --from=trees /trees/collections .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/collections', '@kith/bus/nats', '@kith/store/mongo']) await import(name)"]
LABEL org.opencontainers.image.title="kith-collections" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND BSD-2-Clause AND ISC AND MIT AND Unlicense"
CMD ["services/collections/src/main.ts"]

FROM service AS notifications
COPY --from=trees /trees/notifications .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/notifications', '@kith/bus/nats', '@kith/store/mongo']) await import(name)"]
LABEL org.opencontainers.image.title="kith-notifications" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND BSD-2-Clause AND ISC AND MIT AND Unlicense"
CMD ["services/notifications/src/main.ts"]

FROM service AS storage
COPY --from=trees /trees/storage .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/storage', '@kith/bus/nats', '@kith/store/mongo']) await import(name)"]
LABEL org.opencontainers.image.title="kith-storage" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="0BSD AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND ISC AND LGPL-3.0-or-later AND MIT AND Unlicense"
CMD ["services/storage/src/main.ts"]
# </targets>

FROM service AS gateway
# <gateway> made by tools/deployment.ts
COPY --from=trees /trees/gateway .
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", "for (const name of ['@kith/gateway', '@kith/bus/nats', 'ioredis']) await import(name)"]
LABEL org.opencontainers.image.title="kith-gateway" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND BSD-3-Clause AND ISC AND MIT AND Unlicense"
# </gateway>
ENV PORT=8080
EXPOSE 8080
CMD ["services/gateway/src/main.ts"]
