export { hostileKeys, type StoreContractOptions, storeContract } from "./store-contract.js";
export { differences, playVector, type Vector, type VectorStep } from "./vector.js";
export { type VirtualClock, virtualClock } from "./virtual-clock.js";
