import type { Decision } from "../decision.js";
import { shown } from "../errors.js";
import type { Warning } from "../gate.js";
import { parseAddress } from "../policy/identity/address.js";
import type { ClientResolver } from "../policy/identity/proxies.js";
import type { Visit } from "./visit.js";

/** Looks over a mount's shoulder, and explains each misuse once. */
export interface Misuse {
  arrived(visit: Visit): void;
  cameTwice(): void;
  decided(visit: Visit, decision: Decision): void;
  /** Each `what` is told once. `help` says what becomes of such requests. */
  failed(what: string, error: unknown, help?: string): void;
}

export function watchMisuse(
  clientOf: ClientResolver,
  isMadeByApp: boolean,
  onWarning?: (warning: Warning) => void,
): Misuse {
  const warn = warnSafely(onWarning);
  const told = new Set<string>();
  const birth = noteBirth();
  let arrivals = 0;

  function tell(warning: Warning, kind: string = warning.code): void {
    if (told.has(kind)) return;
    told.add(kind);
    warn(warning);
  }

  return {
    arrived(visit) {
      const nth = arrivals++;
      if (!isLookedAt(nth)) return;
      if (nth === 0 && isMadeByApp && birth.isInHandler()) tellOfBirth(tell);
      if (told.has(untrustedProxy)) return;
      const { peer, isPeerCertain } = visit;
      const warning = isPeerCertain
        ? oddPeer(peer)
        : clientOf.suspects(peer, (name) => visit.subject.header(name));
      if (warning !== undefined) tell(warning);
    },
    cameTwice() {
      tell(mountedTwice);
    },
    decided(visit, decision) {
      if (decision.reason !== "safelist" || visit.subject.ip !== visit.peer) return;
      if (proxyHeaders.some((name) => visit.subject.header(name) !== undefined))
        tell(safelistedProxy(visit.peer));
    },
    failed(what, error, help = "Such requests go on without it.") {
      tell({ code: "TG_HTTP_FAILED", message: `${what}: ${error}`, help }, what);
    },
  };
}

/** Warnings are told, not asked about: what `onWarning` throws stops no request. */
export function warnSafely(
  onWarning: (warning: Warning) => void = warnOnConsole,
): (warning: Warning) => void {
  return (warning) => {
    try {
      onWarning(warning);
    } catch (error) {
      console.error("Tidegate: onWarning threw.", error);
    }
  };
}

/** Looking for proxy headers has node sort all headers: the first requests are looked at, then one in 64. */
function isLookedAt(nth: number): boolean {
  return nth < 64 || nth % 64 === 0;
}

function warnOnConsole({ message, help, code }: Warning): void {
  console.warn(`Tidegate: ${message} ${help} [${code}]`);
}

const untrustedProxy = "TG_PROXY_UNTRUSTED";
const proxyHeaders = ["x-forwarded-for", "forwarded", "x-real-ip"];

const mountedTwice: Warning = {
  code: "TG_MOUNTED_TWICE",
  message: "A request came twice to the same gate.",
  help: "It was counted once and then let through. Mount the gate in one place: before all routes, or at those it is for.",
};

const madeInHandler: Warning = {
  code: "TG_GATE_IN_HANDLER",
  message: "tidegate() was called while a request was being handled.",
  help: "A gate made for each request has seen no other and limits nothing. Call tidegate() once, when the app is built.",
};

function safelistedProxy(peer: string | undefined): Warning {
  return {
    code: "TG_SAFELISTED_PROXY",
    message: `${peer} is on the safelist and sends proxy headers, but is not trusted as a proxy.`,
    help: "If it is your proxy, everyone behind it passes uncounted: name it in trustedProxies, and its clients are judged by their own addresses.",
  };
}

/** What the app, or Workers, say of a client's address is believed; but it must be one. */
function oddPeer(peer: string | undefined): Warning | undefined {
  if (peer !== undefined && parseAddress(peer) !== undefined) return undefined;
  return {
    code: "TG_PEER_UNKNOWN",
    message: `Requests are said to come from ${shown(peer)}, which is no address, so all such are counted as one client.`,
    help: "Let clientIp answer one address, as a text and at once.",
  };
}

/** A few mounts that get their first request in the turn of the event loop they were made in may be a test's; more are not. */
const suspiciousBirths = 25;
let suspicions = 0;
let isBirthTold = false;

function tellOfBirth(tell: (warning: Warning) => void): void {
  if (isBirthTold) return;
  isBirthTold = true;
  tell(madeInHandler);
}

/** Knows whether a mount was made by a request's handler: by the call stack, or since a request came at once. */
function noteBirth(): { isInHandler(): boolean } {
  const isUnderServer = /node:(_http_server|internal\/http2)/.test(longStack());
  let isNew = true;
  afterThisTurn(() => {
    isNew = false;
  });
  return {
    /** Asked once, when the first request comes. */
    isInHandler() {
      if (isNew) suspicions++;
      return isUnderServer || (isNew && suspicions >= suspiciousBirths);
    },
  };
}

function longStack(): string {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const { stack = "" } = new Error("where am I");
  Error.stackTraceLimit = usual;
  return stack;
}

/** Workers have no `setImmediate`, or none while a module loads. */
function afterThisTurn(callback: () => void): void {
  try {
    setImmediate(callback);
  } catch {
    queueMicrotask(callback);
  }
}
