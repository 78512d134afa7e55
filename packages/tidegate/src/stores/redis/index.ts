export type { RedisClient } from "./connection.js";
export type { Templates } from "./directory/layout.js";
export {
  type RedisDirectory,
  type RedisDirectoryOptions,
  redisDirectory,
} from "./directory/redis-directory.js";
export { type RedisStore, type RedisStoreOptions, redisStore } from "./redis-store.js";
