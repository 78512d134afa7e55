import type { TestProject } from "vitest/node";
import { startMemcached, startRedis, startRedisCluster } from "./index.js";

declare module "vitest" {
  /** What `inject("redisPort")` gives in a test: the servers every test file shares. */
  interface ProvidedContext {
    redisPort: number;
    redisClusterPorts: number[];
    memcachedPort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [redis, cluster, memcached] = await Promise.all([
    startRedis(),
    startRedisCluster(),
    startMemcached(),
  ]);
  project.provide("redisPort", redis.port);
  project.provide("redisClusterPorts", [...cluster.ports]);
  project.provide("memcachedPort", memcached.port);

  return async () => {
    await Promise.all([redis.stop(), cluster.stop(), memcached.stop()]);
  };
}
