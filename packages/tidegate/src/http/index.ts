/** For whoever answers HTTP without one of the frameworks: what to send, who the client is, and which requests are meant. */

export { decideAtOnce } from "../assemble-gate.js";
export { canonicalBlock, isAddress } from "../policy/identity/address.js";
export { type FingerprintForm, type Fingerprints, fingerprintsOf } from "../policy/identity/fingerprint.js";
export {
  type ClientResolver,
  clientResolver,
  type PeerTest,
  type ProxyOptions,
  peerTest,
} from "../policy/identity/proxies.js";
export { compileMatch, type RequestMatch } from "../policy/matching/match.js";
export { pathReadings, unreadable } from "../policy/matching/path.js";
export { basicUser } from "./account.js";
export { type Header, type HeaderForm, type HeaderForms, limitHeaders } from "./headers.js";
export { type Answer, refusal } from "./refusal.js";
export { pathOf } from "./target.js";
