import { peerTest } from "tidegate/http";
import type { ListenAddress, Settings } from "../settings.js";
import type { FileReader } from "./file-reader.js";
import { listenFlag, type Overrides, workersFlag } from "./overrides.js";
import type { Path } from "./path.js";
import type { Words } from "./problem-list.js";

/** What only shows when settings stand side by side. */
export function checkTogether(settings: Settings, overrides: Overrides, reader: FileReader): void {
  function refuse(flag: string | undefined, path: Path, words: Words): void {
    if (flag !== undefined) reader.problems.addFlag(flag, { ...words, message: `${flag}: ${words.message}` });
    else
      reader.problems.add(path, reader.problems.isHidden(path) ? { ...words, message: hiddenBind } : words);
  }
  checkListeners(settings, overrides, reader, refuse);
  checkUpstreams(settings, reader);
  checkWorkers(settings, (words) => refuse(workersFlag(overrides), ["workers"], words));
}

const hiddenBind = "What the environment gives here can not stand beside the other settings.";

function checkListeners(
  { listen, admin, decide }: Settings,
  overrides: Overrides,
  reader: FileReader,
  refuse: (flag: string | undefined, path: Path, words: Words) => void,
): void {
  const taken = new Map<string, string>();
  for (const name of ["proxy", "admin", "decide"] as const) {
    const address = listen[name];
    if (address === undefined) continue;
    const flag = listenFlag(overrides, name);
    const where = `${address.host}:${address.port}`;
    const other = address.port === 0 ? undefined : taken.get(where);
    if (other !== undefined) refuse(flag, ["listen", name], sameAddress(where, other));
    taken.set(where, name);
    if (name === "proxy" || !reader.isSound(name)) continue;
    if ({ admin, decide }[name].token === undefined && !isLoopback(address))
      refuse(flag, ["listen", name], needsToken(name, address));
  }
  if (Object.keys(listen).length === 0 && reader.isSound("listen"))
    reader.problems.add(["listen"], servesNothing);
}

const isLoopbackAddress = peerTest(["loopback"]);

/** Any other name may mean any address. */
function isLoopback({ host }: ListenAddress): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

function needsToken(name: "admin" | "decide", { host }: ListenAddress): Words {
  return {
    code: "TG_PUBLIC_BIND",
    message: `${host} can be reached from other machines, and ${name} has no token.`,
    help: `Set ${name}.token, e.g. token: "\${TIDEGATE_${name.toUpperCase()}_TOKEN}", or listen on 127.0.0.1.`,
  };
}

function sameAddress(where: string, other: string): Words {
  return {
    code: "TG_LISTEN_ADDRESS",
    message: `${where} is where ${other} listens.`,
    help: "Give each its own port, or leave one out with false.",
  };
}

const servesNothing: Words = {
  code: "TG_LISTEN_ADDRESS",
  message: "Nothing is served: proxy, admin and decide are all false.",
  help: "Leave at least one of them on.",
};

function checkUpstreams({ listen, upstreams, isDemo }: Settings, reader: FileReader): void {
  if (listen.proxy === undefined || upstreams.length > 0 || isDemo || !reader.isSound("upstreams")) return;
  reader.problems.add(["upstreams"], {
    code: "TG_UPSTREAMS",
    message: "The proxy has no app to pass requests on to.",
    help: "Write upstreams: with - url: http://127.0.0.1:3000, or listen: with proxy: false if only decisions are asked for.",
  });
}

function checkWorkers({ workers, store }: Settings, refuse: (words: Words) => void): void {
  if (workers === 1 || store.kind === "redis") return;
  if (store.kind === "memory") {
    refuse({
      code: "TG_WORKERS_MEMORY",
      message: `${workers} workers would each count for themselves, so every limit would be up to ${workers} times as large.`,
      help: "Counts in memory belong to one process: use store: redis (or --redis URL), or workers: 1.",
    });
  } else {
    refuse({
      code: "TG_WORKERS_MEMCACHED",
      message: `${workers} workers would share counts in memcached, but not lists, customers and policy: those live in the data directory, which one process writes.`,
      help: "Use store: redis (or --redis URL), where all of it is shared, or workers: 1.",
    });
  }
}
