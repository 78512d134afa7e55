export {
  type ClientHits,
  type ExpressRateLimitStoreOptions,
  expressRateLimitStore,
  TidegateStore,
} from "./express-rate-limit-store.js";
