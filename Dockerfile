# The service on a PostgreSQL of yours (DATABASE_URL), or on an embedded one in /app/data.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prepare.mjs scripts/sbom.mjs scripts/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build-app scripts/build-app
COPY src src
COPY README.md ./
COPY docs docs
RUN npm run build && npm run --silent release:sbom && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8055 DATA_DIR=/app/data LOG_FORMAT=json
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY db db
RUN mkdir data && chown node:node data && ln -s /app/dist/cli/main.js /usr/local/bin/dps && chmod +x dist/cli/main.js
USER node
VOLUME /app/data
EXPOSE 8055
# Whether it answers: a database that is away or a projection that stopped is no reason to restart it (/server/ready tells).
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/server/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Requests that run get 30 seconds to finish: stop with at least --time 40.
CMD ["node", "--enable-source-maps", "dist/main.js"]
