# One image a service: `docker build --target gateway -t kith-gateway .`
# The packages are those installed on the host (`npm ci`), so that a build needs no network.
# In production name it by its digest, node:24-bookworm-slim@sha256:…: what a tag stands for changes.
ARG NODE_IMAGE=node:24-bookworm-slim
FROM ${NODE_IMAGE} AS base
ENV NODE_ENV=production HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0 INTERNAL_PORT=9090
LABEL org.opencontainers.image.licenses="Apache-2.0" \
      dev.kith.sbom="/app/sbom.cdx.json"
WORKDIR /app
COPY . .
# Named volumes take the owner of the folder they are mounted on.
RUN for user in server mongo redis ca databases keeper operator $(ls services); do \
      install -d -o node -g node -m 700 /etc/kith/$user; done
RUN mkdir -p /var/cache/kith && chown node:node /var/cache/kith
ENV NODE_COMPILE_CACHE=/var/cache/kith
USER node
# What Node has compiled of the services and of the drivers, which load late: with it they start for half the work. Node keeps it
# for one user and the same flags alone.
RUN ["node", "--min-semi-space-size=16", "--input-type=module", "-e", \
  "for (const name of ['@kith/platform', '@kith/bus/nats', '@kith/store/mongo', 'ioredis']) await import(name)"]
HEALTHCHECK --interval=2s --timeout=3s --start-period=20s --retries=15 CMD ["node", "tools/healthcheck.mjs"]

# Makes the credentials of all others: see docker-compose.yml.
FROM base AS setup
HEALTHCHECK NONE
ENTRYPOINT ["node"]
CMD ["apps/kith/src/credentials/setup.ts", "/etc/kith", "/data"]

# As in apps/kith/src/forms/node-flags.ts.
FROM base AS service
ENTRYPOINT ["node", "--min-semi-space-size=16"]

# <targets> made by tools/deployment.ts
FROM service AS identity
CMD ["services/identity/src/main.ts"]

FROM service AS crypto
CMD ["services/crypto/src/main.ts"]

FROM service AS connections
CMD ["services/connections/src/main.ts"]

FROM service AS collections
CMD ["services/collections/src/main.ts"]

FROM service AS notifications
CMD ["services/notifications/src/main.ts"]

FROM service AS storage
CMD ["services/storage/src/main.ts"]
# </targets>

FROM service AS gateway
ENV PORT=8080
EXPOSE 8080
CMD ["services/gateway/src/main.ts"]
