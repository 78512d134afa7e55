export { type CaddyOptions, startCaddy } from "./caddy.js";
export type { ChildServer } from "./child-server.js";
export { type FaultProxy, faultProxy } from "./fault-proxy.js";
export { freePort } from "./free-port.js";
export { type MemcachedOptions, startMemcached } from "./memcached.js";
export { type NginxOptions, startNginx } from "./nginx.js";
export { type PostgresOptions, startPostgres } from "./postgres.js";
export { type RedisOptions, startRedis } from "./redis.js";
export { type RedisCluster, type RedisClusterOptions, startRedisCluster } from "./redis-cluster.js";
