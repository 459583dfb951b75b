# The service on your PostgreSQL server (DATABASE_URL), or on an embedded one in /app/data. The base image is Node 24.18.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/prepare.mjs scripts/sbom.mjs scripts/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build-app scripts/build-app
COPY src src
COPY README.md ./
COPY docs docs
RUN npm run build && node scripts/sbom.mjs && npm prune --omit=dev

FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
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
# Asks only whether the process answers. A restart repairs neither a missing database nor a stopped projection: see /server/ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/server/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Running requests get 30 seconds to finish, so stop the container with a timeout of at least 40.
CMD ["node", "--enable-source-maps", "dist/main.js"]
