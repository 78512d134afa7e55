import { resolve } from "node:path";
import type { IdentityOptions } from "tidegate";
import { clientResolver, type HeaderForms, limitHeaders, peerTest } from "tidegate/http";
import type { ListenSettings, ProxySettings, Settings } from "../settings.js";
import { parseHost, parseListen } from "./addresses.js";
import type { FileReader } from "./file-reader.js";
import { type Path, readPath } from "./path.js";
import { readControl } from "./read-control.js";
import { readCustomers } from "./read-customers.js";
import { readDecisionLog } from "./read-decision-log.js";
import { readEdges } from "./read-edges.js";
import { readIdentify } from "./read-identify.js";
import { readStore } from "./read-store.js";
import { readToken } from "./read-token.js";
import { readUpstreams } from "./read-upstreams.js";

/** Every section but the policy. */
export function readSettings(reader: FileReader): Settings {
  const trustedProxies = reader.section("trustedProxies");
  const clientIpHeader = reader.section("clientIpHeader");
  reader.problems.guard(
    [],
    () => clientResolver({ trustedProxies, clientIpHeader }),
    ({ path }) => readPath(path, { trustedProxies }),
  );
  const edges = readEdges(reader);
  const decisionLog = readDecisionLog(reader);
  return {
    listen: readListen(reader),
    upstreams: readUpstreams(reader),
    proxy: readProxy(reader),
    decide: readDecide(reader),
    admin: readAdmin(reader),
    trustedProxies,
    clientIpHeader: clientIpHeader.toLowerCase(),
    identify: readIdentify(trustedProxies, reader),
    identity: readIdentity(reader),
    responses: readResponses(reader),
    store: readStore(reader),
    dataDir: readDataDir(reader),
    failure: readFailure(reader),
    customers: readCustomers(reader),
    control: readControl(Object.keys(edges).length > 0, reader),
    edges,
    ...(decisionLog !== undefined && { decisionLog }),
    rehearse: reader.section("rehearse"),
    metrics: reader.section("metrics"),
    logs: reader.section("logs"),
    workers: reader.section("workers"),
    drainMs: reader.timer(reader.section("drain"), ["drain"]),
    isDemo: false,
  };
}

function readListen(reader: FileReader): ListenSettings {
  const given = reader.section("listen");
  const read: { -readonly [Name in keyof ListenSettings]: ListenSettings[Name] } = {};
  for (const name of ["proxy", "admin", "decide"] as const) {
    const parsed = parseListen(given[name]);
    if ("fault" in parsed) reader.refuse(["listen", name], { code: "TG_LISTEN_ADDRESS", ...parsed.fault });
    else if (parsed.value !== undefined) read[name] = parsed.value;
  }
  return read;
}

function readProxy(reader: FileReader): ProxySettings {
  const { maxHeaderBytes, maxBodyBytes, connections, ...times } = reader.section("proxy");
  const ms = (name: keyof typeof times) => reader.timer(times[name], ["proxy", name]);
  return {
    maxHeaderBytes,
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
    headersTimeoutMs: ms("headersTimeout"),
    requestTimeoutMs: ms("requestTimeout"),
    keepAliveMs: ms("keepAlive"),
    connectTimeoutMs: ms("connectTimeout"),
    responseTimeoutMs: ms("responseTimeout"),
    idleTimeoutMs: ms("idleTimeout"),
    connections,
  };
}

function readDecide(reader: FileReader): Settings["decide"] {
  const { peers, canFinish, ...given } = reader.section("decide");
  reader.problems.guard(
    ["decide"],
    () => peerTest(peers),
    ({ path }) => ["peers", ...readPath(path, {}).slice(1)],
  );
  const token = readToken(given.token, ["decide", "token"], reader);
  const hosts = readHosts(given.hosts, ["decide", "hosts"], reader);
  return { peers, canFinish, hosts, ...(token !== undefined && { token }) };
}

function readAdmin(reader: FileReader): Settings["admin"] {
  const given = reader.section("admin");
  const token = readToken(given.token, ["admin", "token"], reader);
  return { hosts: readHosts(given.hosts, ["admin", "hosts"], reader), ...(token !== undefined && { token }) };
}

function readHosts(hosts: readonly string[], path: Path, reader: FileReader): string[] {
  return hosts.flatMap((text, i) => {
    const host = parseHost(text);
    if (host !== undefined) return [host];
    reader.refuse([...path, i], {
      is: "is not a host.",
      help: "Write a name without scheme, port and path, e.g. tidegate.internal.",
    });
    return [];
  });
}

function readIdentity(reader: FileReader): IdentityOptions {
  const { ipv6Prefix, networkPrefixes, fingerprint } = reader.section("identity");
  return {
    ...(ipv6Prefix !== undefined && { ipv6Prefix }),
    ...(networkPrefixes !== undefined && { networkPrefixes }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

function readResponses(reader: FileReader): Settings["responses"] {
  const { headers, status } = reader.section("responses");
  reader.problems.guard(["responses", "headers"], () => limitHeaders(headers as HeaderForms));
  return { headers: headers as HeaderForms, ...(status !== undefined && { status }) };
}

function readDataDir(reader: FileReader): string {
  const data = reader.section("data");
  if (data.trim() === "")
    reader.refuse(["data"], { is: "names no folder.", help: "Write a path such as ./tidegate-data." });
  return resolve(reader.folder, data);
}

function readFailure(reader: FileReader): Settings["failure"] {
  const { deadline, breaker, onStoreFailure } = reader.section("failure");
  const deadlineMs = reader.timer(deadline, ["failure", "deadline"]);
  if (deadlineMs > 60_000) {
    reader.refuse(["failure", "deadline"], {
      code: "TG_DEADLINE",
      is: "is too long for a request to wait.",
      help: "Write at most 1m; 100ms is usual.",
    });
  }
  const pauseMs = reader.timer(breaker.pause, ["failure", "breaker", "pause"]);
  return { deadlineMs, breaker: { failures: breaker.failures, pauseMs }, onStoreFailure };
}
