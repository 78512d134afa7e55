export type { RedisClient } from "./connection.js";
export { type RedisStore, type RedisStoreOptions, redisStore } from "./redis-store.js";
