export {
  type AdapterContractOptions,
  type App,
  type AppAnswer,
  adapterContract,
} from "./adapter-contract.js";
export { hostileKeys, type StoreContractOptions, storeContract } from "./store-contract.js";
export { subjectOf } from "./subject.js";
export {
  type Act,
  type Played,
  type PlayOptions,
  playTrace,
  type Trace,
  traceDifferences,
  traceText,
} from "./trace.js";
export { differences, playVector, type Vector, type VectorStep } from "./vector.js";
export { type VirtualClock, virtualClock } from "./virtual-clock.js";
