export {
  type MemcachedClient,
  type MemcachedClientOptions,
  type MemcachedItem,
  type MemcachedPut,
  type MemcachedVersion,
  memcachedClient,
} from "./memcached-client.js";
export { type MemcachedStore, type MemcachedStoreOptions, memcachedStore } from "./memcached-store.js";
